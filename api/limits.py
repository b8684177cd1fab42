"""How often one caller may ask for what costs: a bucket for each, in the memory of each process."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict

from flask import Flask, current_app, request

from api.problems import Problem
from api.services import EXTENSION, Settings

KEPT = 10_000
"""Callers that are remembered; who has not asked for long has a full bucket again anyway."""

COSTLY = {"audit": 20.0, "export": 5.0, "past": 2.0, "stream": 1.0}
"""What some reads cost, in writes."""


class Buckets:
    """Tokens per caller, refilled at a rate; safe with threads."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst, self._lock = rate, float(burst), threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, cost: float, now: float) -> float:
        """Seconds to wait before it may be done; 0 when it may be done now."""
        if not self._rate:
            return 0.0
        with self._lock:
            left, since = self._left.pop(caller, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate)
            allowed = left >= cost
            self._left[caller] = (left - cost if allowed else left, now)
            while len(self._left) > KEPT:
                self._left.popitem(last=False)
        return 0.0 if allowed else (cost - left) / self._rate


def _address() -> str:
    """Where an unknown caller comes from; of IPv6 the network, since a single user has all of it."""
    try:
        found = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return "nobody"
    return str(ipaddress.ip_network(f"{found}/64", strict=False)) if found.version == 6 else str(found)


def _cost() -> float:
    if request.method in ("POST", "DELETE"):
        return 1.0
    last = request.path.rsplit("/", 1)[-1]
    return COSTLY["past"] if "version" in request.args else COSTLY.get(last, 0.0)


def caller(token: str | None) -> str:
    """Who is counted: the id of a token that is good, else where the request comes from."""
    return token or _address()


def spend(token: str | None) -> None:
    """Counts this request for its caller; raises Problem."""
    cost = _cost()
    if not cost:
        return
    buckets: Buckets = current_app.extensions["annals.limits"]
    seconds = buckets.take(caller(token), cost, time.monotonic())
    if seconds:
        raise Problem("too_many_requests", headers={"Retry-After": str(math.ceil(seconds))})


def install(app: Flask) -> None:
    """One set of buckets for the application."""
    settings: Settings = app.extensions[EXTENSION].settings
    app.extensions["annals.limits"] = Buckets(settings.rate, settings.burst)

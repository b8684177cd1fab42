"""How often one caller may ask for what costs, and how much of it is done at once; in the memory of each process."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial

from cachetools import LRUCache
from flask import Flask, Response, current_app, g, request

from api.http.problems import Problem
from api.services import EXTENSION, Settings, itself

KEPT = 10_000
"""Callers that are remembered; who has not asked for long has a full bucket again anyway."""

ADDRESS = 5
"""How many times the rate and burst of a caller all callers of one address have together."""

COSTLY = {
    "games/audit": 20.0,
    "games/choices": 10.0,
    "exports": 20.0,
    "games/export": 5.0,
    "games/digest": 2.0,
    "past": 2.0,
    "games/scores": 2.0,
    "me/data": 2.0,
    "games/rewinds": 1.0,
    "games/stream": 1.0,
    "games/records": 0.2,
    "games/resume": 0.2,
    "games/timeline": 0.2,
    "players/games": 0.2,
    "players/results": 0.2,
}
"""What some reads cost, in writes: by the words of their address. `past`: any board of the past."""

HALF = 30.0
"""Seconds after which half of what an address has held counts no more."""

NOTICES = 60
"""Trials and replays of webhooks, and changes of where mail goes, that one account may ask for in an hour."""

_BUCKETS, _GATE = "annals.limits", "annals.gate"
_QUOTAS = {what: f"annals.quota.{what}" for what in ("tables", "seats", "accounts", "devices", "notices")}

Passage = Callable[[], AbstractContextManager[None]]
"""Makes a context within which a whole game may be read; entering it may raise Problem."""


# --- how often -------------------------------------------------------------------------------------------------


class Buckets:
    """Tokens per caller, refilled at a rate; safe with threads."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst, self._lock = rate, float(burst), threading.Lock()
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(KEPT)

    def take(self, callers: Mapping[str, int], cost: float, now: float) -> float:
        """Seconds to wait before it may be done; 0 when it may be done now, and then all have paid for it.

        Each caller comes with the size of its bucket, in usual ones.
        """
        if not self._rate:
            return 0.0
        with self._lock:
            left = {caller: self._filled(caller, size, now) for caller, size in callers.items()}
            wait = max((cost - left[caller]) / (self._rate * size) for caller, size in callers.items())
            for caller, had in left.items():
                self._left[caller] = (had if wait > 0 else had - cost, now)
        return max(wait, 0.0)

    def policy(self, size: int) -> tuple[float, float]:
        """How much a bucket holds, and the seconds in which an empty one is full."""
        return self._burst * size, self._burst / self._rate if self._rate else 0.0

    def left(self, caller: str, size: int, now: float) -> tuple[float, float]:
        """How much a caller has left, and the seconds until its bucket is full."""
        with self._lock:
            left = self._filled(caller, size, now)
        return left, (self._burst * size - left) / (self._rate * size) if self._rate else 0.0

    def _filled(self, caller: str, size: int, now: float) -> float:
        left, since = self._left.get(caller, (self._burst * size, now))
        return min(self._burst * size, left + (now - since) * self._rate * size)


def address() -> str:
    """Where the request comes from; of IPv6 the network, since a single user has all of it."""
    return _whose(request.remote_addr or "")


@lru_cache(4096)
def _whose(sender: str) -> str:
    try:
        found = ipaddress.ip_address(sender)
    except ValueError:
        return "nobody"
    return str(ipaddress.ip_network(f"{found}/64", strict=False)) if found.version == 6 else str(found)


def network() -> str:
    """About where the request comes from: what may be written down of an address."""
    try:
        found = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network(f"{found}/{24 if found.version == 4 else 48}", strict=False))


def family() -> str:
    """Which kind of address the request comes from: `ipv4`, `ipv6`, or nothing."""
    found = network()
    return "" if not found else "ipv6" if ":" in found else "ipv4"


def _cost() -> float:
    asked = itself(request)
    if asked.args.get("all") == "1":
        return COSTLY["games/choices"]
    if asked.method in ("POST", "PUT", "PATCH", "DELETE"):
        return 1.0
    if "version" in asked.args:
        return COSTLY["past"]
    words = [word for word in str(asked.url_rule).split("/") if not word.startswith("<")]
    return COSTLY.get("/".join(words[2:]), 0.0)


def spend_quota(what: str, account: str = "") -> None:
    """Counts a table that is opened, a seat that is taken, or a name that is tried; raises Problem.

    For its address, whatever its tokens, and for its account, whatever its addresses.
    """
    counted = {f"{what} of the address": (address(), 1)} | ({f"{what} of the account": (account, 1)} if account else {})
    _take(current_app.extensions[_QUOTAS[what]], counted, 1.0)


def later(seconds: float) -> None:
    """Raises Problem for whoever must wait so long."""
    if seconds > 0:
        raise Problem("too_many_requests", headers={"Retry-After": str(math.ceil(seconds))})


def caller(token: str | None) -> str:
    """Who is counted: the id of a token that is good, or of its account, else where the request comes from."""
    return token or address()


def spend(token: str | None) -> None:
    """Counts this request for its caller, and for its address, since anybody can have many tokens; raises Problem."""
    g.spends = token
    if cost := _cost():
        _count(cost, token)


def _count(cost: float, token: str | None) -> None:
    counted = {"caller": (caller(token), 1), "address": (f"all of {address()}", ADDRESS)}
    _take(current_app.extensions[_BUCKETS], counted, cost)


def _take(buckets: Buckets, counted: Mapping[str, tuple[str, int]], cost: float) -> None:
    """Counts a cost for callers, each under the name of the policy by which it is counted; raises Problem."""
    g.setdefault("counted", {}).update({policy: (buckets, *by) for policy, by in counted.items()})
    later(buckets.take(dict(counted.values()), cost, time.monotonic()))


def _tell(answer: Response) -> Response:
    """What stands in RateLimit and RateLimit-Policy: by which policies the request was counted, and what is left."""
    policies, left = [], []
    for policy, (buckets, by, size) in g.get("counted", {}).items():
        quota, window = buckets.policy(size)
        rest, full = buckets.left(by, size, time.monotonic())
        if window:
            policies.append(f'"{policy}";q={quota:.0f};w={math.ceil(window)}')
            left.append(f'"{policy}";r={math.floor(rest)};t={math.ceil(full)}')
    if policies:
        answer.headers.add("RateLimit-Policy", ", ".join(policies))
        answer.headers.add("RateLimit", ", ".join(left))
    return answer


# --- how much at once ------------------------------------------------------------------------------------------


class Gate:
    """Places for work that grows with a game, in all and for each address; safe with threads.

    Such work holds connections to the store, and the processor: without bounds, one address could take all of both. A
    place that is left goes to the address that has held places for the least time lately, so that some who ask without
    end do not keep out who asks now and then.
    """

    def __init__(self, most: int = 4, each: int = 2, patience: float = 4.0) -> None:
        self._most, self._each, self._patience = most, each, patience
        self._taken: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._held: LRUCache[str, tuple[float, float]] = LRUCache(KEPT)
        """Address -> seconds that it has held places, halved with every HALF seconds, and when that was so."""
        self._left = threading.Condition()

    @contextmanager
    def passing(self, address: str) -> Iterator[None]:
        """Holds a place; raises Problem for whoever finds none in time, or has several others waiting."""
        with self._left:
            self._wait(address)
            self._taken[address] += 1
        begun = time.monotonic()
        try:
            yield
        finally:
            with self._left:
                now = time.monotonic()
                self._taken -= Counter({address: 1})
                self._held[address] = self._lately(address, now) + now - begun, now
                self._left.notify_all()

    def _wait(self, address: str) -> None:
        """The first of an address wait long; those behind them only so long that asking again at once is no use."""
        patience = self._patience if self._waiting[address] < self._each else self._patience / 8
        self._waiting[address] += 1
        try:
            if not self._left.wait_for(lambda: self._free(address), patience):
                raise Problem("too_many_requests", headers={"Retry-After": "1"})
        finally:
            self._waiting -= Counter({address: 1})
            self._left.notify_all()

    def _free(self, address: str) -> bool:
        if self._taken.total() >= self._most or self._taken[address] >= self._each:
            return False
        now = time.monotonic()
        others = [a for a in self._waiting if a != address and self._taken[a] < self._each]
        mine = self._lately(address, now)
        return all(mine <= self._lately(other, now) for other in others)

    def _lately(self, address: str, now: float) -> float:
        seconds, then = self._held.get(address, (0.0, now))
        return seconds * math.pow(0.5, (now - then) / HALF)


def passage() -> Passage:
    """What lets this request's address through the gate, also after the request has been answered."""
    gate: Gate = current_app.extensions[_GATE]
    return partial(gate.passing, address())


@contextmanager
def whole_game() -> Iterator[None]:
    """Around what reads or folds a whole game for this request, as a context or a decorator; raises Problem."""
    with passage()():
        yield


@contextmanager
def telling_again() -> Iterator[None]:
    """The same around what folds a closed game that rests in the archive, which is counted like a past board."""
    _count(COSTLY["past"], g.get("spends"))
    with whole_game():
        yield


def install(app: Flask) -> None:
    """One set of buckets and one gate for the application."""
    app.after_request(_tell)
    settings: Settings = app.extensions[EXTENSION].settings
    app.extensions[_BUCKETS] = Buckets(settings.rate, settings.burst)
    app.extensions[_GATE] = Gate()
    hourly = {"tables": settings.tables, "seats": settings.tables * 10, "accounts": settings.accounts}
    hourly |= {"devices": settings.tables, "notices": NOTICES}
    for what, most in hourly.items():
        app.extensions[_QUOTAS[what]] = Buckets(most / 3600 if settings.rate else 0, most)

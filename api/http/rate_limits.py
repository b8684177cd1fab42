"""Rate limits and concurrency limits for costly requests, in the memory of each process."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType

from cachetools import LRUCache
from flask import Flask, Response, current_app, g, request

from api.http.problems import Problem
from api.services import EXTENSION, ApiServices, ApiSettings, unwrap_proxy

MAX_CALLERS = 10_000
"""Callers kept in memory. An evicted caller's bucket would be full again by then."""

ADDRESS_FACTOR = 5
"""Bucket size and rate of an address, in callers' buckets."""

READ_COSTS = {
    "games/audit": 20.0,
    "games/choices": 10.0,
    "games/suggestion": 1.0,
    "ahead": 2.0,
    "exports": 20.0,
    "games/export": 5.0,
    "games/talk/mailbox": 5.0,
    "games/replay": 5.0,
    "games/digest": 2.0,
    "games/board/changes": 2.0,
    "past": 2.0,
    "exercises": 2.0,
    "games/scores": 2.0,
    "me/data": 2.0,
    "games/rewinds": 1.0,
    "games/stream": 1.0,
    "games/records": 0.2,
    "games/resume": 0.2,
    "games/records/proof": 0.2,
    "tournaments/export.csv": 2.0,
    "tournaments/export": 2.0,
    "tournaments": 0.2,
    "tournaments/stages/rounds": 0.2,
    "tournaments/standings": 0.2,
    "tournaments/progress": 0.2,
    "tournaments/explain": 0.2,
    "tournaments/calendar": 0.2,
    "tournaments/rulings": 0.2,
    "games/timeline": 0.2,
    "log": 0.2,
    "players/games": 0.2,
    "players/results": 0.2,
}
"""Cost of some reads, in writes, by the fixed parts of their path. `past`: any board of an older version; `ahead`: the
builder's answers to further picks; `exercises`: a page whose game may have to be played anew."""

WRITE_COSTS = {
    "imports": 20.0,
    "me/vacations": 20.0,
    "tournaments/stages/rounds/draw": 20.0,
    "tournaments/stages/rounds/tables": 10.0,
    "tournaments/stages/rounds/reports": 10.0,
    "tournaments/stages/rounds/adjournments": 10.0,
    "tournaments/stages/rounds/rank": 2.0,
    "tournaments/rulings": 2.0,
    "tournaments/phases": 2.0,
    "tournaments/pause": 10.0,
}
"""Cost of writes that take long, in others. The rest cost 1."""

HALF_LIFE = 30.0
"""Half-life of the use of the gate by an address or a caller, seconds."""

MAX_WAITING = 64
"""Requests that wait for a slot of the gate. Each holds a thread, and there are 256."""

NOTIFICATION_QUOTA = 60
"""Webhook tests, replays and mail changes per account and hour."""

_BUCKETS, _GATE = "annals.limits", "annals.gate"
_QUOTAS = {
    what: f"annals.quota.{what}" for what in ("tables", "seats", "accounts", "names", "devices", "clients", "notices")
}

GateContext = Callable[[], AbstractContextManager[None]]
"""Returns a context manager for reading a whole game. Entering it may raise Problem."""


# --- how often -------------------------------------------------------------------------------------------------


class TokenBuckets:
    """Token buckets by caller, refilled at a rate. Thread-safe."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._lock = threading.Lock()
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(MAX_CALLERS)

    def take(self, callers: Mapping[str, int], cost: float, now: float) -> float:
        """Charge all callers and return 0, or return the seconds to wait and charge nobody.

        Each caller maps to its bucket size, in normal buckets.
        """
        if not self._rate or not callers:
            return 0.0
        with self._lock:
            left = {caller: self._filled(caller, size, now) for caller, size in callers.items()}
            wait = max((cost - left[caller]) / (self._rate * size) for caller, size in callers.items())
            for caller, had in left.items():
                self._left[caller] = (had if wait > 0 else had - cost, now)
        return max(wait, 0.0)

    def policy(self, size: int) -> tuple[float, float]:
        """Return the bucket's capacity, and the seconds to refill an empty one."""
        return self._burst * size, self._burst / self._rate if self._rate else 0.0

    def remaining(self, caller: str, size: int, now: float) -> tuple[float, float]:
        """Return the caller's remaining tokens, and the seconds until its bucket is full."""
        with self._lock:
            left = self._filled(caller, size, now)
        return left, (self._burst * size - left) / (self._rate * size) if self._rate else 0.0

    def _filled(self, caller: str, size: int, now: float) -> float:
        left, since = self._left.get(caller, (self._burst * size, now))
        return min(self._burst * size, left + (now - since) * self._rate * size)


def client_address() -> str:
    """Return the client's address: for IPv6 its /64 network, since one user has all of it."""
    return _client_key(request.remote_addr or "")


def limited_address() -> str:
    """Return the client's address for limits per address; empty in a shared network, to which none applies."""
    settings: ApiSettings = current_app.extensions[EXTENSION].settings
    return "" if _is_shared(request.remote_addr or "", settings.shared_networks) else client_address()


@lru_cache(4096)
def _is_shared(sender: str, networks: tuple[str, ...]) -> bool:
    try:
        found = ipaddress.ip_address(sender)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(network) for network in networks)


@lru_cache(4096)
def _client_key(sender: str) -> str:
    try:
        found = ipaddress.ip_address(sender)
    except ValueError:
        return "nobody"
    return str(ipaddress.ip_network(f"{found}/64", strict=False)) if found.version == 6 else str(found)


def client_network() -> str:
    """Return a shortened client address that may be stored."""
    try:
        found = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network(f"{found}/{24 if found.version == 4 else 48}", strict=False))


def address_family() -> str:
    """Return `ipv4`, `ipv6` or an empty string."""
    found = client_network()
    return "" if not found else "ipv6" if ":" in found else "ipv4"


def _cost() -> float:
    req = unwrap_proxy(request)
    if req.args.get("all") == "1":
        return READ_COSTS["games/choices"]
    if req.args.get("ahead", "0") != "0":
        return READ_COSTS["ahead"]
    words = "/".join([word for word in str(req.url_rule).split("/") if not word.startswith("<")][2:])
    if req.method == "POST":
        return WRITE_COSTS.get(words, 1.0)
    if req.method in ("PUT", "PATCH", "DELETE"):
        return WRITE_COSTS["tournaments/pause"] if words == "tournaments/pause" else 1.0
    if "version" in req.args:
        return READ_COSTS["past"]
    return READ_COSTS.get(words, 0.0)


def charge_quota(quota: str, account: str = "") -> None:
    """Count an opened table, a taken seat or a tried name. Raise Problem over the hourly quota.

    The count applies to the address, over all tokens, and to the account, over all addresses.
    """
    address, own = {f"{quota} of the address": (limited_address(), 1)}, {f"{quota} of the account": (account, 1)}
    _charge_buckets(current_app.extensions[_QUOTAS[quota]], address | own, 1.0, own if account else {})


def refuse_for(seconds: float) -> None:
    """Raise Problem with Retry-After if `seconds` is positive."""
    if seconds > 0:
        raise Problem("too_many_requests", headers={"Retry-After": str(math.ceil(seconds))})


def caller_key(token: str | None) -> str:
    """Return the key for rate limits: a valid token's or account's id, else the client's address.

    It is empty for a client without a token in a shared network.
    """
    return token or limited_address()


def charge_request(token: str | None) -> None:
    """Charge the request's cost to its caller and its address. Raise Problem over the limit.

    The address counts as well because one client can have many tokens.
    """
    g.spends = token
    if cost := _cost():
        _charge_caller(cost, token)


def _charge_caller(cost: float, token: str | None) -> None:
    address = limited_address()
    everything = f"all of {address}" if address else ""
    own, shared = {"caller": (caller_key(token), 1)}, {"address": (everything, ADDRESS_FACTOR)}
    _charge_buckets(current_app.extensions[_BUCKETS], own | shared, cost, own if token else {})


def _charge_buckets(
    buckets: TokenBuckets,
    counted: Mapping[str, tuple[str, int]],
    cost: float,
    own: Mapping[str, tuple[str, int]] = MappingProxyType({}),
) -> None:
    """Charge a cost to callers, listed by the name of their policy; an empty caller has no limit. Raise Problem.

    `own`: the part of an account among them. One of an event's people is charged for this part alone, once the limit
    of the address is reached.
    """
    limited = {policy: charge for policy, charge in counted.items() if charge[0]}
    wait = buckets.take(dict(limited.values()), cost, time.monotonic())
    if wait > 0 and own.keys() < limited.keys() and any(is_guest(account) for account, _ in own.values()):
        limited = dict(own)
        wait = buckets.take(dict(limited.values()), cost, time.monotonic())
    g.setdefault("counted", {}).update({policy: (buckets, *charge) for policy, charge in limited.items()})
    refuse_for(wait)


def is_guest(account: str) -> bool:
    """Return whether an account is one of the people of an event's code in force."""
    s: ApiServices = current_app.extensions[EXTENSION]
    return s.seat_tokens.event_people.is_guest(account, s.clock())


def _add_headers(answer: Response) -> Response:
    """Add RateLimit and RateLimit-Policy for the policies that counted this request."""
    policies, left = [], []
    for policy, (buckets, client, size) in g.get("counted", {}).items():
        quota, window = buckets.policy(size)
        rest, full = buckets.remaining(client, size, time.monotonic())
        if window:
            policies.append(f'"{policy}";q={quota:.0f};w={math.ceil(window)}')
            left.append(f'"{policy}";r={math.floor(rest)};t={math.ceil(full)}')
    if policies:
        answer.headers.add("RateLimit-Policy", ", ".join(policies))
        answer.headers.add("RateLimit", ", ".join(left))
    return answer


# --- how much at once ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Ticket:
    """A request at the gate. `names`: its address and its caller, as far as known."""

    names: frozenset[str]
    is_long: bool


class Gate:
    """Slots for work that grows with a game's or an event's length, in total, per address and per caller. Thread-safe.

    Such work keeps the interpreter busy: with each slot that is in use, every other request waits longer for its turn.
    A free slot goes to the waiting request whose address and caller have the least recent use. Frequent callers cannot
    starve occasional ones. Long work leaves one slot to the others. Few requests wait, since each
    of them holds a thread.
    """

    def __init__(self, most: int = 2, each: int = 1, patience: float = 4.0, waiting: int = 4) -> None:
        """Allow `most` slots in all and `each` per name. Per name, `waiting` requests wait, half of them long.

        `patience`: the longest wait, seconds.
        """
        self._most, self._each, self._patience, self._each_waiting = most, each, patience, waiting
        self._taken: list[_Ticket] = []
        self._waiting: list[_Ticket] = []
        self._used: LRUCache[str, tuple[float, float]] = LRUCache(MAX_CALLERS)
        """Name -> seconds of held slots, decayed by HALF_LIFE, and the time of that value."""
        self._left = threading.Condition()

    @contextmanager
    def slot(self, *names: str, is_long: bool = False) -> Iterator[None]:
        """Hold a slot. Raise Problem if none becomes free in time, or if a name has several requests waiting."""
        ticket = _Ticket(frozenset(names), is_long)
        with self._left:
            self._wait(ticket)
            self._taken.append(ticket)
        start = time.monotonic()
        try:
            yield
        finally:
            with self._left:
                now = time.monotonic()
                self._taken.remove(ticket)
                for name in ticket.names:
                    self._used[name] = self._recent_use(name, now) + now - start, now
                self._left.notify_all()

    def _wait(self, ticket: _Ticket) -> None:
        """Wait for a slot. Further requests of a name wait a shorter time, or not at all."""
        before = _count_most(self._waiting, ticket.names)
        patience = self._patience if before < self._each_waiting // 2 else self._patience / 8
        if before >= self._each_waiting or len(self._waiting) >= MAX_WAITING:
            patience = 0.0
        self._waiting.append(ticket)
        try:
            if not self._left.wait_for(lambda: self._may_enter(ticket), patience):
                raise Problem("too_many_requests", headers={"Retry-After": "1"})
        finally:
            self._waiting.remove(ticket)
            self._left.notify_all()

    def _may_enter(self, ticket: _Ticket) -> bool:
        if not self._has_slot(ticket):
            return False
        now = time.monotonic()
        own_use = self._most_use(ticket, now)
        others = (other for other in self._waiting if not other.names & ticket.names and self._has_slot(other))
        return all(own_use <= self._most_use(other, now) for other in others)

    def _has_slot(self, ticket: _Ticket) -> bool:
        """Return whether a slot is free for this work, whoever else waits."""
        long = sum(taken.is_long for taken in self._taken)
        is_free = len(self._taken) < self._most and not (ticket.is_long and long >= max(self._most - 1, 1))
        return is_free and _count_most(self._taken, ticket.names) < self._each

    def _most_use(self, ticket: _Ticket, now: float) -> float:
        return max((self._recent_use(name, now) for name in ticket.names), default=0.0)

    def _recent_use(self, name: str, now: float) -> float:
        seconds, then = self._used.get(name, (0.0, now))
        return seconds * math.pow(0.5, (now - then) / HALF_LIFE)


def _count_most(tickets: Iterable[_Ticket], names: frozenset[str]) -> int:
    """Return the number of tickets with the same name, for the most frequent of these names."""
    held = [ticket.names for ticket in tickets]
    return max((sum(name in each for each in held) for name in names), default=0)


def gate_context(*, is_long: bool = False) -> GateContext:
    """Return the gate's context factory for the client's address and token, usable after the response as well.

    In a shared network each token counts alone, and so does each request without one. `is_long`: the work may take many
    seconds.
    """
    gate: Gate = current_app.extensions[_GATE]
    known = [name for name in (limited_address(), g.get("spends")) if name]
    return partial(gate.slot, *(known or [f"request {id(request)}"]), is_long=is_long)


@contextmanager
def whole_game_slot() -> Iterator[None]:
    """Hold a slot while this request reads a whole game. Usable as a decorator. Raise Problem."""
    with gate_context()():
        yield


@contextmanager
def long_work_slot() -> Iterator[None]:
    """Hold a slot for work of many seconds, such as deciding a game again. Usable as a decorator. Raise Problem."""
    with gate_context(is_long=True)():
        yield


@contextmanager
def archived_game_slot() -> Iterator[None]:
    """Hold a slot while this request folds an archived game, and charge it as a past board."""
    _charge_caller(READ_COSTS["past"], g.get("spends"))
    with whole_game_slot():
        yield


def register(app: Flask) -> None:
    """Add the buckets, quotas and the gate to the application."""
    app.after_request(_add_headers)
    settings: ApiSettings = app.extensions[EXTENSION].settings
    app.extensions[_BUCKETS] = TokenBuckets(settings.rate, settings.burst)
    app.extensions[_GATE] = Gate()
    hourly = {"tables": settings.tables, "seats": settings.tables * 10, "accounts": settings.accounts}
    hourly |= {"names": settings.accounts}
    hourly |= {"devices": settings.tables, "clients": settings.tables, "notices": NOTIFICATION_QUOTA}
    for quota, most in hourly.items():
        app.extensions[_QUOTAS[quota]] = TokenBuckets(most / 3600 if settings.rate else 0, most)

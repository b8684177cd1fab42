"""Throttling of failed logins with growing delays, in the memory of each process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cachetools import LRUCache
from flask import Flask, current_app

from api.http.problems import Problem
from api.http.rate_limits import MAX_CALLERS, refuse_for

FREE_FAILURES = 5
"""Failures without a delay, for typing errors."""

LONGEST_WAIT = 900.0
"""Longest delay before the next guess, seconds. One failure expires after each such period without guesses."""


class FailedAttempts:
    """Failure counts by account, device and address. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: LRUCache[str, tuple[int, float]] = LRUCache(MAX_CALLERS)
        """Failures, and the time of the last one."""

    def begin(self, *names: str) -> float:
        """Return the seconds to wait, or 0 and count one failure for all names until `forgive`."""
        now = time.monotonic()
        with self._lock:
            found = {name: self._failures_left(name, now) for name in names}
            wait = max(last + _wait_after(count) - now for count, last in found.values())
            if wait > 0:
                return wait
            for name, (count, _) in found.items():
                self._failed[name] = (count + 1, now)
        return 0.0

    def forgive(self, *names: str, all_of: bool = False) -> None:
        """Remove one counted failure of these names, or all of them with `all_of`."""
        with self._lock:
            for name in names:
                count, last = self._failed.get(name, (0, 0.0))
                if all_of or count < 2:
                    self._failed.pop(name, None)
                else:
                    self._failed[name] = (count - 1, last)

    def _failures_left(self, name: str, now: float) -> tuple[int, float]:
        count, last = self._failed.get(name, (0, now - LONGEST_WAIT))
        return max(count - int((now - last) / LONGEST_WAIT), 0), last


def _wait_after(count: int) -> float:
    return min(2.0 ** (count - FREE_FAILURES), LONGEST_WAIT) if count >= FREE_FAILURES else 0.0


# --- those of the application ----------------------------------------------------------------------------------

_ATTEMPTS = "annals.attempts"


def register(app: Flask) -> None:
    """Add the failure counter to the application."""
    app.extensions[_ATTEMPTS] = FailedAttempts()


@contextmanager
def throttled(*names: str, address: str = "") -> Iterator[None]:
    """Count a check of a secret as a failure unless it succeeds. Raise Problem during a delay.

    Success clears all failures of the names, but only its own count for the address: guessers may have an account too.
    Other errors, such as an unavailable store, count as no guess.
    """
    attempts: FailedAttempts = current_app.extensions[_ATTEMPTS]
    addresses = [f"address {address}"] if address else []
    refuse_for(attempts.begin(*names, *addresses))
    try:
        yield
    except Exception as error:
        if not (isinstance(error, Problem) and error.code == "wrong_credentials"):
            attempts.forgive(*names, *addresses)
        raise
    attempts.forgive(*names, all_of=True)
    attempts.forgive(*addresses)

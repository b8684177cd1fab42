"""Guesses at passwords: each that fails makes the next one wait longer; in the memory of each process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cachetools import LRUCache
from flask import Flask, current_app

from api.http.problems import Problem
from api.http.rate_limits import KEPT, later

FREE = 5
"""Failures that cost nothing: people mistype."""

LONGEST = 900.0
"""Seconds that the next guess waits at most; and after so many without any, one failure is forgotten."""


class Attempts:
    """Failures by what was guessed at and by who guesses; safe with threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: LRUCache[str, tuple[int, float]] = LRUCache(KEPT)
        """How many, and when the last one was."""

    def begin(self, *names: str) -> float:
        """Seconds to wait; 0: it may be tried, and counts as a failure of all these names until it is forgiven."""
        now = time.monotonic()
        with self._lock:
            found = {name: self._left(name, now) for name in names}
            wait = max(last + _pause(count) - now for count, last in found.values())
            if wait > 0:
                return wait
            for name, (count, _) in found.items():
                self._failed[name] = (count + 1, now)
        return 0.0

    def forgive(self, *names: str, all_of: bool = False) -> None:
        """It was none: of these names one failure less, or no failure at all."""
        with self._lock:
            for name in names:
                count, last = self._failed.get(name, (0, 0.0))
                if all_of or count < 2:
                    self._failed.pop(name, None)
                else:
                    self._failed[name] = (count - 1, last)

    def _left(self, name: str, now: float) -> tuple[int, float]:
        count, last = self._failed.get(name, (0, now - LONGEST))
        return max(count - int((now - last) / LONGEST), 0), last


def _pause(count: int) -> float:
    return min(2.0 ** (count - FREE), LONGEST) if count >= FREE else 0.0


# --- those of the application ----------------------------------------------------------------------------------

_ATTEMPTS = "annals.attempts"


def install(app: Flask) -> None:
    """One count of failures for the application."""
    app.extensions[_ATTEMPTS] = Attempts()


@contextmanager
def guessing(*names: str, at: str = "") -> Iterator[None]:
    """Around a look at a secret, which counts for all these names unless it fits; raises Problem for who must wait.

    What fits makes good all failures of the names, and none before of the address (`at`): whoever guesses at others may
    have an account too. What ends otherwise, since the store is away for instance, was no guess.
    """
    found: Attempts = current_app.extensions[_ATTEMPTS]
    where = [f"address {at}"] if at else []
    later(found.begin(*names, *where))
    try:
        yield
    except Exception as error:
        if not (isinstance(error, Problem) and error.code == "wrong_credentials"):
            found.forgive(*names, *where)
        raise
    found.forgive(*names, all_of=True)
    found.forgive(*where)

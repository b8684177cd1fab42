"""Places for streams: how many are open, in all, for each caller and for each address."""

from __future__ import annotations

import threading
from collections import Counter


class Places:
    """How many streams are open, in all, for each caller and for each address; safe with threads."""

    def __init__(self, most: int, each: int, address: int) -> None:
        self._most, self._each, self._address, self._lock = most, each, address, threading.Lock()
        self._taken: Counter[str] = Counter()
        self._at: Counter[str] = Counter()

    def take(self, caller: str, address: str, *, plays: bool) -> bool:
        """Whether there was a place; the last quarter is for those who play."""
        with self._lock:
            most = self._most if plays else self._most * 3 // 4
            if self._taken.total() >= most or self._taken[caller] >= self._each or self._at[address] >= self._address:
                return False
            self._taken[caller] += 1
            self._at[address] += 1
            return True

    def leave(self, caller: str, address: str) -> None:
        """The place is free again."""
        with self._lock:
            self._taken -= Counter({caller: 1})
            self._at -= Counter({address: 1})

    @property
    def taken(self) -> int:
        """How many there are."""
        with self._lock:
            return self._taken.total()

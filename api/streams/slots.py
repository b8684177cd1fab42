"""Limits on open streams: in total, per caller and per address."""

from __future__ import annotations

import threading
from collections import Counter


class StreamSlots:
    """Counts of open streams in total, per caller and per address. Thread-safe."""

    def __init__(self, most: int, each: int, address: int) -> None:
        self._most, self._each, self._address, self._lock = most, each, address, threading.Lock()
        self._taken: Counter[str] = Counter()
        self._at: Counter[str] = Counter()

    def take(self, caller: str, address: str, *, plays: bool) -> bool:
        """Take a slot and return True, or return False. The last quarter is reserved for players."""
        with self._lock:
            most = self._most if plays else self._most * 3 // 4
            if self._taken.total() >= most or self._taken[caller] >= self._each or self._at[address] >= self._address:
                return False
            self._taken[caller] += 1
            self._at[address] += 1
            return True

    def leave(self, caller: str, address: str) -> None:
        """Free the slot."""
        with self._lock:
            self._taken -= Counter({caller: 1})
            self._at -= Counter({address: 1})

    @property
    def open(self) -> int:
        """Number of open streams."""
        with self._lock:
            return self._taken.total()

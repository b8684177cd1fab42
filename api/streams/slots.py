"""Limits on open streams: in total, per caller and per address, with places apart for seats of running games."""

from __future__ import annotations

import threading
from collections import Counter


class StreamSlots:
    """Counts of open streams in total, per caller and per address. Thread-safe.

    An empty caller or address has no limit of its own.
    """

    def __init__(self, most: int, each: int, address: int) -> None:
        """Allow `most` streams in all, `each` for a caller, and `address` for an address.

        The last quarter is for players. Their streams do not count for the address, which may have half as many of
        them besides, or `address` if that is more.
        """
        self._each = each
        self._lock = threading.Lock()
        self._most = {True: most, False: most * 3 // 4}
        self._address = {True: max(most // 8, address), False: address}
        self._taken: Counter[str] = Counter()
        self._at: Counter[tuple[str, bool]] = Counter()

    def take(self, caller: str, address: str, *, plays: bool) -> bool:
        """Take a slot and return True, or return False. `plays`: the caller has a seat of a running game."""
        with self._lock:
            if (
                self._taken.total() >= self._most[plays]
                or (caller and self._taken[caller] >= self._each)
                or (address and self._at[address, plays] >= self._address[plays])
            ):
                return False
            self._taken[caller] += 1
            self._at[address, plays] += 1
            return True

    def leave(self, caller: str, address: str, *, plays: bool) -> None:
        """Free the slot."""
        with self._lock:
            self._taken -= Counter({caller: 1})
            self._at -= Counter({(address, plays): 1})

    @property
    def open(self) -> int:
        """Number of open streams."""
        with self._lock:
            return self._taken.total()

"""How long a pump waits for company: what one slice costs is much the same for one record and for five."""

from __future__ import annotations

from math import exp

BUSY = 300.0
"""Records a second from which on slices are kept apart: below it nobody sees a board later than need be."""

APART = 0.006
"""Seconds from the beginning of one slice to that of the next, in a busy service."""

MEMORY = 0.1
"""Seconds over which records are counted: what is older counts the less."""


class Gathering:
    """Tells a pump when to begin its next slice. Times are seconds of a clock that only rises."""

    def __init__(self) -> None:
        self._began = self._recent = 0.0

    def pause(self, now: float) -> float:
        """Seconds to wait from now on; 0 for not at all."""
        busy = self._recent > BUSY * MEMORY
        return max(self._began + APART - now, 0.0) if busy else 0.0

    def took(self, began: float, records: int) -> None:
        """A slice was begun then and had so many records."""
        self._recent = self._recent * exp(min(self._began - began, 0.0) / MEMORY) + records
        self._began = began

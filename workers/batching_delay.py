"""How long to wait for company in a busy service.

What a slice of the log costs the pump is much the same for one record and for five, and a ring is a ring whoever it is
for.
"""

from __future__ import annotations

from math import exp

BUSY_RATE = 300.0
"""Records a second from which on they are kept apart: below it nobody sees a board later than need be."""

SLICE_INTERVAL = 0.012
"""Seconds from the beginning of one slice to that of the next, in a busy service."""

SIGNAL_INTERVAL = 0.006
"""The same of rings of one process: less, since a slice begins later than the ring for it."""

RATE_WINDOW = 0.1
"""Seconds over which records are counted: what is older counts the less."""


class BatchingDelay:
    """Tells when to begin the next one. Times are seconds of a clock that only rises."""

    def __init__(self, interval: float) -> None:
        """`apart`: seconds from one beginning to the next, once it is busy."""
        self._interval = interval
        self._began = self._recent = 0.0

    def pause(self, now: float) -> float:
        """Seconds to wait from now on; 0 for not at all."""
        busy = self._recent > BUSY_RATE * RATE_WINDOW
        return max(self._began + self._interval - now, 0.0) if busy else 0.0

    def record_batch(self, began: float, records: int) -> None:
        """One was begun then, for so many records."""
        self._recent = self._recent * exp(min(self._began - began, 0.0) / RATE_WINDOW) + records
        self._began = began

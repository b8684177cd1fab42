"""Adaptive delay that batches records in a busy service.

A slice of the log costs the projector nearly the same for one record and for five, and one signal costs the same for
any number of records.
"""

from __future__ import annotations

from math import exp

BUSY_RATE = 300.0
"""Records per second above which batches are delayed. Below, no reader waits longer than necessary."""

SLICE_INTERVAL = 0.012
"""Shortest interval between the starts of two slices in a busy service, seconds."""

SIGNAL_INTERVAL = 0.006
"""Shortest interval between two signals of a process in a busy service, seconds.

Shorter than SLICE_INTERVAL, because a slice starts later than its signal.
"""

RATE_WINDOW = 0.1
"""Seconds over which the record rate decays."""


class BatchingDelay:
    """Computes the pause before the next batch. All times are seconds of a monotonic clock."""

    def __init__(self, interval: float) -> None:
        """Set the shortest interval between two batches in a busy service, seconds."""
        self._interval = interval
        self._began = self._recent = 0.0

    def pause(self, now: float) -> float:
        """Return the seconds to wait before the next batch; 0 to start at once."""
        busy = self._recent > BUSY_RATE * RATE_WINDOW
        return max(self._began + self._interval - now, 0.0) if busy else 0.0

    def record_batch(self, began: float, records: int) -> None:
        """Record the start time of a batch and its number of records."""
        self._recent = self._recent * exp(min(self._began - began, 0.0) / RATE_WINDOW) + records
        self._began = began

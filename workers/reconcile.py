"""The reconciler: whatever the table of due work holds is enqueued, as often as it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import StoreUnavailable
from projections.reader import Reader
from workers.queues import Queues

LIMIT = 1000
"""Rows looked at in one pass."""

log = logging.getLogger("annals.reconcile")


class Reconciler:
    """Reads the rows and enqueues them. Any number of these may be at work at once."""

    def __init__(self, reader: Reader, queues: Queues, clock: Callable[[], int]) -> None:
        self._reader, self._queues, self._clock = reader, queues, clock

    def pass_once(self) -> int:
        """Enqueue what is due now; returns how many jobs are new. Without Redis the rows wait."""
        now = self._clock()
        try:
            return self._queues.due(self._reader.due(now, LIMIT), now)
        except StoreUnavailable as error:
            log.warning("due work waits: %s", error)
            return 0

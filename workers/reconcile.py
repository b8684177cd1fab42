"""The reconciler: whatever the tables of due work and of errands hold is enqueued, as often as it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errands import Errand, Errands
from domain.errors import StoreUnavailable
from projections.reader import Reader
from workers.queues import Queues, of_due, of_errand

LIMIT = 1000
"""Rows of due work looked at in one pass."""

log = logging.getLogger("annals.reconcile")


class Reconciler:
    """Reads the rows and enqueues them. Any number of these may be at work at once."""

    def __init__(self, reader: Reader, errands: Errands, queues: Queues, clock: Callable[[], int]) -> None:
        self._reader, self._errands, self._queues, self._clock = reader, errands, queues, clock

    def pass_once(self) -> int:
        """Enqueue what is due now; returns how many jobs are new. Without Redis the rows wait."""
        now = self._clock()
        try:
            calls = [of_due(row) for row in self._reader.due(now, LIMIT)]
            return self._queues.hand_out([*calls, *map(of_errand, self._to_do())], now)
        except StoreUnavailable as error:
            log.warning("due work waits: %s", error)
            return 0

    def _to_do(self) -> list[Errand]:
        """Errands that are ready, and motions that are over: declined, or of a version that is not the newest now."""
        standing = self._errands.standing()
        waiting = {e.game for e in standing if not e.ready}
        versions = self._reader.versions(sorted(waiting)) if waiting else {}
        return [e for e in standing if e.ready or e.declined or versions.get(e.game, 0) > e.version]

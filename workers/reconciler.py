"""The reconciler: whatever the tables of due work and of errands hold is enqueued, as often as it takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from domain.errors import StoreUnavailable
from domain.service.heartbeat import Outages
from domain.service.job_requests import Errand, Errands
from projections.reader import Reader
from workers.log_throttle import Seldom
from workers.queues import BATCH, TURNS, Call, Queues, of_due, of_errand, of_notices

LIMIT = 1000
"""Rows of due work looked at in one pass."""

OVERDUE = 5_000
"""ms after which work that stands although it was handed out has been left by the workers."""

log = logging.getLogger("annals.reconcile")


class Reconciler:
    """Reads the rows and enqueues them. Any number of these may be at work at once."""

    def __init__(
        self,
        reader: Reader,
        errands: Errands,
        outages: Outages,
        queues: Queues,
        clock: Callable[[], int],
        notices: Callable[[], bool] | None = None,
    ) -> None:
        """`notices`: whether any wait to be delivered."""
        self._reader, self._errands, self._outages, self._queues = reader, errands, outages, queues
        self._clock, self._notices = clock, notices
        self._seen: dict[str, int] = {}
        self._away = Seldom()
        self.left: Sequence[Call] = ()
        """Work of TURNS that the last pass could not hand out, or that nobody does."""

    def pass_once(self) -> int:
        """Enqueue what is due now; returns how many jobs are new. Without Redis the rows wait."""
        now = self._clock()
        due = self._reader.due(now, LIMIT, answered=self._outages.answered())
        calls = [*map(of_due, due), *map(of_errand, self._to_do())]
        if self._notices and self._notices():
            calls.append(of_notices())
        self._seen = {call.name: self._seen.get(call.name, now) for call in calls}
        short = [call for call in calls if call.queue == TURNS]
        self.left = [call for call in short if now - self._seen[call.name] > OVERDUE]
        try:
            return self._queues.hand_out(calls, now)
        except StoreUnavailable as error:
            if self._away(str(error)):
                log.warning("due work waits: %s", error)
            self.left = short
            return 0

    def long_work(self) -> None:
        """Enqueue audits and rebuilds alone: for them nothing must be read from the views, which may be damaged."""
        calls = [of_errand(e) for e in self._errands.standing() if e.ready]
        with suppress(StoreUnavailable):
            self._queues.hand_out([call for call in calls if call.queue == BATCH], self._clock())

    def _to_do(self) -> list[Errand]:
        """Errands that are ready, and motions that are over: declined, or of a version that is not the newest now."""
        standing = self._errands.standing()
        waiting = {e.game for e in standing if not e.ready}
        versions = self._reader.versions(sorted(waiting)) if waiting else {}
        return [e for e in standing if e.ready or e.declined or versions.get(e.game, 0) > e.version]

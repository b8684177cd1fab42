"""The reconciler: enqueues all due work and open job requests, again and again, from their rows."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from domain.errors import StoreUnavailable
from domain.kernel.game.proposals import SILENCE_MS
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequest, JobRequests
from domain.standing_orders.order_store import OrderStore
from domain.types import Seat
from projections.reader import DueWork, Reader
from projections.row_builders import NO_DECISION
from workers.job_calls import BATCH, TURNS, JobCall, JobQueues, delivery_call, due_call, request_call
from workers.log_throttle import LogThrottle

MAX_ROWS = 1000
"""Rows of due work per pass."""

OVERDUE_MS = 5_000
"""ms after which enqueued work counts as unclaimed by the workers."""

log = logging.getLogger("annals.reconcile")


class Reconciler:
    """Enqueues jobs from rows. Several may run at once."""

    def __init__(
        self,
        reader: Reader,
        job_requests: JobRequests,
        heartbeat: Heartbeat,
        queues: JobQueues,
        clock: Callable[[], int],
        has_notifications: Callable[[], bool] | None = None,
        orders: OrderStore | None = None,
    ) -> None:
        """`has_notifications` returns True if deliveries are due."""
        self._reader, self._job_requests, self._heartbeat, self._queues = reader, job_requests, heartbeat, queues
        self._clock, self._has_notifications, self._orders = clock, has_notifications, orders
        self._first_due: dict[str, int] = {}
        self._log_throttle = LogThrottle()
        self.unclaimed: Sequence[JobCall] = ()
        """Jobs of TURNS that the last pass could not enqueue or no worker takes."""

    def pass_once(self) -> int:
        """Enqueue all due work; return the number of new jobs. Without Redis, the rows wait."""
        now = self._clock()
        due = self._reader.list_due(now, MAX_ROWS, answered_until=self._heartbeat.deadlines_valid_until())
        due += [*self._reader.list_unreported(), *self._list_due_orders(now)]
        calls = [*map(due_call, due), *map(request_call, self._list_actionable())]
        if self._has_notifications and self._has_notifications():
            calls.append(delivery_call())
        self._first_due = {call.name: self._first_due.get(call.name, now) for call in calls}
        short = [call for call in calls if call.queue == TURNS]
        self.unclaimed = [call for call in short if now - self._first_due[call.name] > OVERDUE_MS]
        try:
            return self._queues.enqueue(calls, now)
        except StoreUnavailable as error:
            if self._log_throttle(str(error)):
                log.warning("due work waits: %s", error)
            self.unclaimed = short
            return 0

    def _list_due_orders(self, now: int) -> list[DueWork]:
        """Return the games with standing orders to judge: after each record, and when an answer is due."""
        waiting = self._orders.list_waiting() if self._orders else []
        versions = self._reader.newest_versions([game for game, _, _ in waiting]) if waiting else {}
        return [
            DueWork(game, NO_DECISION, "order", 0)
            for game, seen, wake in waiting
            if versions.get(game, 0) > seen or 0 < wake <= now
        ]

    def enqueue_long_jobs(self) -> None:
        """Enqueue audits and rebuilds only. They need no views, which may be damaged."""
        calls = [request_call(e) for e in self._job_requests.list_open() if e.is_ready]
        with suppress(StoreUnavailable):
            self._queues.enqueue([call for call in calls if call.queue == BATCH], self._clock())

    def _list_actionable(self) -> list[JobRequest]:
        """Return requests ready to run or to close.

        Also declined ones, rewinds outdated or out of time, and proposals out of time or waiting for vacant seats only.
        """
        standing, now = self._job_requests.list_open(), self._clock()
        waiting = {e.game for e in standing if not e.is_ready and e.work in ("rewind", "proposal")}
        versions = self._reader.newest_versions(sorted(waiting)) if waiting else {}
        changed = {e.game for e in standing if e.work == "proposal" and versions.get(e.game, 0) > e.version}
        vacant = self._find_vacant_seats(sorted(changed & waiting))

        def is_due(request: JobRequest) -> bool:
            if request.work == "proposal":
                missing = set(request.missing_seats) - vacant.get(request.game, set())
                return now >= request.at + SILENCE_MS or not missing
            return versions.get(request.game, 0) > request.version or request.is_expired(now)

        return [e for e in standing if e.is_ready or e.declined or is_due(e)]

    def _find_vacant_seats(self, games: Sequence[str]) -> dict[str, set[Seat]]:
        """Return the vacant seats of these games, as far as the views know."""
        summaries = [json.loads(doc) for doc in self._reader.list_unfinished_summaries(games)] if games else []
        return {doc["game"]: {seat["seat"] for seat in doc["seats"] if seat["vacant"]} for doc in summaries}

"""Outages: extends deadlines that passed while the service did not answer, exactly once, by a record each.

An outage stays unresolved in its table until all deadlines are moved. After a crash, the next process repeats the work
with the same idempotency keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.command_handler import GameConditions
from domain.errors import CommandReused, DecisionClosed, RuleError
from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.director_commands import Extend
from domain.kernel.game.playing_time import time_outside
from projections.reader import DueWork, Reader
from workers import liveness
from workers.context import WorkerContext
from workers.maintenance.corruption_handler import check_suspect

LIVENESS_SECONDS = 60.0
"""Longest duration of moving one deadline, seconds."""

log = logging.getLogger("annals.outages")


class OutageRecovery:
    """Extends deadlines after outages. Only for the projector that builds the tree.

    `catch_up` brings all views up to date.
    """

    def __init__(self, context: WorkerContext, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._context, self._reader, self._catch_up = context, reader, catch_up

    def recover(self) -> None:
        """Extend the deadlines of ended outages. The views must be at the end of the log."""
        for began, ended in self._context.heartbeat.list_unresolved():
            rows = self._reader.list_interrupted(began, ended)
            log.warning("nobody was answered for %d s: %d deadlines are moved", (ended - began) // SECOND, len(rows))
            for row in rows:
                liveness.set_deadline(LIVENESS_SECONDS)
                try:
                    self._extend_deadline(row, began, ended)
                except Exception:
                    if not check_suspect(self._context, row.game):
                        raise
            self._catch_up()
            self._context.heartbeat.mark_resolved(began)

    def _extend_deadline(self, row: DueWork, began: int, ended: int) -> None:
        game = self._context.commands.game(row.game)
        # No seat lost more than the time since its question; a corrected clock can make an outage of years.
        since = game.clock.since if game.clock else None
        lost = time_outside(game.timing.pauses, max(began, since or 0), ended)
        if game.timing.pauses and not lost:  # no time ran
            return
        ms = lost + game.timing.control.grace * SECOND
        try:
            key = f"outage-{began}-{row.decision}"
            result = self._context.commands.handle(
                row.game, Extend(row.decision, ms, by="clock"), GameConditions(idempotency_key=key)
            )
        except (DecisionClosed, RuleError):  # the seat played meanwhile
            return
        except CommandReused:  # moved before a crash; its clock has stopped and run since
            return
        self._context.notify_appended(result.position)

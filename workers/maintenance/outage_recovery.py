"""Outages: deadlines that passed while nobody could play are moved, each by a record, exactly once.

An outage stands in a table, unsettled, until all of that is done. Whoever is killed in the middle is followed by one
that does the same again, under the same command ids.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import CommandReused, DecisionClosed, RuleError
from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.director_commands import Extend
from projections.reader import DueWork, Reader
from workers import liveness
from workers.context import WorkerContext
from workers.maintenance.corruption_handler import check_suspect

LIVENESS_SECONDS = 60.0
"""Seconds that moving one deadline may take."""

log = logging.getLogger("annals.outages")


class OutageRecovery:
    """Only for the pump that builds the tree. `catch_up` brings all views to the end of the log."""

    def __init__(self, context: WorkerContext, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._context, self._reader, self._catch_up = context, reader, catch_up

    def recover(self) -> None:
        """Move the deadlines of outages that have ended. The views must be at the end of the log."""
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
        # Nobody has lost more than has passed since he was asked: clocks that are put right make outages of years.
        since = game.clock.since if game.clock else None
        ms = max(ended - max(began, since or 0), 0) + game.time_control.grace * SECOND
        try:
            key = f"outage-{began}-{row.decision}"
            result = self._context.commands.handle(row.game, Extend(row.decision, ms, by="clock"), idempotency_key=key)
        except (DecisionClosed, RuleError):  # somebody has played meanwhile
            return
        except CommandReused:  # it was moved before we were killed, and its clock has stood still and run again since
            return
        self._context.notify_appended(result.position)

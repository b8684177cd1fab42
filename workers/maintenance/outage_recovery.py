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
from projections.reader import Due, Reader
from workers import liveness
from workers.context import Crew
from workers.maintenance.corruption_handler import suspected

SIGN = 60.0
"""Seconds that moving one deadline may take."""

log = logging.getLogger("annals.outages")


class Watch:
    """Only for the pump that builds the tree. `catch_up` brings all views to the end of the log."""

    def __init__(self, crew: Crew, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._crew, self._reader, self._catch_up = crew, reader, catch_up

    def look(self) -> None:
        """Move the deadlines of outages that have ended. The views must be at the end of the log."""
        for began, ended in self._crew.outages.unsettled():
            rows = self._reader.interrupted(began, ended)
            log.warning("nobody was answered for %d s: %d deadlines are moved", (ended - began) // SECOND, len(rows))
            for row in rows:
                liveness.promise(SIGN)
                try:
                    self._move(row, began, ended)
                except Exception:
                    if not suspected(self._crew, row.game):
                        raise
            self._catch_up()
            self._crew.outages.settle(began)

    def _move(self, row: Due, began: int, ended: int) -> None:
        game = self._crew.commands.game(row.game)
        # Nobody has lost more than has passed since he was asked: clocks that are put right make outages of years.
        since = game.clock.since if game.clock else None
        ms = max(ended - max(began, since or 0), 0) + game.pace.grace * SECOND
        try:
            named = f"outage-{began}-{row.decision}"
            stored = self._crew.commands.do(row.game, Extend(row.decision, ms, by="clock"), command=named)
        except (DecisionClosed, RuleError):  # somebody has played meanwhile
            return
        except CommandReused:  # it was moved before we were killed, and its clock has stood still and run again since
            return
        self._crew.notify(stored.position)

"""Outages: deadlines that passed while nobody could play are moved, each by a record, exactly once.

The process that pumps keeps the heartbeat. Who begins to pump, or goes on after having been halted, finds the last beat
too old: that time was an outage. It is written down before anything is moved, and the heart beats again after that; so
whoever is killed in the middle is followed by one that does the same again, under the same command ids.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import DecisionClosed, RuleError
from domain.kernel.clock import SECOND
from domain.outages import Outages
from projections.reader import Due, Reader
from workers import pulse
from workers.crew import Crew

BEAT = 2_000
"""ms between two beats."""

SILENCE = 30_000
"""ms without a beat that are an outage. Longer than it takes another node to become the one that pumps."""

SIGN = 60.0
"""Seconds that moving one deadline may take."""

log = logging.getLogger("annals.outages")


class Watch:
    """Only for the process that holds the pump's lease. `catch_up` brings the views to the end of the log."""

    def __init__(self, crew: Crew, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._crew, self._reader, self._catch_up = crew, reader, catch_up
        self._outages = Outages(crew.ledger)
        self._beaten = 0

    def look(self) -> None:
        """Beat, if it is time; first move the deadlines that passed since the last beat, if that is long ago."""
        now = self._crew.clock()
        if 0 <= now - self._beaten < BEAT:
            return
        last = self._outages.last()
        while last is not None and now - last > SILENCE:
            last = self._outage(last, self._outages.note(last, now))
        self._outages.beat(now)
        self._beaten = now

    def _outage(self, began: int, ended: int) -> int:
        rows = self._reader.interrupted(began, ended)
        log.warning("nobody was up for %d s: %d deadlines are moved", (ended - began) // SECOND, len(rows))
        for row in rows:
            pulse.promise(SIGN)
            self._move(row, began, ended)
        self._catch_up()
        self._outages.beat(ended)
        return ended

    def _move(self, row: Due, began: int, ended: int) -> None:
        summary = self._reader.game(row.game) or {}
        ms = ended - began + summary["pace"]["grace"] * SECOND
        try:
            named = f"outage-{began}-{row.decision}"
            stored = self._crew.commands.extend(row.game, row.decision, ms, by="clock", command=named)
        except (DecisionClosed, RuleError):  # somebody has played meanwhile
            return
        self._crew.notify(stored.position)

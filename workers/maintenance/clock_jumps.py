"""A clock that was set forward: every game that waits for a time has a record of it before time leaps.

Its stages stand in a row. Whoever is killed in the middle is followed by one that does the same again, under the same
command ids.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import AnnalsError, RuleError, StoreUnavailable
from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.director_commands import Shift
from domain.service.service_clock import ADOPTED, STEP, Leap, Machine
from projections.reader import Reader
from workers import liveness
from workers.context import Crew

SIGN = 60.0
"""Seconds that the record of one game may take."""

PAGE = 500
"""Entries of the log that are looked at together."""

log = logging.getLogger("annals.clock")


class Leaps:
    """Only for the pump that builds the tree. `catch_up` brings all views to the end of the log."""

    def __init__(self, crew: Crew, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._crew, self._reader, self._catch_up = crew, reader, catch_up
        self._said: set[str] = set()

    def look(self) -> None:
        """Go on with what is not settled; say which machine's clock is wrong. The views must be at the end."""
        for leap in self._crew.clocks.unsettled():
            if not leap.done:
                self._begin(leap)
            elif self._crew.clock() >= leap.leapt + ADOPTED:
                self._end(leap)
        self._complain(self._crew.clocks.machines())

    def _begin(self, leap: Leap) -> None:
        """The records come first: until time leaps, what is done in a game that has one is as of its record."""
        position, games = self._reader.position(), set(self._reader.unfinished())
        log.warning("the clock was set forward by %d s: all that is due is moved with it", leap.ms // SECOND)
        for game in games - self._aside():
            self._record(game, leap, leap.ms)
            self._catch_up()
        self._crew.clocks.leap(leap, position, self._crew.clock() + leap.ms)

    def _end(self, leap: Leap) -> None:
        """What was begun meanwhile, or by who did not know yet, has no record so far."""
        after, aside = leap.position, self._aside()
        while entries := self._crew.ledger.log(after, PAGE):
            known = [entry for entry in entries if entry.game not in aside]
            for game in {entry.game for entry in known if entry.record.public["at"] < leap.leapt}:
                self._record(game, leap, 0)
            after = entries[-1].position
        self._crew.clocks.settle(leap)

    def _aside(self) -> set[str]:
        """Games in which nothing can be done."""
        return {row["game"] for row in self._reader.aside()}

    def _record(self, game: str, leap: Leap, ahead: int) -> None:
        liveness.promise(SIGN)
        commands = self._crew.commands
        try:
            if commands.game(game).timed:
                stored = commands.do(game, Shift(leap.ms), command=f"clock-{leap.began}", ahead=ahead)
                self._crew.notify(stored.position)
        except RuleError:  # it has ended meanwhile
            return
        except StoreUnavailable:
            raise
        except AnnalsError:  # of one in which nothing can be done the others do not wait
            log.exception("the clock of %s was not moved", game)

    def _complain(self, machines: list[Machine]) -> None:
        """Once for each machine while it lasts."""
        wrong = {m.name: m.offset for m in machines if abs(m.offset) > STEP}
        for name in wrong.keys() - self._said:
            seconds, where = abs(wrong[name]) // SECOND, "behind" if wrong[name] > 0 else "ahead of"
            log.warning("the clock of %s is %d s %s the service's", name, seconds, where)
        self._said = set(wrong)

"""Forward jumps of the system clock: every timed game gets a record before the service's time follows.

Each step is stored in a row. After a crash, the next process repeats the steps with the same idempotency keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.command_handler import GameConditions
from domain.errors import AnnalsError, RuleError, StoreUnavailable
from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.director_commands import Shift
from domain.service.service_clock import ADOPTED, STEP, ClockJump, Machine
from domain.types import is_tournament_id
from projections.reader import Reader
from workers import liveness
from workers.context import WorkerContext

LIVENESS_SECONDS = 60.0
"""Longest duration of one game's record, seconds."""

PAGE_SIZE = 500
"""Log entries per read."""

log = logging.getLogger("annals.clock")


class ClockJumpRecovery:
    """Handles clock jumps. Only for the projector that builds the tree. `catch_up` brings all views up to date."""

    def __init__(self, context: WorkerContext, reader: Reader, catch_up: Callable[[], object]) -> None:
        self._context, self._reader, self._catch_up = context, reader, catch_up
        self._warned: set[str] = set()

    def recover(self) -> None:
        """Continue unsettled jumps and warn of wrong clocks. The views must be up to date."""
        for jump in self._context.clock_rows.list_unsettled():
            if not jump.is_done:
                self._apply_jump(jump)
            elif self._context.clock() >= jump.leapt + ADOPTED:
                self._settle_jump(jump)
        self._warn_of_offsets(self._context.clock_rows.list_machines())

    def _apply_jump(self, jump: ClockJump) -> None:
        """Shift all timed games, then the service's clock.

        Until the clock follows, commands in a shifted game count from its record.
        """
        position, games = self._reader.read_position(), set(self._reader.list_unfinished())
        log.warning("the clock was set forward by %d s: all that is due is moved with it", jump.ms // SECOND)
        for game in games - self._list_quarantined():
            self._shift_game(game, jump, jump.ms)
            self._catch_up()
        self._context.clock_rows.apply_jump(jump, position, self._context.clock() + jump.ms)

    def _settle_jump(self, jump: ClockJump) -> None:
        """Shift games started meanwhile, or by processes that had not seen the jump."""
        after, quarantined = jump.position, self._list_quarantined()
        while entries := self._context.ledger.log(after, PAGE_SIZE):
            readable = [entry for entry in entries if entry.game not in quarantined]
            early = {entry.game for entry in readable if entry.record.public["at"] < jump.leapt}
            for game in (game for game in early if not is_tournament_id(game)):
                self._shift_game(game, jump, 0)
            after = entries[-1].position
        self._context.clock_rows.mark_settled(jump)

    def _list_quarantined(self) -> set[str]:
        """Return the games in quarantine, which accept no commands."""
        return {row["game"] for row in self._reader.list_quarantined()}

    def _shift_game(self, game: str, jump: ClockJump, ahead: int) -> None:
        liveness.set_deadline(LIVENESS_SECONDS)
        commands = self._context.commands
        try:
            if commands.game(game).is_timed:
                result = commands.handle(
                    game, Shift(jump.ms), GameConditions(idempotency_key=f"clock-{jump.began}", ahead_ms=ahead)
                )
                self._context.notify_appended(result.position)
        except RuleError:  # the game ended meanwhile
            return
        except StoreUnavailable:
            raise
        except AnnalsError:  # one blocked game must not delay the others
            log.exception("the clock of %s was not moved", game)

    def _warn_of_offsets(self, machines: list[Machine]) -> None:
        """Warn once of each machine with a wrong clock."""
        wrong = {m.name: m.offset for m in machines if abs(m.offset) > STEP}
        for name in wrong.keys() - self._warned:
            seconds, direction = abs(wrong[name]) // SECOND, "behind" if wrong[name] > 0 else "ahead of"
            log.warning("the clock of %s is %d s %s the service's", name, seconds, direction)
        self._warned = set(wrong)

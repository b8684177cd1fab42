"""Commands of officers on the time of a whole game: pause, resume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from domain.kernel.game.command import Command, refuse_unless, require_running
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.officers import Office
from domain.kernel.game.record_builder import CommandContext, Transition, build_record, new_draft
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc


@dataclass(frozen=True)
class PauseGame(Command):
    """Stop the time of all seats from now on, until a resumption or `until`, ms since 1970: nothing lapses meanwhile.

    With `moves`, seats may move meanwhile. A current pause gets another end or permission; its beginning stays.
    """

    verb: ClassVar[str] = "PauseGame"
    least_office: ClassVar[Office] = "arbiter"
    until: int | None = None
    moves: bool = False

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        now = context.record_time(game)
        refuse_unless(self.until is None or self.until > now, "time_passed", now=now)
        pause = game.pause_at(now)
        is_same = pause is not None and (pause.until, pause.moves) == (self.until, self.moves)
        refuse_unless(not is_same, "already_until", until=self.until)
        body: Doc = {"act": "pause", "moves": self.moves}
        body |= {} if self.until is None else {"until": self.until}
        return build_record(rules, game, context, new_draft(rules, game, context), "ruled", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> PauseGame:
        return cls(record.body.get("until"), record.body["moves"])


@dataclass(frozen=True)
class ResumeGame(Command):
    """End the pause: time runs again, and all deadlines have moved by its length."""

    verb: ClassVar[str] = "ResumeGame"
    least_office: ClassVar[Office] = "arbiter"

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        refuse_unless(game.pause_at(context.record_time(game)) is not None, "not_paused")
        draft, body = new_draft(rules, game, context), {"act": "resume"}
        return build_record(rules, game, context, draft, "ruled", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> ResumeGame:
        return cls()

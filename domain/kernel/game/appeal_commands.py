"""Commands of appeals: a seat appeals against an act of an officer, another officer answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from domain.kernel.game.appeals import Outcome, answering_role
from domain.kernel.game.command import NOT_HASHED, Command, refuse_unless, require_running, seat_of_record
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.officers import Office
from domain.kernel.game.record_builder import CommandContext, Transition, build_record, new_draft
from domain.kernel.game.seat_players import Player
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Seat


@dataclass(frozen=True)
class AppealAct(Command):
    """Appeal against the act of an officer in a version. `reason` is a salted hash of the text."""

    verb: ClassVar[str] = "AppealAct"
    version: int
    seat: Seat
    reason: str = field(default="", metadata=NOT_HASHED)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        _require_appeals(game)
        player = game.players.get(self.seat, Player("")).id
        refuse_unless(bool(player), "seat_empty", seat=self.seat)
        act, before = game.lasting.appeals.find_act(self.version), game.lasting.appeals.list_against(self.version)
        refuse_unless(act is not None, "not_appealable")
        undone = any(to < self.version < rewind for to, rewind in game.lasting.rewinds.undone_spans)
        refuse_unless(not undone, "act_undone")
        refuse_unless(all(appeal.seat != self.seat for appeal in before), "already_appealed")
        refuse_unless(all(appeal.answer is None for appeal in before), "appeal_answered")
        if act is not None:
            refuse_unless(player != act.player, "own_act")
            refuse_unless(context.record_time(game) < act.appeal_by, "appeal_late", until=act.appeal_by)
        body: Doc = {"act": "appeal", "version": self.version} | ({"reason": self.reason} if self.reason else {})
        draft = new_draft(rules, game, context)
        return build_record(rules, game, context, draft, "ruled", by="seat", seat=self.seat, body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> AppealAct:
        return cls(record.body["version"], seat_of_record(record), record.body.get("reason", ""))


@dataclass(frozen=True)
class AnswerAppeals(Command):
    """Answer all open appeals against the act in a version. An overturned act is undone by commands of its own.

    Another officer than the author answers, and none with a stake. The owner answers about an own act if there is no
    such officer.
    """

    verb: ClassVar[str] = "AnswerAppeals"
    least_office: ClassVar[Office] = "arbiter"
    forbids_stake: ClassVar[bool] = True
    version: int
    outcome: Outcome

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        _require_appeals(game)
        act, officer = game.lasting.appeals.find_act(self.version), context.officer
        against = game.lasting.appeals.list_against(self.version)
        refuse_unless(act is not None and bool(against), "no_appeal")
        refuse_unless(all(appeal.answer is None for appeal in against), "appeal_answered")
        until = max((appeal.answer_by for appeal in against), default=0)
        refuse_unless(context.record_time(game) < until, "answer_late", until=until)
        body: Doc = {"act": "answer", "version": self.version, "outcome": self.outcome}
        refuse_unless(officer is not None, "office_insufficient")
        if officer is not None and act is not None:
            refuse_unless(not game.has_stake([officer.player]), "director_has_stake")
            is_own = officer.player == act.player
            is_last_word = is_own and officer.office == "owner" and answering_role(game, act) == "owner"
            refuse_unless(not is_own or is_last_word, "own_act")
            body |= {"answered_by": "owner"} if is_own else {}
        draft = new_draft(rules, game, context)
        return build_record(rules, game, context, draft, "ruled", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> AnswerAppeals:
        return cls(record.body["version"], record.body["outcome"])


def _require_appeals(game: AnyGame) -> None:
    """Raise RuleError unless the table has appeals, and the game runs or a ruling about its end is pending."""
    refuse_unless(bool(game.terms.get("appeals")), "appeals_off")
    if game.pending_ruling is None:
        require_running(game)

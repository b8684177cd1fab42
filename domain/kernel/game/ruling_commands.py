"""Commands of officers on the end of a game: rule it, withdraw the ruling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.kernel.game.command import (
    HASHED_UNLESS_DEFAULT,
    NOT_HASHED,
    Command,
    refuse_unless,
    require_running,
)
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.last_turn import find_adjournment
from domain.kernel.game.officers import Office, includes_office
from domain.kernel.game.record_builder import By, CommandContext, Transition, build_record, new_draft
from domain.kernel.game.rulings import DEFAULT_FINAL_AFTER, LEAST_FINAL_AFTER, Ending, is_ranking
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Seat


@dataclass(frozen=True)
class RuleEnding(Command):
    """End the game by a ruling: play ends now. Without a withdrawal the game is closed after a day.

    `places` are those of all seats, for `adjudicated`; `forfeits` the seats ranked last, for `forfeited`; `penalties`
    give points by seat (a decimal number as text).
    """

    verb: ClassVar[str] = "RuleEnding"
    least_office: ClassVar[Office] = "arbiter"
    reason: Ending
    places: Sequence[int] = ()
    forfeits: Sequence[Seat] = ()
    penalties: Mapping[str, int] = field(default_factory=dict)
    final_after: int = field(default=DEFAULT_FINAL_AFTER, metadata=HASHED_UNLESS_DEFAULT)
    """Seconds for withdrawing it; of an adjourned game an officer may choose 10 minutes to a day."""
    by: By = field(default="director", metadata=NOT_HASHED)
    """`clock`: the table's own time limit is over, and the ruling is final."""

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        seats = game.table.seats
        is_placed = len(self.places) == seats and is_ranking(self.places)
        refuse_unless(is_placed if self.reason == "adjudicated" else not self.places, "ruling_invalid", at="/places")
        all_known = len({*self.forfeits}) == len(self.forfeits) and all(0 <= s < seats for s in self.forfeits)
        is_split = all_known and 0 < len(self.forfeits) < seats
        is_right = is_split if self.reason == "forfeited" else not self.forfeits
        refuse_unless(is_right, "ruling_invalid", at="/forfeits")
        all_named = all(name == str(int(name)) and int(name) < seats for name in self.penalties)
        refuse_unless(all_named, "ruling_invalid", at="/penalties")
        self._check_end(rules, game, context)
        body: Doc = {"act": "end", "reason": self.reason}
        body |= {"final_after": self.final_after} if self.final_after != DEFAULT_FINAL_AFTER else {}
        lists = {"places": list(self.places), "forfeits": sorted(self.forfeits), "penalties": dict(self.penalties)}
        body |= {name: value for name, value in lists.items() if value}
        return build_record(rules, game, context, new_draft(rules, game, context), "ruled", by=self.by, body=body)

    def _check_end(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> None:
        """Refuse an end by the clock before its time, and a time for withdrawing that nobody may choose."""
        if self.by == "clock":
            limit = find_adjournment(rules, game)
            is_plain = self.reason == "adjourned" and not self.penalties and self.final_after == 0
            refuse_unless(limit is not None and is_plain and context.record_time(game) >= limit, "not_due")
            return
        is_chosen = self.reason == "adjourned" and LEAST_FINAL_AFTER <= self.final_after <= DEFAULT_FINAL_AFTER
        is_right = is_chosen or self.final_after == DEFAULT_FINAL_AFTER
        refuse_unless(is_right, "ruling_invalid", at="/final_after")

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> RuleEnding:
        body, by = record.body, record.public.get("by", "director")
        lists = body.get("places", ()), body.get("forfeits", ()), body.get("penalties", {})
        return cls(body["reason"], *lists, body.get("final_after", DEFAULT_FINAL_AFTER), by)


def may_withdraw(game: AnyGame, office: str | None) -> bool:
    """Return whether somebody in this role, None for nobody's, may withdraw the ruling about the game's end."""
    ruling = game.pending_ruling
    if ruling is None:
        return False
    appeals = game.lasting.appeals.list_against(ruling.version)
    is_overturned = any(each.answer is not None and each.answer.outcome == "overturned" for each in appeals)
    return ruling.office is None or is_overturned or includes_office(office, ruling.office)


@dataclass(frozen=True)
class WithdrawRuling(Command):
    """Withdraw the ruling of a version: play goes on as if no time had passed. For an equal or higher role.

    Any officer withdraws a ruling that an appeal has overturned.
    """

    verb: ClassVar[str] = "WithdrawRuling"
    least_office: ClassVar[Office] = "arbiter"
    version: int

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        ruling = game.pending_ruling
        refuse_unless(ruling is not None and ruling.version == self.version, "no_ruling")
        if ruling is not None:
            refuse_unless(context.record_time(game) < ruling.final_at, "no_ruling")
            office = context.officer.office if context.officer is not None else None
            refuse_unless(may_withdraw(game, office), "office_insufficient")
        draft, body = new_draft(rules, game, context), {"act": "withdraw", "version": self.version}
        return build_record(rules, game, context, draft, "ruled", by="director", body=body)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> WithdrawRuling:
        return cls(record.body["version"])

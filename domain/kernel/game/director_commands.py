"""Commands of the director and of the service: rewind, look, extend, shift, hold, reissue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from domain.kernel.game.command import Act, refuse_unless, require_running, seat_of_record
from domain.kernel.game.game import AnyGame, Game, Player, rewound
from domain.kernel.game.play_commands import open_decision
from domain.kernel.game.record_builder import By, Moment, Step, append, draft_of
from domain.kernel.game.table_commands import covers_for_absent, is_asked_in_secret
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import carry_on
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import S, Seated, Vacated
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Seat, Viewer

SOONEST = 60_000
"""ms that are left at least until a deadline that is brought forward."""


@dataclass(frozen=True)
class Rewind(Act):
    """Back to version `to` of the line (`not_on_line`); nothing is deleted. `reason` is a salted hash of the text.

    With `fresh` the epoch rises and what nobody has seen is dealt anew.
    """

    verb: ClassVar[str] = "Rewind"
    to: int
    by: By = "director"
    seat: Seat | None = None
    consent: Sequence[Seat] = ()
    reason: str = ""
    fresh: bool = False

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        refuse_unless(rules.meta.undo or self.by == "director", "undo_forbidden")
        target: Game[S] = moment.past(self.to)
        refuse_unless(target.status == "running" and target.version < game.version, "not_on_line", to=self.to)
        back = replace(
            target,
            epoch=game.epoch + self.fresh,
            version=game.version,
            last=game.last,
            at=game.at,
            players=game.players,
        )
        draft = draft_of(rules, back, moment)
        if self.fresh:
            everybody: tuple[Viewer, ...] = tuple(range(game.table.seats))
            rules.redeal(draft, everybody)
        asked = [
            seat
            for seat in range(game.table.seats)
            if covers_for_absent(game) and is_asked_in_secret(draft.state, seat)
        ]
        vacated = _seat_again(rules, draft, game, moment.time(game))
        cover, blind, body = [seat for seat in vacated if seat in asked], replace(back, board=""), self._body()
        step = append(rules, blind, moment, draft, "rewound", by=self.by, seat=self.seat, cover=cover, body=body)
        return Step(step.record, replace(rewound(rules, game, target, step.record), digests=step.game.digests))

    def _body(self) -> Doc:
        body: Doc = {"to": self.to, "entropy": "fresh" if self.fresh else "keep"}
        consent = {"consent": list(self.consent)} if self.consent else {}
        return body | consent | ({"reason": self.reason} if self.reason else {})

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Rewind:
        body = record.body
        return cls(
            body["to"],
            record.public["by"],
            record.public.get("seat"),
            body.get("consent", ()),
            body.get("reason", ""),
            body["entropy"] == "fresh",
        )


def _seat_again(rules: Ruleset[S], draft: Draft[S], game: Game[S], at: int) -> list[Seat]:
    """Who sits at the table belongs to the game, not to the line: the state is told what has changed since.

    Returns the seats that are vacated by that.
    """
    vacated: list[Seat] = []
    for seat, player in sorted(game.players.items()):
        if not player.id and seat not in draft.state.vacant and game.accounts[seat].held <= at:
            draft.add(Vacated(seat))
            rules.vacated(draft, seat)
            vacated.append(seat)
        elif seat in draft.state.vacant and (player.id or seat in game.kept):
            draft.add(Seated(seat))
    carry_on(draft)
    return vacated


@dataclass(frozen=True)
class Look(Act):
    """The director looks at what is hidden. That somebody ruled is public, what it was is shown after the end."""

    verb: ClassVar[str] = "Look"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        draft, ruling = draft_of(rules, game, moment), {"act": "look"}
        return append(rules, game, moment, draft, "ruled", by="director", ruling=ruling)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Look:
        return cls()


@dataclass(frozen=True)
class Extend(Act):
    """The deadline of the open decision moves by so much: after an outage, for a holiday, by the director's leave.

    It is not brought so near that a default would take somebody's turn; older logs hold some that were.
    """

    verb: ClassVar[str] = "Extend"
    decision: str
    ms: int
    by: By = "director"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        open_decision(rules, game, self.decision)
        if not moment.again and self.ms < 0 and game.deadline is not None:
            deadline, soonest = game.deadline, moment.time(game) + SOONEST
            refuse_unless(deadline + self.ms >= soonest, "deadline_too_soon", deadline=deadline, soonest=soonest)
        body = {"act": "extend", "decision": self.decision, "ms": self.ms}
        return append(rules, game, moment, draft_of(rules, game, moment), "ruled", by=self.by, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Extend:
        return cls(record.body["decision"], record.body["ms"], record.public["by"])


@dataclass(frozen=True)
class Shift(Act):
    """The clock of the service was set forward by so much, and all that is due with it: nobody has lost any time.

    Its record is the first of the new time, `Moment.now` has been set forward already. Once it is done for a reading of
    the clock that was set, the command's id sees to it that it is not done again.
    """

    verb: ClassVar[str] = "Shift"
    ms: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        body = {"act": "shift", "ms": self.ms, "reason": "clock_set_forward"}
        return append(rules, game, moment, draft_of(rules, game, moment), "ruled", by="clock", body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Shift:
        return cls(record.body["ms"])


@dataclass(frozen=True)
class Hold(Act):
    """For so many seconds from now no time of the seat's runs, and no default is played for it; 0 ends that.

    So a seat is kept for a substitute, or for a player who cannot play just now.
    """

    verb: ClassVar[str] = "Hold"
    seat: Seat
    seconds: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        draft, body = draft_of(rules, game, moment), {"act": "hold", "hold": self.seconds}
        return append(rules, game, moment, draft, "ruled", by="director", seat=self.seat, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Hold:
        return cls(seat_of_record(record), record.body["hold"])


@dataclass(frozen=True)
class Reissue(Act):
    """The player of a seat is given a new token in place of one that was lost: all can see that it was done."""

    verb: ClassVar[str] = "Reissue"
    seat: Seat

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        refuse_unless(game.status in ("open", "running"), "game_over")
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        draft, body = draft_of(rules, game, moment), {"act": "reissue"}
        return append(rules, game, moment, draft, "ruled", by="director", seat=self.seat, body=body)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Reissue:
        return cls(seat_of_record(record))

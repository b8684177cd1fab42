"""Commands of play: moves, timeouts, batch resolution, vacations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.errors import DecisionClosed
from domain.kernel.game.command import Act, refuse_unless, require_running, seat_of_record
from domain.kernel.game.game import AnyGame, Game, Player
from domain.kernel.game.record_builder import By, Moment, Step, append, draft_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decide, decide_all, decisions
from domain.kernel.rules.flow import S, State, assign
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.declarations import doc
from domain.types import Doc, Json, Seat


def open_decision(rules: Ruleset[S], game: Game[S], decision: str) -> None:
    """Raises DecisionClosed unless that decision is open."""
    if decision not in [d.id for d in decisions(rules, game.state, game.rewinds)]:
        raise DecisionClosed(decision)


def _top_decision(game: AnyGame) -> str:
    """Return the id of the decision that the top frame asks, or an empty string."""
    return f"{game.rewinds}-{game.frames[-1].n}" if game.frames else ""


@dataclass(frozen=True)
class Play(Act):
    """One move or an atomic list: all or nothing. With `decision` the whole list answers that decision.

    `by` the seat, or a director for it.
    """

    verb: ClassVar[str] = "Play"
    seat: Seat
    moves: Sequence[Json]
    decision: str | None = None
    by: By = "seat"

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(self.moves), "malformed_move")
        draft = draft_of(rules, game, moment)

        def before(state: S) -> None:
            if self.decision is not None:
                open_decision(rules, assign(game, state=state), self.decision)

        decide_all(draft, self.seat, self.moves, before, again=moment.again)
        kind, acts = "ruled" if self.by == "director" else "moved", [(self.seat, m) for m in self.moves]
        return append(rules, game, moment, draft, kind, by=self.by, seat=self.seat, acts=acts)

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Act:
        moves = record.acts()
        return cls(moves[0][0], [m for _, m in moves], by=record.public["by"])

    @property
    def lasting(self) -> bool:
        return self.decision is not None


@dataclass(frozen=True)
class Lapse(Act):
    """A missed deadline: one record with the defaults of all (or these) who still owe, in seat order.

    Each must be vacant and not held, or past its due time (`not_due`): grace, bank, vacation and holds counted in.
    Raises DecisionClosed when that decision is gone, or none of them owes it an answer.
    """

    verb: ClassVar[str] = "Lapse"
    decision: str
    seats: Sequence[Seat] = ()

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        open_decision(rules, game, self.decision)
        asked = game.state.top
        early = early_seats(game, [s for s in asked.owing if self._of(s)], moment.time(game), alone=moment.again)
        refuse_unless(not early, "not_due", seats=early)
        draft = draft_of(rules, game, moment)
        acts: list[tuple[Seat, Doc]] = []
        for seat in asked.owing:
            while self._of(seat) and _owes(draft.state, asked.n, seat):
                asking = decisions(rules, draft.state, game.rewinds)[0]
                acts.append((seat, doc(rules.default(draft.state, asking, seat))))
                decide(draft, *acts[-1])
        if not acts:
            raise DecisionClosed(self.decision)
        cover = asked.asked if asked.secret else ()
        return append(rules, game, moment, draft, "lapsed", by="clock", acts=acts, cover=cover)

    def _of(self, seat: Seat) -> bool:
        return not self.seats or seat in self.seats

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Lapse:
        return cls(_top_decision(game), sorted({s for s, _ in record.acts()}))


def early_seats(game: AnyGame, seats: Sequence[Seat], at: int, *, alone: bool = False) -> list[Seat]:
    """Those of the seats whose default must not be played at that time yet; `alone` as for `Game.dues`."""
    due, vacant = game.dues(seats, alone=alone), game.state.vacant
    held = {s for s in seats if game.accounts[s].held > at}
    return [s for s in seats if s in held or (s not in vacant and not (s in due and due[s] <= at))]


def _owes(state: State, n: int, seat: Seat) -> bool:
    return bool(state.frames) and state.top.n == n and seat in state.top.owing


@dataclass(frozen=True)
class Resolve(Act):
    """Batch work that no seat owes; its move is named after the frame."""

    verb: ClassVar[str] = "Resolve"
    decision: str

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        open_decision(rules, game, self.decision)
        draft = draft_of(rules, game, moment)
        decide_all(draft, None, [{"type": game.state.top.kind}])
        return append(rules, game, moment, draft, "resolved", by="engine")

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Resolve:
        return cls(_top_decision(game))


@dataclass(frozen=True)
class Rest(Act):
    """A seat takes whole days of its vacation: none of its time runs meanwhile. It may play all the same."""

    verb: ClassVar[str] = "Rest"
    seat: Seat
    days: int

    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        require_running(game)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        left = game.accounts[self.seat].days
        refuse_unless(1 <= self.days <= left, "no_vacation_left", days=left)
        draft = draft_of(rules, game, moment)
        return append(rules, game, moment, draft, "rested", by="seat", seat=self.seat, body={"days": self.days})

    @classmethod
    def of(cls, record: Record, game: AnyGame) -> Rest:
        return cls(seat_of_record(record), record.body["days"])

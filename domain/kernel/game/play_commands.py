"""Commands of play: moves, timeouts, batch resolution, vacations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.errors import DecisionClosed
from domain.kernel.game.command import (
    HASHED_UNLESS_DEFAULT,
    Command,
    refuse_after_last_turn,
    refuse_unless,
    require_play,
    require_running,
    seat_of_record,
)
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.officers import Office
from domain.kernel.game.record_builder import By, CommandContext, Transition, build_record, new_draft
from domain.kernel.game.seat_players import Player, bot_of
from domain.kernel.game.table_commands import is_asked_in_secret, vacate_seat
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decide, decide_all, decisions
from domain.kernel.rules.flow import S, State
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.declarations import doc
from domain.types import Doc, Json, Seat


def require_open_decision(rules: Ruleset[S], game: Game[S], decision: str) -> None:
    """Raise DecisionClosed unless the decision is open."""
    if decision not in [d.id for d in decisions(rules, game.state, game.lasting.rewinds.count)]:
        raise DecisionClosed(decision)


def require_known_time(game: AnyGame, context: CommandContext) -> int:
    """Return the playing time, as the beginning of a span up to a time of day.

    Raise RuleError `game_paused` during a pause without end: nobody knows the amount.
    """
    pause = game.pause_at(context.record_time(game))
    refuse_unless(pause is None or pause.until is not None, "game_paused", until=None)
    return context.playing_time(game)


def _top_decision(game: AnyGame) -> str:
    """Return the id of the top frame's decision, or an empty string."""
    return f"{game.lasting.rewinds.count}-{game.frames[-1].n}" if game.frames else ""


@dataclass(frozen=True)
class Play(Command):
    """One move or an atomic list: all or nothing. With `decision` the whole list answers this decision.

    `by` the seat, or a director on its behalf.
    """

    verb: ClassVar[str] = "Play"
    least_office: ClassVar[Office] = "arbiter"
    seat: Seat
    moves: Sequence[Json]
    decision: str | None = None
    by: By = "seat"

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_play(game, context.record_time(game))
        refuse_after_last_turn(rules, game)
        refuse_unless(0 <= self.seat < game.table.seats, "unknown_seat", seats=game.table.seats)
        refuse_unless(bool(self.moves), "malformed_move")
        draft = new_draft(rules, game, context)

        def before(state: S) -> None:
            if self.decision is not None:
                require_open_decision(rules, game.with_state(state), self.decision)

        decide_all(draft, self.seat, self.moves, before, replaying=context.replaying)
        kind, acts = "ruled" if self.by == "director" else "moved", [(self.seat, m) for m in self.moves]
        return build_record(rules, game, context, draft, kind, by=self.by, seat=self.seat, moves=acts)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Command:
        moves = record.moves()
        return cls(moves[0][0], [m for _, m in moves], by=record.public["by"])

    @property
    def is_retryable(self) -> bool:
        return self.decision is not None


@dataclass(frozen=True)
class Lapse(Command):
    """A missed deadline: one record with the defaults of all (or these) seats still owing, in seat order.

    Each must be vacant and not held, or past its due time (`not_due`): grace, bank, vacation and holds included. Raises
    DecisionClosed if the decision is gone, or none of them owes it an answer.
    """

    verb: ClassVar[str] = "Lapse"
    decision: str
    seats: Sequence[Seat] = ()

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        refuse_after_last_turn(rules, game)
        require_open_decision(rules, game, self.decision)
        frame = game.state.top
        early = early_seats(
            game,
            [s for s in frame.owing if self._includes(s)],
            context.record_time(game),
            individually=context.replaying,
        )
        refuse_unless(not early, "not_due", seats=early)
        draft = new_draft(rules, game, context)
        acts: list[tuple[Seat, Doc]] = []
        for seat in frame.owing:
            while self._includes(seat) and _owes(draft.state, frame.n, seat):
                asking = decisions(rules, draft.state, game.lasting.rewinds.count)[0]
                acts.append((seat, doc(rules.default(draft.state, asking, seat))))
                decide(draft, *acts[-1])
        if not acts:
            raise DecisionClosed(self.decision)
        cover = [*frame.asked] if frame.secret else []
        for seat in sorted({seat for seat, _ in acts}):
            if has_missed_too_many(game, seat):
                cover += [seat] if is_asked_in_secret(draft.state, seat) else []
                vacate_seat(rules, draft, seat)
        return build_record(rules, game, context, draft, "lapsed", by="clock", moves=acts, cover_seats=sorted({*cover}))

    def _includes(self, seat: Seat) -> bool:
        return not self.seats or seat in self.seats

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Lapse:
        return cls(_top_decision(game), sorted({s for s, _ in record.moves()}))


def has_missed_too_many(game: AnyGame, seat: Seat) -> bool:
    """Return whether one more missed deadline makes the seat of a person count as vacant, by the term `misses`."""
    limits, player = game.terms.get("misses"), game.players.get(seat, Player(""))
    if not isinstance(limits, dict) or seat in game.state.vacant or not player.id or bot_of(player):
        return False
    row, total = game.timing.misses[seat]
    return bool(row + 1 >= limits["row"] or total + 1 >= limits["all"])


def early_seats(game: AnyGame, seats: Sequence[Seat], at: int, *, individually: bool = False) -> list[Seat]:
    """Return the seats with a default not due at time `at`; `individually` as for `Game.due_times`."""
    if game.pause_at(at):
        return list(seats)
    due, vacant = game.due_times(seats, individually=individually), game.state.vacant
    on_hold = {s for s in seats if game.timing.banks[s].hold_end > at}
    return [s for s in seats if s in on_hold or (s not in vacant and not (s in due and due[s] <= at))]


def _owes(state: State, n: int, seat: Seat) -> bool:
    return bool(state.frames) and state.top.n == n and seat in state.top.owing


@dataclass(frozen=True)
class Resolve(Command):
    """Batch work owed by no seat; its move is named after the frame."""

    verb: ClassVar[str] = "Resolve"
    decision: str

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_play(game, context.record_time(game))
        refuse_after_last_turn(rules, game)
        require_open_decision(rules, game, self.decision)
        draft = new_draft(rules, game, context)
        decide_all(draft, None, [{"type": game.state.top.kind}])
        return build_record(rules, game, context, draft, "resolved", by="engine")

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Resolve:
        return cls(_top_decision(game))


@dataclass(frozen=True)
class Rest(Command):
    """A seat takes whole days of its vacation: none of its time runs meanwhile. It may still play.

    With `until` it takes as many days as last until that time, ms since 1970; days that it has taken count.
    """

    verb: ClassVar[str] = "Rest"
    seat: Seat
    days: int = 0
    until: int | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)

    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        require_running(game)
        refuse_unless(bool(game.players.get(self.seat, Player("")).id), "seat_empty", seat=self.seat)
        days, days_left = self._whole_days(game, context), game.timing.banks[self.seat].days
        refuse_unless(1 <= days <= days_left, "no_vacation_left", days=days_left)
        late = game.frames and self.seat in game.frames[-1].owing
        passed = late and any(
            at < context.playing_time(game) for at in game.as_at_standstill.seat_deadlines([self.seat])
        )
        refuse_unless(context.replaying or not passed, "deadline_passed")
        draft = new_draft(rules, game, context)
        return build_record(rules, game, context, draft, "rested", by="seat", seat=self.seat, body={"days": days})

    def _whole_days(self, game: AnyGame, context: CommandContext) -> int:
        if self.until is None:
            return self.days
        now, end = require_known_time(game, context), game.timing.banks[self.seat].vacation_end
        refuse_unless(self.until > now, "time_passed", now=now)
        refuse_unless(self.until > end, "already_until", until=end)
        return -((max(now, end) - self.until) // DAY)

    @classmethod
    def from_record(cls, record: Record, game: AnyGame) -> Rest:
        return cls(seat_of_record(record), record.body["days"])

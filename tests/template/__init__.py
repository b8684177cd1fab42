"""Sticks: the player taking the last stick loses. A complete ruleset to copy for a new one: see CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from domain.games.common.checks import require
from domain.kernel.rules import meta
from domain.kernel.rules.choices import Builder, one, span
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import OptionType
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import Admission, Context, Count, Fact, Meta, Move, Part, declared_classes
from domain.kernel.schema.validators import IntegerRange
from domain.types import Doc, Json, Seat


@dataclass(frozen=True)
class Sticks(State):
    heap: int = 0
    passed: tuple[int, ...] = ()
    loser: int | None = None


class Turn(Context, frozen=True):
    """STK-2: a seat takes sticks, or passes."""


class Take(Move, frozen=True):
    """STK-2: one to three sticks."""

    admission: ClassVar = Admission(("turn",), rule="STK-2")
    count: Annotated[int, Meta(ge=1, le=3)]


class Pass(Move, frozen=True):
    """STK-3: once in a game."""

    admission: ClassVar = Admission(("turn",), rule="STK-3")


class SticksTaken(Fact[Sticks], frozen=True):
    """STK-2: a seat has taken some; `left` are on the heap."""

    seat: int
    left: Count

    def evolve(self, s: Sticks) -> Sticks:
        return assign(s, heap=self.left, loser=None if self.left else self.seat)


class TurnPassed(Fact[Sticks], frozen=True):
    """STK-3: a seat has taken none."""

    seat: int

    def evolve(self, s: Sticks) -> Sticks:
        return assign(s, passed=(*s.passed, self.seat))


def do_take(d: Draft[Sticks], frame: Frame, seat: Seat, move: Take) -> None:
    require(move.count <= d.state.heap, "too_many", "STK-2", heap=d.state.heap)
    d.add(SticksTaken(seat, d.state.heap - move.count))
    _next(d, seat)


def do_pass(d: Draft[Sticks], frame: Frame, seat: Seat, move: Pass) -> None:
    require(seat not in d.state.passed, "passed_before", "STK-3")
    d.add(TurnPassed(seat))
    _next(d, seat)


def _next(d: Draft[Sticks], seat: Seat) -> None:
    d.end()
    if d.state.heap:
        d.ask(Turn(), (seat + 1) % d.state.seats)
    else:
        d.finish()


def build(s: Sticks, seat: Seat) -> Builder:
    if (yield one("type", ["take"] if seat in s.passed else ["take", "pass"])) == "pass":
        return Pass()
    return Take((yield span("count", 1, min(3, s.heap))))


def default(s: Sticks, decision: Decision, seat: Seat) -> Move:
    return Take(1)


class Board(Part, frozen=True):
    """The public view."""

    heap: int
    passed: tuple[int, ...]


def board(s: Sticks) -> Board:
    return Board(s.heap, s.passed)


def scores(s: Sticks) -> list[Score[Nothing]]:
    return [Score(seat, 1 + (seat == s.loser), int(seat != s.loser), Nothing()) for seat in range(s.seats)]


RULESET: Ruleset[Sticks] = Ruleset(
    package="tests.template",
    meta=meta.Meta(
        ruleset="template@1",
        title="Sticks",
        prefix="STK",
        seats=(2, 3, 4),
        options={"sticks": OptionType(IntegerRange(5, 99), 21, "STK-1")},
        codes={"too_many": "STK-2", "passed_before": "STK-3"},
    ),
    state=Sticks,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=declared_classes(__name__, Context),
    handlers=dict((on(Take, do_take), on(Pass, do_pass))),
    blank=lambda table: Sticks(table.seats, heap=table.options["sticks"]),
    setup=lambda d: d.ask(Turn(), 0),
    build=build,
    default=default,
    board=board,
    scores=scores,
)


def candidates(s: Sticks, seat: Seat) -> Iterator[Doc]:
    """Yield every move of a small world, well-formed or nearly, for the machine."""
    yield {"type": "pass"}
    yield from ({"type": "take", "count": n} for n in range(-1, 6))


def conserved(doc: Json) -> Json:
    """Return an invariant of the game, for the machine."""
    return doc["heap"] >= 0

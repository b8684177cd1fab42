"""Duels by dice, in two versions of the rules that differ in a figure of combat and in a field of the state.

Games of the first version go on under it when the second is there: a change of rules is another ruleset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from domain.kernel.rules import meta
from domain.kernel.rules.choices import Builder, one
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import Admission, Context, Count, Fact, Move, Part, declared_classes
from domain.types import Seat

MOST = 3


@dataclass(frozen=True)
class Duel(State):
    hits: tuple[int, ...] = (0, 0)


@dataclass(frozen=True)
class WornDuel(Duel):
    """The second version also counts blows."""

    blows: int = 0


class Turn(Context, frozen=True):
    """DU-1: a seat strikes."""


class Strike(Move, frozen=True):
    """DU-1: one die; from so many on it hits."""

    admission: ClassVar = Admission(("turn",), rule="DU-1")


class Struck(Fact[Any], frozen=True):
    """DU-1: a seat has so many hits now."""

    seat: int
    hits: Count

    def evolve(self, s: Any) -> Any:
        hits = tuple(self.hits if seat == self.seat else old for seat, old in enumerate(s.hits))
        worn = {"blows": s.blows + 1} if isinstance(s, WornDuel) else {}
        return assign(s, hits=hits, **worn)


class Board(Part, frozen=True):
    """The public view."""

    hits: tuple[int, ...]


def _board(s: Duel) -> Board:
    return Board(s.hits)


def _build(s: Duel, seat: Seat) -> Builder:
    yield one("type", ["strike"])
    return Strike()


def _scores(s: Duel) -> list[Score[Nothing]]:
    return [Score(seat, 1 + (s.hits[seat] < MOST), s.hits[seat], Nothing()) for seat in range(2)]


def _default(s: Duel, decision: Decision, seat: Seat) -> Move:
    return Strike()


def _rules(version: int, state: type[Duel], least: int) -> Ruleset[Any]:
    """The rules in one version: a die of `least` or more hits."""

    def do_strike(d: Draft[Any], frame: Frame, seat: Seat, move: Strike) -> None:
        hit = d.draws.roll("strike", 1, 6) >= least
        d.add(Struck(seat, d.state.hits[seat] + hit))
        d.end()
        if d.state.hits[seat] < MOST:
            d.ask(Turn(), 1 - seat)
        else:
            d.finish()

    return Ruleset(
        package="tests.template",
        meta=meta.Meta(ruleset=f"duel@{version}", title="Duel", prefix="DU", seats=(2,), options={}, codes={}),
        state=state,
        moves=declared_classes(__name__, Move),
        facts=declared_classes(__name__, Fact),
        frames=declared_classes(__name__, Context),
        handlers=dict((on(Strike, do_strike),)),
        blank=lambda table: state(table.seats),
        setup=lambda d: d.ask(Turn(), 0),
        build=_build,
        default=_default,
        board=_board,
        scores=_scores,
    )


FIRST = _rules(1, Duel, 5)
SECOND = _rules(2, WornDuel, 4)

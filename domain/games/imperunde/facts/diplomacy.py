"""Relations and the goal (IMP-4.4, IMP-6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.common.seats import replace_at
from domain.games.imperunde import state_updates
from domain.games.imperunde.state import ImpeRunde, Override, Pair, Relation
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat

S = ImpeRunde


class OverridesEnded(Fact[S], frozen=True):
    """IMP-6.2.1: relations forced by cards end; stances start at the base."""

    def evolve(self, s: S) -> S:
        return assign(s, pairs={k: Pair(p.base, (p.base, p.base)) for k, p in s.pairs.items()})


class StanceSet(Fact[S], frozen=True):
    """IMP-6.2.2: a seat's stance toward another; `change` counts its changes this turn."""

    seat: Seat
    target: Seat
    pair: str
    stance: Relation
    change: int

    def evolve(self, s: S) -> S:
        pair, at = s.pairs[self.pair], int(self.seat > self.target)
        changes = replace_at(pair.changes, at, self.change)
        return state_updates.pair(s, self.pair, stances=replace_at(pair.stances, at, self.stance), changes=changes)


class GoalProposed(Fact[S], frozen=True):
    """IMP-6.2.4: a seat has made its proposal of the turn."""

    seat: Seat
    goal: Count

    def evolve(self, s: S) -> S:
        return state_updates.nation(s, self.seat, proposals=s.nations[self.seat].proposals + 1)


class GoalVoted(Fact[S], frozen=True):
    """IMP-6.2.4: a seat votes for or against the proposed goal."""

    seat: Seat
    approve: bool


class GoalChanged(Fact[S], frozen=True):
    """IMP-6.2.4: the goal changes."""

    goal: Count

    def evolve(self, s: S) -> S:
        return assign(s, goal=self.goal)


class RelationsFixed(Fact[S], frozen=True):
    """IMP-6.2.5: the talks are over; the pairs named are at war, all others at peace."""

    wars: Sequence[str]

    def evolve(self, s: S) -> S:
        return assign(s, pairs={k: assign(p, base="war" if k in self.wars else "peace") for k, p in s.pairs.items()})


class RelationOverridden(Fact[S], frozen=True):
    """IMP-4.4: a card forces the relation of two seats until the next talks."""

    pair: str
    seats: tuple[Seat, Seat]
    relation: Relation
    card: str
    by: Seat

    def evolve(self, s: S) -> S:
        return state_updates.pair(s, self.pair, override=Override(self.relation, self.card, self.by))


FACTS = declared_classes(__name__, Fact)

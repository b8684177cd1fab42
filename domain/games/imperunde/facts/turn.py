"""Set-up, turn and end (IMP-5, IMP-6.1, IMP-12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from domain.games.imperunde import state_updates, unit_stacks
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Lot, Told
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat

S = ImpeRunde


class NationAssigned(Fact[S], frozen=True):
    """IMP-5.1: a seat plays a nation; its country is the seat's home."""

    seat: Seat
    nation: str

    def evolve(self, s: S) -> S:
        return state_updates.country(state_updates.nation(s, self.seat, home=self.nation), self.nation, owner=self.seat)


class OrderFixed(Fact[S], frozen=True):
    """IMP-6.1: the turn order; during the set-up, the order of IMP-5.1."""

    order: Sequence[Seat]

    def evolve(self, s: S) -> S:
        return assign(s, order=tuple(self.order))


class PiecesPlaced(Fact[S], frozen=True):
    """IMP-5.2: pieces of a seat come from the supply: in the set-up, by smuggling, as volunteers."""

    seat: Seat
    region: str
    units: Sequence[Told]

    def evolve(self, s: S) -> S:
        return state_updates.units(s, self.seat, self.region, unit_stacks.from_facts(self.units))


class ColonyAssigned(Fact[S], frozen=True):
    """IMP-5.4: a seat receives an initial colony with its kit."""

    seat: Seat
    country: str
    posts: Count
    forts: Count
    infantry: Count

    def evolve(self, s: S) -> S:
        units = (Lot("infantry", self.infantry),)
        return state_updates.country(s, self.country, owner=self.seat, posts=self.posts, forts=self.forts, units=units)


class TurnStarted(Fact[S], frozen=True):
    """IMP-6.1: a turn begins; counters of the turn restart."""

    turn: Count

    def evolve(self, s: S) -> S:
        fresh = tuple(assign(n, bought=0, proposals=0, ledger={}, spent={}) for n in s.nations)
        return assign(state_updates.expire(s, "phase_end", "turn_end"), turn=self.turn, phase=1, nations=fresh)


class PhaseStarted(Fact[S], frozen=True):
    """IMP-6: a phase begins; standing passes for the phase before are over."""

    phase: Count

    def evolve(self, s: S) -> S:
        return assign(state_updates.expire(s, "phase_end"), phase=self.phase)


class GameWon(Fact[S], frozen=True):
    """IMP-12.1, IMP-12.3: a seat has won, by the goal or as the first of the ranking after the last turn."""

    seat: Seat
    reason: Literal["goal", "turn_limit"]

    def evolve(self, s: S) -> S:
        return assign(s, winner=self.seat)


FACTS = declared_classes(__name__, Fact)

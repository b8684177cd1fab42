"""Facts of gold and unrest (SOE-14), population, and victory points (SOE-11)."""

from __future__ import annotations

from domain.games.struggle_of_empires import state_updates
from domain.games.struggle_of_empires.state import Side, Struggle
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat


class GoldPaid(Fact[Struggle], frozen=True):
    """SOE-14.3: gold goes to the bank."""

    seat: Seat
    gold: Count
    why: str
    left: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, gold=self.left)


class GoldReceived(Fact[Struggle], frozen=True):
    """SOE-10.1, SOE-8.11.3, SOE-9.5.14: gold comes from the bank."""

    seat: Seat
    gold: Count
    why: str
    left: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, gold=self.left)


class GoldGiven(Fact[Struggle], frozen=True):
    """SOE-8.3.3: an offer is accepted; the gold goes from the principal of a side to an ally."""

    side: Side
    seat: Seat
    to: Seat
    gold: Count
    left: Count
    to_left: Count

    def evolve(self, s: Struggle) -> Struggle:
        s = state_updates.empire(state_updates.empire(s, self.seat, gold=self.left), self.to, gold=self.to_left)
        offers = s.battle.party(self.side).offers
        accepted = tuple(flow.assign(o, accepted=True) if o.seat == self.to else o for o in offers)
        return state_updates.party(s, self.side, offers=accepted)


class LoanTaken(Fact[Struggle], frozen=True):
    """SOE-14.2: the bank lends; unrest rises."""

    seat: Seat
    gold: Count
    unrest: Count
    left: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.unrest(state_updates.empire(s, self.seat, gold=self.left), self.seat, self.unrest)


class UnrestAdded(Fact[Struggle], frozen=True):
    """SOE-7.4.2: unrest caused by a tile."""

    seat: Seat
    unrest: Count
    why: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.unrest(s, self.seat, self.unrest)


class UnrestRemoved(Fact[Struggle], frozen=True):
    """SOE-9.4.1: unrest falls by Government Reform."""

    seat: Seat
    unrest: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.unrest(s, self.seat, -self.unrest)


class PopulationPaid(Fact[Struggle], frozen=True):
    """SOE-7.4.2, SOE-7.5.1, SOE-7.8.1: population is spent."""

    seat: Seat
    paid: Count
    population: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, population=self.population)


class PopulationGrown(Fact[Struggle], frozen=True):
    """SOE-10.3, SOE-9.5.11: population rises, never above 9 (SOE-1.6)."""

    seat: Seat
    population: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, population=self.population)


class VpGained(Fact[Struggle], frozen=True):
    """SOE-8.11.3, SOE-9.4.2: victory points at once."""

    seat: Seat
    vp: Count
    why: str
    total: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, vp=self.total)


class RegionScored(Fact[Struggle], frozen=True):
    """SOE-11.1: victory points for the tokens in a region."""

    region: str
    seat: Seat
    vp: Count
    total: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, vp=self.total)


FACTS = declared_classes(__name__, Fact)

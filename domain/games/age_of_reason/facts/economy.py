"""Facts of gold and unrest (AOR-15), and of victory points (AOR-12)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason import state_updates
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat


class GoldPaid(Fact[AgeOfReason], frozen=True):
    """AOR-15.4: gold goes to the bank."""

    seat: Seat
    gold: Count
    why: str
    left: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, gold=self.left)


class GoldReceived(Fact[AgeOfReason], frozen=True):
    """AOR-12.1, AOR-11.1.1, AOR-11.5, AOR-9.9.3: gold comes from the bank."""

    seat: Seat
    gold: Count
    why: str
    left: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, gold=self.left)


class LoanTaken(Fact[AgeOfReason], frozen=True):
    """AOR-15.2: the bank lends; unrest rises to `total`."""

    seat: Seat
    gold: Count
    unrest: Count
    left: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, gold=self.left, unrest=self.total)


class UnrestAdded(Fact[AgeOfReason], frozen=True):
    """AOR-9.9: unrest of a battle, as far as the track goes (AOR-1.7)."""

    seat: Seat
    unrest: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, unrest=self.total)


class UnrestRemoved(Fact[AgeOfReason], frozen=True):
    """AOR-11.1.6: unrest falls by Government Reform."""

    seat: Seat
    unrest: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, unrest=self.total)


class VpGained(Fact[AgeOfReason], frozen=True):
    """AOR-9.9.3: victory points of a marker."""

    seat: Seat
    vp: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, vp=self.total)


class RegionScored(Fact[AgeOfReason], frozen=True):
    """AOR-12.2: victory points for the tokens in a region."""

    region: str
    seat: Seat
    vp: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, vp=self.total)


class UnrestRolled(Fact[AgeOfReason], frozen=True):
    """AOR-12.3: the dice against unrest, and the victory points lost by them."""

    seat: Seat
    dice: Sequence[Count]
    lost: Count
    total: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, vp=self.total)


FACTS = declared_classes(__name__, Fact)

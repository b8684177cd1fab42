"""Facts of the coalitions (AOR-6)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason.data import ALL_SLOTS
from domain.games.age_of_reason.state import AgeOfReason, Auction, StandingBid
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes, or_none
from domain.types import Seat


class OpenerDrawn(Fact[AgeOfReason], frozen=True):
    """AOR-6.3: the opener of the game turn's first auction, drawn or not."""

    seat: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, opener=self.seat)


class AuctionOpened(Fact[AgeOfReason], frozen=True):
    """AOR-6.2: one of the four auctions begins."""

    seat: Seat
    number: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, auction=Auction(self.number, self.seat))


class BidMade(Fact[AgeOfReason], frozen=True):
    """AOR-6.4: the standing bid; power `a` is to join upper, `b` lower."""

    seat: Seat
    amount: Count
    a: Maybe[str] = UNSET
    b: Maybe[str] = UNSET

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        bid = StandingBid(self.seat, self.amount, or_none(self.a), or_none(self.b))
        return flow.assign(s, auction=flow.assign(s.bidding, standing=bid, passes=0))


class BidPassed(Fact[AgeOfReason], frozen=True):
    """AOR-6.6: a seat passes, with the number of passes since the standing bid."""

    seat: Seat
    passes: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, auction=flow.assign(s.bidding, passes=self.passes))


class AuctionWon(Fact[AgeOfReason], frozen=True):
    """AOR-6.6: the auction is over."""

    seat: Seat
    amount: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, auction=None)


class Aligned(Fact[AgeOfReason], frozen=True):
    """AOR-6.6: a power takes a slot of a coalition."""

    power: str
    coalition: str
    slot: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, slots={**s.slots, self.slot: self.power})


class CoalitionsDrawn(Fact[AgeOfReason], frozen=True):
    """AOR-6.9: the powers take the slots in this order."""

    powers: Sequence[str]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, slots=dict(zip(ALL_SLOTS, self.powers, strict=False)))


class TurnOrderSet(Fact[AgeOfReason], frozen=True):
    """AOR-6.7: the turn order of the game turn."""

    seats: Sequence[Seat]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, turn_order=tuple(self.seats))


FACTS = declared_classes(__name__, Fact)

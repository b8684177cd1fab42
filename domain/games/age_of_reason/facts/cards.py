"""Facts of the cards: those known to the owner only, and the counts known to all (AOR-10, AOR-16.2)."""

from __future__ import annotations

from domain.games.age_of_reason import state_updates
from domain.games.age_of_reason.state import AgeOfReason
from domain.games.common.seats import replace_at
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat


class CardDiscarded(Fact[AgeOfReason], frozen=True):
    """AOR-9.10.1, AOR-8.1.4: a force card goes to the discard; its owner's own after a conversion."""

    seat: Seat
    card: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, discards=replace_at(s.discards, self.seat, (*s.discards[self.seat], self.card)))


class CardTakenBack(Fact[AgeOfReason], frozen=True):
    """AOR-11.1.4: a card goes from the discard to the hand."""

    seat: Seat
    card: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        left = tuple(card for card in s.discards[self.seat] if card != self.card)
        return flow.assign(s, discards=replace_at(s.discards, self.seat, left))


class DiscardCounted(Fact[AgeOfReason], frozen=True):
    """AOR-16.2: how many cards a discard has now."""

    seat: Seat
    cards: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, discard_size=self.cards)


FACTS = declared_classes(__name__, Fact)

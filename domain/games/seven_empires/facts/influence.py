"""Facts of influence cards and workers (SE7-2.8 to SE7-2.10, SE7-11.3)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.seven_empires import state_updates
from domain.games.seven_empires.state import Seven
from domain.kernel.schema.declarations import Fact, declared_classes
from domain.types import Seat


class CardsDealt(Fact[Seven], frozen=True):
    """SE7-2.8: the first influence cards of a seat."""

    seat: Seat
    cards: Sequence[str]

    def evolve(self, s: Seven) -> Seven:
        return state_updates.card(s, self.seat, *self.cards)


class CardDrafted(Fact[Seven], frozen=True):
    """SE7-2.9, SE7-2.10: a seat takes a card in the draft."""

    seat: Seat
    card: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.card(s, self.seat, self.card)


class InfluenceTaken(Fact[Seven], frozen=True):
    """SE7-11.3: a seat takes the top card of a pile."""

    seat: Seat
    card: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.card(s, self.seat, self.card)


class WorkerTaken(Fact[Seven], frozen=True):
    """SE7-11.2: a seat takes a worker from the stock."""

    seat: Seat
    card: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.card(s, self.seat, self.card)


FACTS = declared_classes(__name__, Fact)

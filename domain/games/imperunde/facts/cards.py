"""The secret service, and standing passes (IMP-6.2.1, IMP-9, IMP-11.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import field

from domain.games.common.seats import replace_at
from domain.games.imperunde import state_updates, unit_stacks
from domain.games.imperunde.moves import Purchase, Want
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Told
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Fact, Maybe, Part, declared_classes
from domain.types import Seat

S = ImpeRunde

Bonus = Literal["coup_de_main", "ambush", "surprise_attack"]


class Terms(Part, frozen=True):
    """The parameters of a played card (IMP-9.4)."""

    target_seat: Maybe[int] = UNSET
    from_: Maybe[str] = field(name="from", default=UNSET)
    to: Maybe[str] = UNSET
    zone: Maybe[str] = UNSET
    unit: Maybe[str] = UNSET
    units: Maybe[Sequence[Want]] = UNSET
    country: Maybe[str] = UNSET
    purchases: Maybe[Sequence[Purchase]] = UNSET
    seats: Maybe[Sequence[int]] = UNSET
    reveal: Maybe[bool] = UNSET


# --- piles and hands -----------------------------------------------------------------------------------------


class DeckShuffled(Fact[S], frozen=True):
    """IMP-6.2.1: the number of cards in the draw pile; `discard`: the played ones are among them."""

    pile: int
    discard: bool

    def evolve(self, s: S) -> S:
        return assign(s, pile=self.pile, discard=() if self.discard else s.discard)


class DeckOrdered(Fact[S], frozen=True):
    """IMP-6.2.1: the draw pile, first = top; to nobody."""

    cards: Sequence[str]

    def evolve(self, s: S) -> S:
        return assign(s, deck=tuple(self.cards))


class CardDealt(Fact[S], frozen=True):
    """IMP-6.2.1, IMP-6.4.5: a seat takes the top card: `cards` in its hand, `pile` left."""

    seat: Seat
    cards: int
    pile: int

    def evolve(self, s: S) -> S:
        return assign(state_updates.nation(s, self.seat, cards=self.cards), pile=self.pile, deck=s.deck[1:])


class CardDrawn(Fact[S], frozen=True):
    """IMP-6.2.1, IMP-6.4.5: the drawn card, told to its seat."""

    seat: Seat
    card: str

    def evolve(self, s: S) -> S:
        return assign(s, hands=replace_at(s.hands, self.seat, (*s.hands[self.seat], self.card)))


class HandDealt(Fact[S], frozen=True):
    """IMP-14.1: a hand unknown to a viewer is replaced; in no stored record."""

    seat: Seat
    cards: Sequence[str]

    def evolve(self, s: S) -> S:
        return assign(s, hands=replace_at(s.hands, self.seat, tuple(self.cards)))


# --- playing -------------------------------------------------------------------------------------------------


class CardPlayed(Fact[S], frozen=True):
    """IMP-9.1: a card goes face up to the discard pile; `cards` are left in the hand."""

    seat: Seat
    card: str
    cards: int
    terms: Maybe[Terms] = UNSET

    def evolve(self, s: S) -> S:
        hand = state_updates.without(s.hands[self.seat], self.card)
        played = state_updates.nation(s, self.seat, cards=self.cards)
        return assign(played, hands=replace_at(s.hands, self.seat, hand), discard=(*s.discard, self.card))


class CardResolved(Fact[S], frozen=True):
    """IMP-11.4: the card takes effect."""

    seat: Seat
    card: str


class CardCountered(Fact[S], frozen=True):
    """IMP-11.4: the card has no effect."""

    seat: Seat
    card: str


class BonusWon(Fact[S], frozen=True):
    """IMP-8.5.1: a bonus is in effect in this combat."""

    seat: Seat
    card: Bonus

    def evolve(self, s: S) -> S:
        if self.card == "coup_de_main":
            return state_updates.combat(s, coup=(*s.fight.coup, self.seat))
        return state_updates.combat(s, ambush=True) if self.card == "ambush" else state_updates.combat(s, surprise=True)


class PiratesHired(Fact[S], frozen=True):
    """IMP-9.4.3: the black ships of a zone are a seat's, as far as its supply goes."""

    seat: Seat
    zone: str
    units: Sequence[Told]

    def evolve(self, s: S) -> S:
        return state_updates.units(
            state_updates.zone(s, self.zone, pirates={}), self.seat, self.zone, unit_stacks.from_facts(self.units)
        )


class ColonyPlundered(Fact[S], frozen=True):
    """IMP-9.4.14: a seat gets the tax of another's colony."""

    seat: Seat
    country: str
    owner: Seat

    def evolve(self, s: S) -> S:
        return state_updates.country(s, self.country, plundered_by=self.seat)


class HandShown(Fact[S], frozen=True):
    """IMP-9.4.16: a hand is shown; to the player of the card, or to all."""

    seat: Seat
    target: Seat
    cards: Sequence[str]

    def evolve(self, s: S) -> S:
        return assign(s, seen=tuple(self.cards))


class CardStolen(Fact[S], frozen=True):
    """IMP-9.4.16: a card of the target goes into the draw pile; to both, or to all."""

    seat: Seat
    target: Seat
    card: str

    def evolve(self, s: S) -> S:
        return assign(s, hands=replace_at(s.hands, self.target, state_updates.without(s.hands[self.target], self.card)))


class TheftDone(Fact[S], frozen=True):
    """IMP-9.4.16: the number of cards left to the target; its hand is no longer on show."""

    seat: Seat
    target: Seat
    cards: int

    def evolve(self, s: S) -> S:
        return assign(state_updates.nation(s, self.target, cards=self.cards), seen=())


# --- windows -------------------------------------------------------------------------------------------------


class AutoPassSet(Fact[S], frozen=True):
    """IMP-11.8: a seat starts or stops passing windows of these kinds by itself; told to this seat."""

    seat: Seat
    windows: Sequence[str]
    until: str

    def evolve(self, s: S) -> S:
        rest = {w: u for w, u in s.auto[self.seat].items() if w not in self.windows}
        new = {} if self.until == "off" else dict.fromkeys(self.windows, self.until)
        return assign(s, auto=replace_at(s.auto, self.seat, {**rest, **new}))


FACTS = declared_classes(__name__, Fact)

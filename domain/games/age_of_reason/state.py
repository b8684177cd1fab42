"""State of a game: the table. Rules ask it simple questions; facts alone change it.

The names are those of AOR-21.1, except `empires` for the page's `seats` (the kernel's word for their number), `tokens`
for those of all seven powers, and `spaces` for the action board. A hand is not stored: it is the rest of the deck.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from domain.games.age_of_reason.data import (
    ALL_SLOTS,
    COALITION,
    CONSTANTS,
    DECKS,
    HOME,
    MARKERS,
    POWERS,
    SLOTS,
    SPACES,
    TOKENS,
    UNREST_MAX,
)
from domain.games.common.seats import clockwise
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Seat

T = TypeVar("T")

Side = Literal["attacker", "defender"]
SIDES: tuple[Side, Side] = ("attacker", "defender")


@dataclass(frozen=True)
class Terms:
    """The table's options (AOR-2.3)."""

    power_assignment: str = "choose"
    powers: tuple[str, ...] = ()
    first_player: int | None = None
    """None: drawn."""
    first_alliances: str = "auction"
    cossacks_space: bool = True
    support_scope: str = "table"


@dataclass(frozen=True)
class Empire:
    """Public data of a seat."""

    power: str | None = None
    gold: int = 0
    vp: int = 0
    unrest: int = 0
    discard_size: int = 0

    @property
    def home(self) -> str:
        """The home country; empty before a power is chosen."""
        return HOME.get(self.power or "", "")

    @property
    def means(self) -> int:
        """AOR-15.3: gold, plus the most it could borrow."""
        rate: int = CONSTANTS["loan_gold_per_unrest"]
        return self.gold + rate * (UNREST_MAX - self.unrest)


@dataclass(frozen=True)
class Sealed:
    """A seat's card laid face down, or its secret decision; `powers` are those it hires (AOR-4.6.2).

    None for no card, and for no decision on powers yet.
    """

    card: str | None = None
    powers: tuple[str, ...] | None = None


@dataclass(frozen=True)
class StandingBid:
    """The standing bid of an auction: power `a` is to join upper, `b` lower."""

    seat: int
    amount: int
    a: str | None = None
    b: str | None = None


@dataclass(frozen=True)
class Auction:
    """The current auction; `passes` counts those since the standing bid."""

    number: int
    opener: int
    standing: StandingBid | None = None
    passes: int = 0


@dataclass(frozen=True)
class Turn:
    """The turn record of AOR-7.1.2."""

    seat: int
    placed: bool = False
    attacks_made: int = 0
    attacks_allowed: int = 1


@dataclass(frozen=True)
class Battle:
    """The current battle, all of it public; fields not known yet are None (AOR-21.4)."""

    region: str
    attacker: int
    power: str | None = None
    """The attacked power; None for a marker."""
    marker: str | None = None
    defender: int | None = None
    """The attacked seat; None for a power without seat and a marker."""
    asked: tuple[int, ...] = ()
    """Seats asked for a card, ascending."""
    laid: tuple[int, ...] | None = None
    """Allies with a card laid, ascending."""
    cards: dict[str, str] | None = None
    """Seat -> its laid card."""
    hired: dict[str, tuple[str, ...]] | None = None
    """Side -> powers hired by its principal."""
    dice: dict[str, tuple[int, ...]] | None = None
    """Side -> two dice."""
    strength: dict[str, int] | None = None
    """Side -> strength with these dice."""

    def principal(self, side: str) -> int | None:
        """Return the seat of the attacker or the defender."""
        return self.attacker if side == "attacker" else self.defender

    def card_of(self, seat: Seat | None) -> str | None:
        """Return the card shown by the seat."""
        return (self.cards or {}).get(str(seat))


@dataclass(frozen=True)
class AgeOfReason(State):
    """A game of Age of Reason."""

    terms: Terms = field(default_factory=Terms)
    game_turn: int = 0
    """0 during the set-up."""
    round: int = 0
    """0 outside the actions."""
    first_player: int | None = None
    opener: int | None = None
    """Opener of this game turn's first auction."""
    slots: dict[str, str] = field(default_factory=dict)
    """Slot "1".."8" of the alliance display -> power; an empty slot is not named."""
    turn_order: tuple[int, ...] = ()
    auction: Auction | None = None
    empires: Annotated[tuple[Empire, ...], BY_SEAT] = ()
    tokens: dict[str, dict[str, int]] = field(default_factory=dict)
    """Power -> region -> tokens on the map, of all seven powers. Counts of 0 are not named."""
    discards: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    """Each seat's own (AOR-16.2)."""
    sealed: Annotated[tuple[Sealed | None, ...], BY_SEAT] = ()
    """Each seat's own while it is sealed (AOR-4.6.2)."""
    markers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Region -> its markers, in order of arrival."""
    bag: tuple[str, ...] = ()
    """Markers still to be drawn, in the order of the data."""
    gone: tuple[str, ...] = ()
    """Markers out of the game."""
    spaces: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Space of the action board -> seats with a token there, in the order of placing."""
    turn: Turn | None = None
    battle: Battle | None = None

    # --- optional parts, required in their phase

    @property
    def acting(self) -> Turn:
        """The current turn."""
        return _require(self.turn)

    @property
    def bidding(self) -> Auction:
        """The current auction."""
        return _require(self.auction)

    @property
    def fight(self) -> Battle:
        """The current battle."""
        return _require(self.battle)

    # --- questions

    @property
    def phase(self) -> str:
        """`setup`, `coalitions`, `actions` or `finished` (AOR-21.4)."""
        if self.over:
            return "finished"
        return "actions" if self.turn_order else "coalitions" if self.game_turn else "setup"

    @property
    def everybody(self) -> range:
        """All seats, ascending."""
        return range(self.seats)

    def round_the_table(self) -> list[Seat]:
        """Return all seats clockwise from the first player."""
        return clockwise(self.first_player or 0, self.seats)

    def power(self, seat: Seat) -> str:
        """Return the power of a seat."""
        return _require(self.empires[seat].power)

    def seat_of(self, power: str | None) -> Seat | None:
        """Return the seat of a power; None for a non-player power (AOR-2.4)."""
        return next((x for x in self.everybody if power and self.empires[x].power == power), None)

    def tokens_of(self, seat: Seat) -> dict[str, int]:
        """Return region -> own tokens of a seat on the map."""
        return self.tokens.get(self.empires[seat].power or "", {})

    def on_board(self, seat: Seat, space: str) -> int:
        """Return the number of a seat's tokens on a kind of space."""
        return self.spaces.get(space, ()).count(seat)

    def reserve(self, seat: Seat) -> int:
        """Return the number of tokens left to place (AOR-1.3)."""
        return TOKENS - sum(self.tokens_of(seat).values()) - sum(seats.count(seat) for seats in self.spaces.values())

    def unaligned(self) -> list[str]:
        """Return the powers in no coalition, in the order of the data (AOR-6.1)."""
        aligned = self.slots.values()
        return [power for power in POWERS if power not in aligned]

    def members(self, coalition: str) -> list[str]:
        """Return the powers of a coalition, in slot order."""
        return [self.slots[slot] for slot in SLOTS[coalition] if slot in self.slots]

    def coalition_of(self, power: str) -> str | None:
        """Return `upper`, `lower`, or None for an unaligned power."""
        return next((COALITION[slot] for slot, each in self.slots.items() if each == power), None)

    def in_order(self) -> list[str]:
        """Return the powers by the number of their slot (AOR-6.7)."""
        return [self.slots[slot] for slot in ALL_SLOTS if slot in self.slots]

    def places(self, space: str) -> int:
        """Return the number of places of a kind of space at this table (AOR-7.4.2)."""
        return sum(least <= self.seats for least in SPACES[space].places) if self.exists(space) else 0

    def exists(self, space: str) -> bool:
        """Return whether the table has a kind of space (AOR-11.3)."""
        return space in SPACES and (SPACES[space].option is None or self.terms.cossacks_space)

    def lying(self) -> list[str]:
        """Return the markers on the map."""
        return [marker for markers in self.markers.values() for marker in markers]

    def lies(self, marker: str) -> bool:
        """Return whether a marker with this id is on the map."""
        return marker in MARKERS and marker in self.markers.get(MARKERS[marker].region, ())

    def hand(self, seat: Seat) -> list[str]:
        """Return the cards in a seat's hand: neither discarded, nor sealed, nor shown in the battle (AOR-9.5.3)."""
        return memo(self, f"hand {seat}", lambda: self._hand(seat))

    def _hand(self, seat: Seat) -> list[str]:
        away = {*self.discards[seat], self._sealed_card(seat), self._shown_card(seat)}
        return [card for card in DECKS.get(self.empires[seat].power or "", ()) if self.game_turn and card not in away]

    def hand_size(self, seat: Seat) -> int:
        """Return the public size of a hand: a sealed card still counts as in hand (AOR-4.6.5)."""
        cards: int = len(DECKS.get(self.empires[seat].power or "", ())) if self.game_turn else 0
        return cards - self.empires[seat].discard_size - (self._shown_card(seat) is not None)

    def _sealed_card(self, seat: Seat) -> str | None:
        sealed = self.sealed[seat]
        return sealed.card if sealed else None

    def _shown_card(self, seat: Seat) -> str | None:
        return self.battle.card_of(seat) if self.battle else None


D = Draft[AgeOfReason]
"""A record of this game in the making."""


def _require(value: T | None) -> T:
    if value is None:
        raise AssertionError("asked for outside its phase")
    return value

"""State of a game: the table. Rules ask it simple questions; facts alone change it.

The names are those of SE7-0.11. Supplies, piles and workers are not stored: they are the rest, found nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from domain.games.common.seats import clockwise
from domain.games.seven_empires.data import (
    ARMIES,
    CARDS,
    CITIES,
    CITY_CROWNS,
    EMPIRES,
    FLAGS,
    OWN_CITIES,
    PIECES,
    PILES,
    WORKERS,
    Unit,
)
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Seat

T = TypeVar("T")

Mode = Literal["monarch", "influence", "neutral", "delegation"]
MODES: tuple[Mode, ...] = ("monarch", "influence", "neutral", "delegation")
"""SE7-4.2: the modes A, B, N and C."""

Counts = Mapping[str, int]
"""Unit -> number."""
NONE: Counts = {}


@dataclass(frozen=True)
class Terms:
    """The table's options (SE7-2)."""

    setup: str = "distribution"
    distribution_card: str | None = None
    """None: drawn, or none at all."""
    decades: int = 8
    quick_start: bool = False


@dataclass(frozen=True)
class Empire:
    """Data of one empire besides its pieces on the map."""

    power: int = 0
    markers: dict[str, str] = field(default_factory=dict)
    """Action -> slot; markers on the tray are not named."""
    monarch: int | None = None


@dataclass(frozen=True)
class Turn:
    """The current turn (SE7-0.9)."""

    seat: int
    mode: str
    """One of MODES (SE7-4.2)."""
    empire: str | None = None
    actor: int | None = None
    action: str | None = None


@dataclass(frozen=True)
class Movement:
    """The marks inside a movement (SE7-0.12)."""

    able: dict[str, dict[str, int]] = field(default_factory=dict)
    """Region -> unit -> how many can still move out."""
    used: tuple[str, ...] = ()
    """Seas with a two-master's transport used."""
    armies: bool = False
    """True after the move of an army; then ships cannot move (SE7-8.1)."""
    refused: tuple[str, ...] = ()
    """Regions with a refused passage (SE7-8.7)."""


@dataclass(frozen=True)
class Seven(State):
    """A game of 7 Empires.

    Most of its members are one-line questions of the rules about a seat, an empire or a region, and the cached tables
    behind them.
    """

    terms: Terms = field(default_factory=Terms)
    first_seat: int | None = None
    card: str | None = None
    """The distribution card used."""
    decade: int = 0
    """0 during the set-up."""
    turn_in_decade: int = 0
    pawn: int | None = None
    """Holder of the orange pawn."""
    turn: Turn | None = None
    movement: Movement | None = None
    empires: dict[str, Empire] = field(default_factory=dict)
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    units: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """Region -> empire -> unit -> number; units of two empires only while a counter-fight is open."""
    flags: dict[str, str] = field(default_factory=dict)
    """Region -> empire."""
    levels: dict[str, int] = field(default_factory=dict)
    """City region -> level of its city tile; those without one are not named."""
    palaces: dict[str, int] = field(default_factory=dict)
    """City region -> crowns of its palace; those without one are not named."""
    revealed: tuple[str, ...] = ()
    """Hourglass tiles of past decades."""
    hourglass: tuple[str, ...] = ()
    """Tile of each decade, all of them, the laurel last; hidden."""
    left_out: str | None = None
    """The tile put aside for nine decades; hidden."""

    # --- optional parts, required in their phase

    @property
    def current(self) -> Turn:
        """The current turn."""
        return _require(self.turn)

    @property
    def moving(self) -> Movement:
        """The current movement."""
        return _require(self.movement)

    @property
    def acting(self) -> str:
        """The acting empire."""
        return _require(self.current.empire)

    @property
    def actor(self) -> Seat:
        """The seat deciding for the acting empire."""
        return _require(self.current.actor)

    # --- seats and cards

    @property
    def everybody(self) -> range:
        """All seats, ascending."""
        return range(self.seats)

    @property
    def by_position(self) -> list[Seat]:
        """SE7-0.1: all seats, P1 first."""
        return clockwise(self.first_seat or 0, self.seats)

    def next_seat(self, seat: Seat) -> Seat:
        """Return the next seat clockwise."""
        return (seat + 1) % self.seats

    @property
    def influences(self) -> tuple[Counts, ...]:
        """SE7-1.7: the influence of every seat, by empire; 0 is omitted."""
        return memo(self, "influences", self._influences, (self.hands,))

    def _influences(self) -> tuple[Counts, ...]:
        found: list[dict[str, int]] = [{} for _ in self.hands]
        for seat, hand in enumerate(self.hands):
            for card in hand:
                empire = CARDS[card].empire
                found[seat][empire] = found[seat].get(empire, 0) + CARDS[card].value
        return tuple(found)

    def influence(self, seat: Seat, empire: str) -> int:
        """SE7-1.7."""
        return self.influences[seat].get(empire, 0)

    @property
    def held_cards(self) -> frozenset[str]:
        """Cards in any hand."""
        return memo(self, "held", lambda: frozenset(c for hand in self.hands for c in hand), (self.hands,))

    @property
    def piles(self) -> Mapping[str, list[str]]:
        """SE7-1.6: the rest of every pile, from the top."""
        return memo(self, "piles", self._piles, (self.hands,))

    def _piles(self) -> Mapping[str, list[str]]:
        held = self.held_cards
        return {empire: [card for card in pile if card not in held] for empire, pile in PILES.items()}

    def pile(self, empire: str) -> list[str]:
        """SE7-1.6: the rest of an empire's pile, from the top."""
        return self.piles[empire]

    def workers(self) -> list[str]:
        """Return the empires with their worker in the stock, in flag order."""
        return memo(self, "workers", self._workers, (self.hands,))

    def _workers(self) -> list[str]:
        held = self.held_cards
        return [empire for empire, card in WORKERS.items() if card not in held]

    # --- empires

    def monarch(self, empire: str) -> Seat | None:
        """SE7-0.3; None for a neutral empire (SE7-13.1)."""
        return self.empires[empire].monarch

    def acted(self, empire: str) -> bool:
        """SE7-10.3: its marker is on slot I."""
        return "I" in self.empires[empire].markers.values()

    def waiting(self) -> list[str]:
        """SE7-4.2: U, the empires still to act in this decade."""
        return [empire for empire in EMPIRES if not self.acted(empire)]

    def supply(self, empire: str, unit: str) -> int:
        """SE7-0.10."""
        return self.supplies[empire][unit]

    @property
    def supplies(self) -> Mapping[str, Counts]:
        """SE7-0.10: empire -> unit -> how many are not on the map."""
        return memo(self, "supplies", self._supplies, (self.units,))

    def _supplies(self) -> Mapping[str, Counts]:
        found = {empire: {**pieces} for empire, pieces in PIECES.items()}
        for there in self.units.values():
            for empire, units in there.items():
                left = found[empire]
                for unit, n in units.items():
                    left[unit] -= n
        return found

    @property
    def flag_counts(self) -> Counts:
        """Empire -> its flags on the board; 0 is not named."""
        return memo(self, "flag_counts", lambda: Counter(self.flags.values()), (self.flags,))

    def flags_of(self, empire: str) -> int:
        """Return the number of its flags on the board."""
        return self.flag_counts.get(empire, 0)

    def flags_left(self, empire: str) -> int:
        """Return the number of its flags off the board."""
        return FLAGS[empire] - self.flags_of(empire)

    # --- regions

    def units_of(self, region: str, empire: str) -> Counts:
        """Return the units of an empire in a region."""
        return self.units.get(region, {}).get(empire, NONE)

    def foreign(self, region: str, empire: str) -> tuple[str, Counts] | None:
        """SE7-0.6: the empire foreign to this one with units there, and these units."""
        return next((found for found in self.units.get(region, {}).items() if found[0] != empire), None)

    def army_there(self, region: str, empire: str) -> str | None:
        """Return the empire of a foreign army in a region."""
        found = self.foreign(region, empire)
        return found[0] if found and any(unit in found[1] for unit in ARMIES) else None

    @property
    def occupied_cities(self) -> frozenset[str]:
        """SE7-0.7: the occupied city regions."""
        return memo(self, "lost", self._occupied_cities, (self.units,))

    def _occupied_cities(self) -> frozenset[str]:
        units = self.units
        held = [(region, units[region], city.empire) for region, city in CITIES.items() if region in units]
        return frozenset(region for region, there, owner in held if len(there) > 1 or owner not in there)

    def occupied(self, region: str) -> bool:
        """SE7-0.7: of a city region."""
        return region in self.occupied_cities

    def free_cities(self, empire: str) -> list[str]:
        """Return its own unoccupied city regions, in data order."""
        lost = self.occupied_cities
        return [region for region in OWN_CITIES[empire] if region not in lost]

    def level(self, region: str) -> int:
        """SE7-1.4: of a city region, 0 to 2."""
        return self.levels.get(region, 0)

    def product(self, region: str) -> Unit:
        """SE7-5.2: the primary unit of a city with a city tile."""
        return CITIES[region].makes[self.levels[region] - 1]

    def crowns(self, empire: str) -> int:
        """SE7-6.2: on city tiles and palaces of its unoccupied city regions."""
        return self.crown_counts[empire]

    @property
    def crown_counts(self) -> Counts:
        """SE7-6.2: of every empire."""
        # Units move with every record, but seldom a city is lost or freed.
        kept: dict[frozenset[str], Counts] = memo(self, "crown_counts", dict, (self.levels, self.palaces))
        lost = self.occupied_cities
        if lost not in kept:
            kept[lost] = self._crown_counts(lost)
        return kept[lost]

    def _crown_counts(self, lost: frozenset[str]) -> Counts:
        found = dict.fromkeys(OWN_CITIES, 0)
        for region, level in self.levels.items():
            if region not in lost:
                found[CITIES[region].empire] += CITY_CROWNS[level - 1]
        for region, crowns in self.palaces.items():
            if region not in lost:
                found[CITIES[region].empire] += crowns
        return found


D = Draft[Seven]
"""A record of this game in the making."""


def _require(value: T | None) -> T:
    if value is None:
        raise AssertionError("asked for outside its phase")
    return value


def total(units: Counts) -> int:
    """Return the number of units."""
    return sum(units.values())

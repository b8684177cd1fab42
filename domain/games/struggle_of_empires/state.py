"""State of a game: the table. Rules ask it simple questions; facts alone change it.

The names are those of SOE-21.1, except `empires` for the page's `seats` (the kernel's word for their number). Supplies
and token reserves are not stored: they are the pieces off the map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from domain.games.common.seats import clockwise
from domain.games.struggle_of_empires.data import ALLIANCES, HOME, MARKERS, PIECES, TILES, TOKENS
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import State
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Seat

T = TypeVar("T")

Side = Literal["attacker", "defender"]
SIDES: tuple[Side, Side] = ("attacker", "defender")

Stage = Literal["naval", "land"]
"""Stage of a battle."""
Winner = Literal["attacker", "defender", "tie"]
Cause = Literal["defeat", "tie", "seven"]
"""Cause of a loss (SOE-8.9.1)."""


@dataclass(frozen=True)
class Terms:
    """The table's options (SOE-2.3)."""

    power_assignment: str = "choose"
    powers: tuple[str, ...] = ()
    first_player: int | None = None
    """None: drawn."""
    unrest_visibility: str = "hidden"


@dataclass(frozen=True)
class Tile:
    """One copy of a tile owned by a seat; `used` when turned, or on the map (Blockade)."""

    tile: str
    used: bool = False


@dataclass(frozen=True)
class Empire:
    """Data of one seat. Counts of 0 are omitted."""

    power: str | None = None
    gold: int = 0
    population: int = 0
    vp: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    """Region -> own tokens in it, without captured ones."""
    units: dict[str, dict[str, int]] = field(default_factory=dict)
    """Region -> unit -> number."""
    tiles: tuple[Tile, ...] = ()
    banned_tiles: tuple[str, ...] = ()
    """Tiles returned to the stock this round: closed to buying before its end (SOE-9.2.4)."""

    @property
    def home(self) -> str:
        """The home country; empty before a power is chosen."""
        return HOME.get(self.power or "", "")

    def units_in(self, region: str | None, unit: str) -> int:
        """Return the number of units of a kind in a region."""
        return self.units.get(region or "", {}).get(unit, 0)

    def on_map(self, unit: str) -> int:
        """Return the number of units of a kind on the map."""
        return sum(units.get(unit, 0) for units in self.units.values())

    def supply(self, unit: str) -> int:
        """Return the number of units of a kind left to place (SOE-1.1)."""
        return PIECES[unit] - self.on_map(unit)

    def owned(self, tile: str) -> int:
        """Return the number of owned copies of a tile, turned or not."""
        return sum(t.tile == tile for t in self.tiles)

    def unused(self, tile: str) -> int:
        """Return the number of owned copies of a tile not turned."""
        return sum(t.tile == tile and not t.used for t in self.tiles)

    def alliance_tiles(self, region: str, unit: str) -> tuple[str, ...]:
        """Return the owned alliance tiles helping this kind of unit in combats for this region (SOE-9.5.15)."""
        shown = (t.tile for t in self.tiles if TILES[t.tile].group == "alliance")
        return tuple(t for t in shown if region in TILES[t].regions and unit in TILES[t].units)


@dataclass(frozen=True)
class StandingBid:
    """The standing bid of an auction: `a` is to join grey, `b` white."""

    seat: int
    amount: int
    a: int | None = None
    b: int | None = None


@dataclass(frozen=True)
class Auction:
    """The current auction; `passes` counts those since the standing bid."""

    opener: int
    standing: StandingBid | None = None
    passes: int = 0


@dataclass(frozen=True)
class Moved:
    """A unit moved in the open move action, and the end of its move (SOE-7.6.4)."""

    unit: str
    region: str


@dataclass(frozen=True)
class Turn:
    """The turn record of SOE-7.1.4."""

    seat: int
    actions_left: int = 2
    tile_bought: bool = False
    colonized: bool = False
    moves_left: int = 0
    moved: tuple[Moved, ...] = ()
    militia_left: int = 0


@dataclass(frozen=True)
class Offer:
    """Gold offered to an ally for help with at least this number of units (SOE-8.3.3)."""

    seat: int
    gold: int
    min_armies: int = 0
    min_navies: int = 0
    accepted: bool = False


@dataclass(frozen=True)
class Party:
    """One side of a combat: a seat (`player`), a `neutral` marker, or a tile (`pirates`, `slave_revolt`)."""

    kind: str
    seat: int | None = None
    marker: str | None = None
    support: dict[str, dict[str, int]] = field(default_factory=dict)
    """Ally -> unit -> number committed."""
    offers: tuple[Offer, ...] = ()
    at_sea: tuple[str, ...] = ()
    """Alliance tiles counted in the naval battle, and so not on land."""

    @property
    def principal(self) -> Seat:
        """The seat; the side must have one (SOE-8.1.5)."""
        return _require(self.seat)

    def helpers(self, unit: str) -> list[Seat]:
        """Return the allies with committed units of this kind, ascending."""
        return sorted(int(seat) for seat, units in self.support.items() if units.get(unit))


@dataclass(frozen=True)
class Loss:
    """One unit lost by a side in battle (SOE-8.9.1); seat and unit are None until chosen."""

    side: str
    cause: str
    """`defeat`, `tie` or `seven`."""
    ally: bool = False
    seat: int | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Combat:
    """The current combat, all of it public."""

    region: str
    attacker: Party
    defender: Party
    surprise: bool = False
    stage: str = "support"
    """`support`, `naval` or `land`."""
    naval_support: str | None = None
    """The side with naval support."""
    blockade: bool = False
    """Naval support is worth 2 (SOE-8.6.1)."""
    dice: tuple[int, ...] = ()
    """Dice of the last roll: two of the attacker, two of the defender."""
    totals: tuple[int, ...] = ()
    """Strength of attacker and defender with this roll."""
    winner: str | None = None
    """Winning side of the last battle; `tie`."""
    losses: tuple[Loss, ...] = ()

    def party(self, side: str) -> Party:
        """Return the party of a side."""
        return self.attacker if side == "attacker" else self.defender


@dataclass(frozen=True)
class Captive:
    """Pirates or Slave Revolt on the map, with the token they hold."""

    region: str
    token_of: int


@dataclass(frozen=True)
class Blockade:
    """The Blockade tile on the map."""

    seat: int
    region: str


@dataclass(frozen=True)
class Struggle(State):
    """A game of Struggle of Empires."""

    terms: Terms = field(default_factory=Terms)
    war: int = 0
    """0 during the set-up."""
    round: int = 0
    first_player: int | None = None
    opener: int | None = None
    """Opener of the next War's first auction."""
    turn_order: tuple[int, ...] = ()
    alliances: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Alliance -> seats by slot; a seat in none is unaligned."""
    auction: Auction | None = None
    empires: Annotated[tuple[Empire, ...], BY_SEAT] = ()
    unrest: Annotated[tuple[int, ...], BY_SEAT] = ()
    """Withheld from the others until the end (SOE-16.2)."""
    markers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Region -> markers lying in it."""
    bag: tuple[str, ...] = ()
    """Markers still to be drawn, in the order of the data."""
    gone: tuple[str, ...] = ()
    """Markers out of the game."""
    stock: dict[str, int] = field(default_factory=dict)
    boxed: dict[str, int] = field(default_factory=dict)
    pirates: Captive | None = None
    slave_revolt: Captive | None = None
    blockade: Blockade | None = None
    turn: Turn | None = None
    combat: Combat | None = None

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
    def battle(self) -> Combat:
        """The current combat."""
        return _require(self.combat)

    # --- questions

    @property
    def phase(self) -> str:
        """`setup`, `alliances`, `actions` or `over` (SOE-21.4)."""
        if self.over:
            return "over"
        return "actions" if self.turn_order else "alliances" if self.war else "setup"

    @property
    def everybody(self) -> range:
        """All seats, ascending."""
        return range(self.seats)

    def captives(self) -> Iterator[tuple[str, Captive]]:
        """Yield the Pirates and Slave Revolt tiles on the map."""
        yield from (("pirates", self.pirates),) if self.pirates else ()
        yield from (("slave_revolt", self.slave_revolt),) if self.slave_revolt else ()

    def captive(self, tile: str) -> Captive | None:
        """Return the piece held by the tile on the map."""
        return dict(self.captives()).get(tile)

    def reserve(self, seat: Seat) -> int:
        """Return the number of tokens left to place (SOE-1.2)."""
        captured = sum(captive.token_of == seat for _, captive in self.captives())
        return TOKENS - sum(self.empires[seat].tokens.values()) - captured

    def alliance_of(self, seat: Seat) -> str | None:
        """Return `grey`, `white`, or None for an unaligned seat."""
        return next((a for a, seats in self.alliances.items() if seat in seats), None)

    def allied(self, seat: Seat, other: Seat) -> bool:
        """Return whether two different seats are in the same alliance."""
        mine = self.alliance_of(seat)
        return seat != other and mine is not None and mine == self.alliance_of(other)

    def unaligned(self) -> list[Seat]:
        """Return the seats without an alliance, ascending."""
        return [seat for seat in self.everybody if self.alliance_of(seat) is None]

    def after(self, seat: Seat) -> list[Seat]:
        """Return the other seats in turn order, starting after `seat`."""
        at = self.turn_order.index(seat)
        return [*self.turn_order[at + 1 :], *self.turn_order[:at]]

    def round_the_table(self) -> list[Seat]:
        """Return all seats clockwise from the first player."""
        return clockwise(self.first_player or 0, self.seats)

    def lying(self) -> list[str]:
        """Return the markers on the map."""
        return [marker for markers in self.markers.values() for marker in markers]

    def lies(self, marker: str) -> bool:
        """Return whether a marker with this id is on the map."""
        return marker in MARKERS and marker in self.markers.get(MARKERS[marker].region, ())


D = Draft[Struggle]
"""A record of this game in the making."""


def _require(value: T | None) -> T:
    if value is None:
        raise AssertionError("asked for outside its phase")
    return value


def nobody_aligned() -> dict[str, tuple[int, ...]]:
    """Return both alliances, empty."""
    return dict.fromkeys(ALLIANCES, ())

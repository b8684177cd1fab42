"""State of a game: the table. Rules ask it simple questions; facts alone change it.

Supplies are not stored: they are the pieces off the board. Countries and zones unchanged since before the game (free,
without pieces and markers) are omitted. A party of a combat is a seat, or one of the words in HORDES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from domain.games.imperunde import unit_stacks as lot
from domain.games.imperunde.data import CANAL_OF, CANALS, COUNTRIES, PIECES, PIRATES, SETS, UNITS, VALUE, ZONES
from domain.games.imperunde.unit_stacks import Lot, Lots
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Json, Seat

T = TypeVar("T")

HORDES = ("natives", "insurgents", "pirates")
Party = Seat | Literal["natives", "insurgents", "pirates"]
Side = Literal["attacker", "defender"]
Relation = Literal["peace", "war"]
WINDOWS = ("open", "counter", "combat", "round")
"""Kinds of windows, as auto-pass names them (IMP-11.8)."""


@dataclass(frozen=True)
class Country:
    """IMP-4.1: owner, pieces and black marker of a country."""

    owner: int | None = None
    units: tuple[Lot, ...] = ()
    """Armies."""
    forts: int = 0
    posts: int = 0
    fresh_posts: int = 0
    famine: bool = False
    plundered_by: int | None = None

    @property
    def black(self) -> bool:
        """Return whether a black marker is in it."""
        return self.famine or self.plundered_by is not None

    @property
    def settled_posts(self) -> int:
        """Posts without the fresh ones."""
        return self.posts - self.fresh_posts

    @property
    def defended(self) -> bool:
        """Return whether an army or a fort is in it."""
        return bool(self.units or self.forts)

    @property
    def holder(self) -> Seat:
        """The owner; the country must have one."""
        if self.owner is None:
            raise AssertionError("nobody owns the country")
        return self.owner

    @property
    def empty(self) -> bool:
        """Return whether no piece is in it."""
        return not (self.units or self.forts or self.posts)


@dataclass(frozen=True)
class Zone:
    """IMP-4.2: ships and embarked armies of a zone by seat, black ships, and the marker."""

    fleets: dict[str, tuple[Lot, ...]] = field(default_factory=dict)
    pirates: dict[str, int] = field(default_factory=dict)
    marker: str | None = None
    """`storm` or `calm`."""

    def fleet(self, seat: Seat | str) -> Lots:
        """Return all ships and transports of a seat in it."""
        return self.fleets.get(str(seat), ())

    def warships(self, seat: Seat | str) -> Lots:
        """Return the warships of a seat."""
        return lot.of_kind(self.fleet(seat), "warship")

    def transports(self, seat: Seat) -> Lots:
        """Return the embarked armies of a seat."""
        return lot.of_kind(self.fleet(seat), "army")


@dataclass(frozen=True)
class Nation:
    """Data of one seat besides its pieces (IMP-4.3)."""

    home: str = ""
    debt: int = 0
    surplus: int = 0
    available: int = 0
    cards: int = 0
    """Size of the hand."""
    bought: int = 0
    """Cards bought this turn."""
    proposals: int = 0
    """Goals proposed this turn."""
    ledger: dict[str, int] = field(default_factory=dict)
    """The lines of this turn's budget (IMP-6.3.2)."""
    spent: dict[str, int] = field(default_factory=dict)
    """Colony -> military cost bought for it this turn."""
    received: int = 0
    """All doubloons received since the game began."""
    paid: int = 0
    """All doubloons paid since the game began."""


@dataclass(frozen=True)
class Override:
    """A relation forced by a card until the next phase 2."""

    relation: str
    card: str
    by: int


@dataclass(frozen=True)
class Pair:
    """Two seats (IMP-4.4); `stances` and `changes` are those of the lower seat and of the higher one."""

    base: str = "peace"
    stances: tuple[str, ...] = ("peace", "peace")
    changes: tuple[int, ...] = (0, 0)
    override: Override | None = None

    @property
    def agreed(self) -> str:
        """The relation following from the stances (IMP-6.2.3)."""
        return "war" if "war" in self.stances else "peace"


@dataclass(frozen=True)
class Budget:
    """A sealed answer of phase 3."""

    repay: int = 0
    borrow: int = 0


@dataclass(frozen=True)
class Staged:
    """Committed attackers next to the target; `start` is the first region of their path."""

    region: str
    start: str
    lot: Lot


@dataclass(frozen=True)
class Combat:
    """The current combat (IMP-8), all of it public."""

    region: str
    attacker: Any
    """A seat, `insurgents` or `pirates`."""
    defender: Any
    """A seat, `natives` or `pirates`."""
    supported: bool = False
    """True if the attacker may be reinforced (IMP-8.3.1)."""
    staged: tuple[Staged, ...] = ()
    units: tuple[Lot, ...] = ()
    """A seat's armies attacking a country."""
    horde: int = 0
    """Natives or insurgents."""
    enemies: tuple[Json, ...] = ()
    """Further parties of the zone, to be fought afterwards."""
    round: int = 0
    """Rounds fought."""
    lost: bool = False
    """True if the attacker has lost a unit in it."""
    called_off: bool = False
    surprise: bool = False
    ambush: bool = False
    coup: tuple[int, ...] = ()
    """Seats with a `coup_de_main` in effect."""
    chosen: dict[str, tuple[Lot, ...]] = field(default_factory=dict)
    """Side -> fighters of this round; `fort` is a unit here."""

    @property
    def sea(self) -> bool:
        """Return whether it is fought in a zone."""
        return self.region in ZONES


@dataclass(frozen=True)
class ImpeRunde(State):
    """A game of ImpeRunde.

    Most of its members are one-line questions of the rules about one region, seat or pair of seats.
    """

    goal: int = 0
    turn_limit: int | None = None
    turn: int = 0
    phase: int = 0
    """0 during the set-up."""
    order: tuple[int, ...] = ()
    active: int | None = None
    """The seat with the current part of phase 6, or fair wind."""
    nations: Annotated[tuple[Nation, ...], BY_SEAT] = ()
    countries: dict[str, Country] = field(default_factory=dict)
    zones: dict[str, Zone] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)
    """`0-1` and so on."""
    canals: tuple[str, ...] = ()
    pile: int = 0
    """Size of the draw pile."""
    discard: tuple[str, ...] = ()
    struck: tuple[str, ...] = ()
    """Regions with an event this phase."""
    combat: Combat | None = None
    winner: int | None = None
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    auto: Annotated[tuple[dict[str, str], ...], BY_SEAT] = ()
    """Kind of window -> how long the seat passes it by itself."""
    budgets: dict[str, Budget] = field(default_factory=dict)
    """Seat -> sealed answer of phase 3."""
    deck: tuple[str, ...] = ()
    """The draw pile, first = top."""
    seen: tuple[str, ...] = ()
    """The hand on show (IMP-9.4.16)."""

    # --- the board

    def country(self, region: str) -> Country:
        """Return the present country."""
        return self.countries.get(region, WILD)

    def zone(self, region: str) -> Zone:
        """Return the present zone."""
        return self.zones.get(region, OPEN_SEA)

    def lots_in(self, seat: Seat, region: str) -> Lots:
        """Return the armies of a seat in a country, or all its ships in a zone."""
        if region in ZONES:
            return self.zone(region).fleet(seat)
        return self.country(region).units if self.country(region).owner == seat else ()

    @property
    def fight(self) -> Combat:
        """The current combat."""
        if self.combat is None:
            raise AssertionError("no combat goes on")
        return self.combat

    @property
    def everybody(self) -> range:
        """All seats, ascending."""
        return range(self.seats)

    @property
    def present(self) -> list[Seat]:
        """Seats with a player, ascending."""
        return [seat for seat in self.everybody if seat not in self.vacant]

    def homes(self) -> dict[str, Seat]:
        """Home country -> seat, for the nations in play (IMP-3.2)."""
        return memo(self, "homes", lambda: {n.home: i for i, n in enumerate(self.nations) if n.home})

    def is_home(self, region: str) -> bool:
        """Return whether it is the home country of a nation in play."""
        return region in self.homes()

    def is_own(self, seat: Seat, region: str) -> bool:
        """Return whether it is the own home or an own colony."""
        return self.country(region).owner == seat or self.nations[seat].home == region

    def colonies(self, seat: Seat) -> list[str]:
        """Return the own colonies, alphabetical."""
        return sorted(c for c, x in self.countries.items() if x.owner == seat and c != self.nations[seat].home)

    def room(self, region: str) -> int:
        """Return the limit of a country's posts (IMP-3.6)."""
        canal = COUNTRIES[region].canal
        return VALUE[region] + (CANALS[canal].posts if canal and canal in self.canals else 0)

    # --- pieces

    def on_board(self) -> dict[tuple[str, str], int]:
        """Return (party, unit) -> pieces on the board; the party is a seat's number as a string, or `pirates`."""
        return memo(self, "on_board", lambda: _on_board(self), (self.countries, self.zones, self.combat))

    def pieces(self, seat: Seat, unit: str) -> int:
        """Return the number of a seat's pieces of a kind on the board."""
        return self.on_board().get((str(seat), unit), 0)

    def posts(self, seat: Seat) -> int:
        """Return the trading posts on the board, as counted by the goal."""
        return self.pieces(seat, "trading_post")

    def supply(self, party: Party, unit: str) -> int:
        """Return the pieces of a kind left to a seat, or to `pirates` (IMP-1.1, IMP-1.2)."""
        limit = PIRATES.get(unit, 0) if party == "pirates" else PIECES[unit] * SETS[self.seats]
        return limit - self.on_board().get((str(party), unit), 0)

    # --- relations

    def pair(self, a: Seat, b: Seat) -> Pair:
        """Return the relations between two seats."""
        return self.pairs[key(a, b)]

    def stance(self, seat: Seat, target: Seat) -> str:
        """Return a seat's stance toward another."""
        return self.pair(seat, target).stances[seat > target]

    def relation(self, a: Seat, b: Seat) -> str:
        """Return the effective relation of two seats (IMP-4.4)."""
        pair = self.pair(a, b)
        if pair.override:
            return pair.override.relation
        return pair.agreed if self.phase == 2 else pair.base

    def at_war(self, a: Seat, b: Seat) -> bool:
        """Return whether two seats are enemies."""
        return a != b and self.relation(a, b) == "war"

    # --- the sea

    def seats_at(self, region: str) -> list[Seat]:
        """Return the seats with warships in a zone, in turn order."""
        zone = self.zone(region)
        return [s for s in self.order if str(s) in zone.fleets and zone.warships(s)]

    def controller(self, region: str) -> Seat | None:
        """Return the seat in control of a zone (IMP-3.7)."""
        seats = self.seats_at(region)
        return seats[0] if len(seats) == 1 and not self.zone(region).pirates else None

    def enemies_at(self, seat: Seat, region: str) -> list[Party]:
        """Return the enemy parties in a zone: seats in turn order, pirates last."""
        found: list[Party] = [s for s in self.seats_at(region) if self.at_war(seat, s)]
        return [*found, "pirates"] if self.zone(region).pirates else found

    def hostile(self, region: str, seat: Seat) -> bool:
        """IMP-3.8: an enemy party is in the zone."""
        return bool(self.enemies_at(seat, region))

    def friendly(self, region: str, seat: Seat) -> bool:
        """IMP-3.8: warships of a friend are in the zone."""
        return any(s != seat and not self.at_war(seat, s) for s in self.seats_at(region))

    def canal_open(self, a: str, b: str, seat: Seat) -> bool | None:
        """Return whether the canal between two zones is usable (IMP-3.11); None without a possible canal."""
        canal = CANAL_OF.get(frozenset((a, b)))
        if canal is None:
            return None
        owner = self.country(canal.country).owner
        if canal.country in self.homes():
            owner = self.homes()[canal.country]
        return canal.id in self.canals and (owner is None or owner == seat or not self.at_war(owner, seat))

    def seas(self, region: str, seat: Seat) -> list[str]:
        """Return the zones a ship of the seat can reach from a zone in one move, alphabetical."""
        through = [z for c in CANALS.values() if region in c.links for z in c.links - {region}]
        return sorted([*ZONES[region].seas, *(z for z in through if self.canal_open(region, z, seat))])


D = Draft[ImpeRunde]
"""A record of this game in the making."""

WILD = Country()
OPEN_SEA = Zone()
"""Countries and zones before the game; such ones are omitted."""


def key(a: Seat, b: Seat) -> str:
    """Return the key of a pair of seats."""
    return f"{min(a, b)}-{max(a, b)}"


Pieces = tuple[tuple[tuple[str, str], int], ...]
"""((party, unit), pieces) of one place."""


def _on_board(s: ImpeRunde) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    places = [_pieces_in(c, _in_country) for c in s.countries.values()] + [
        _pieces_in(z, _in_zone) for z in s.zones.values()
    ]
    attacking = [((str(s.fight.attacker), x.unit), x.count) for x in s.combat.units] if s.combat else []
    for pieces in (*places, attacking):
        for key, count in pieces:
            counts[key] = counts.get(key, 0) + count
    return counts


def _pieces_in(place: T, count: Callable[[T], Pieces]) -> Pieces:
    """Count the pieces of a place once per object: few places change in a record."""
    kept: dict[str, Pieces] = place.__dict__.setdefault("_memo", {})
    if "pieces" not in kept:
        kept["pieces"] = count(place)
    return kept["pieces"]


def _in_country(c: Country) -> Pieces:
    if c.owner is None:
        return ()
    party = str(c.owner)
    units = [((party, x.unit), x.count) for x in c.units]
    return ((party, "fort"), c.forts), ((party, "trading_post"), c.posts), *units


def _in_zone(z: Zone) -> Pieces:
    ships = [((seat, x.unit), x.count) for seat, fleet in z.fleets.items() for x in fleet]
    return *ships, *((("pirates", unit), count) for unit, count in z.pirates.items())


def worth(s: ImpeRunde, seat: Seat) -> int:
    """Return the cost of own armies, forts and warships on the board (IMP-12.4)."""
    return sum(u.cost * s.pieces(seat, u.id) for u in UNITS.values() if u.kind != "post")

"""State of a game: public holdings, each seat's private data, and hidden data (EGC-6).

Rules ask it simple questions; facts alone change it. A seat stands for its empire, in ascending empire id. The order of
a dict's keys means nothing: any code going through one sorts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from domain.compat import cached_property
from domain.games.egc.data import EMPIRES, HOMES, INITIAL, PAIRS, SEATS, TERRITORIES, number_of
from domain.games.egc.moves import order_of
from domain.games.egc.order import Order
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Doc, Json, Seat

NEUTRAL = "neutral"
"""Owner of an army of no empire, in places with names of empires."""

ACTIVE, DORMANT, ELIMINATED = "active", "dormant", "eliminated"
HOSTILE = ("war", "total_war")
ENEMIES = ("imminent_war", "war", "total_war")
"""Levels between two empires at war, now or next turn."""

PAIR_KEYS = {(a, b): f"{min(a, b)}-{max(a, b)}" for x, y in PAIRS for a, b in ((x, y), (y, x))}


@dataclass(frozen=True)
class Terms:
    """The table's options (EGC-2)."""

    turn_zero_timeout: bool = False
    allow_vacant_seats: bool = False


@dataclass(frozen=True)
class Protectorate:
    """The holder of a protected neutral territory, and the turn of the installation's order."""

    seat: int
    since: int


@dataclass(frozen=True)
class Land:
    """Public data of a territory (EGC-6.1)."""

    owner: int | None = None
    """None: neutral."""
    protectorate: Protectorate | None = None
    protections: dict[str, int] = field(default_factory=dict)
    """Seat -> turn of its order to protect."""
    port: bool = False
    conquered_turn: int | None = None
    doubled_turn: int | None = None
    """Turn of doubled supply (EGC-11.1)."""


@dataclass(frozen=True)
class Army:
    """An army of an empire (EGC-1.8)."""

    territory: str
    divisions: int
    morale: int
    training: int


@dataclass(frozen=True)
class Garrison:
    """The neutral army of a neutral territory."""

    divisions: int
    morale: int
    training: int


@dataclass(frozen=True)
class NeutralRanks:
    """Battle ranks of a territory's neutral army; None: 10."""

    naval: int | None = None
    siege: int | None = None


@dataclass(frozen=True)
class Investment:
    """Research under way, added in time for the ranks of turn `due` (EGC-13.1)."""

    technology: str
    points: int
    due: int


@dataclass(frozen=True)
class Empire:
    """Private data of a seat, as of the start of the turn (EGC-1.10)."""

    treasury: int = 0
    diplomacy: int = 0
    points: dict[str, int] = field(default_factory=dict)
    """Technology -> investment points."""
    ranks: dict[str, int] = field(default_factory=dict)
    investments: tuple[Investment, ...] = ()
    revenue: int = 0
    links: tuple[str, ...] = ()
    """Chosen for the next count."""
    links_done: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filed:
    """One order of a sheet; `army` is the id allotted by it (EGC-7.0.8)."""

    n: int
    order: Doc
    army: str | None = None

    @cached_property
    def move(self) -> Order:
        """The order, as declared."""
        return order_of(self.order)


@dataclass(frozen=True)
class Sheet:
    """A seat's order sheet, and its expenses for spies (EGC-7.0, EGC-7.11)."""

    orders: tuple[Filed, ...] = ()
    next_order: int = 1
    next_army: int = 1
    spent: int = 0
    controls: tuple[str, ...] = ()
    """Seas controlled by the empire with this sheet applied (EGC-6.3)."""
    allocation: dict[str, int] = field(default_factory=dict)
    """Turn zero; empty until filed."""


@dataclass(frozen=True)
class Spied:
    """The latest spy report on each target."""

    territories: dict[str, Doc] = field(default_factory=dict)
    empires: dict[str, Doc] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """An improvement of relations awaiting an answer; named `turn:from:to`."""

    sender: int
    target: int
    action: str
    """`propose` or `incite`."""


@dataclass(frozen=True)
class Count:
    """A victory count; the lists are by seat."""

    turn: int
    points: tuple[int, ...]
    """Territory points."""
    realised: tuple[tuple[str, ...], ...]
    failed: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Final:
    """Formerly hidden data needed by the last ranking (EGC-15.6)."""

    treasuries: tuple[int, ...]
    tie_order: tuple[int, ...]


class Holdings:
    """The map by holder: lists by seat, in ascending territory id."""

    def __init__(self, lands: Mapping[str, Land]) -> None:
        self.owned: tuple[list[str], ...] = tuple([] for _ in SEATS)
        self.protectorates: tuple[list[str], ...] = tuple([] for _ in SEATS)
        self.protections: tuple[dict[str, int], ...] = tuple({} for _ in SEATS)
        """Territory -> turn of the order to protect."""
        self.ports: tuple[list[str], ...] = tuple([] for _ in SEATS)
        """EGC-8.1: own ports and those of protectorates."""
        self.free: list[str] = []
        """Neutral, and nobody's protectorate."""
        for territory in TERRITORIES:
            self._add_territory(territory, lands[territory])

    def _add_territory(self, territory: str, land: Land) -> None:
        holder = land.owner
        if holder is not None:
            self.owned[holder].append(territory)
        elif land.protectorate is not None:
            holder = land.protectorate.seat
            self.protectorates[holder].append(territory)
        else:
            self.free.append(territory)
        if land.port and holder is not None:
            self.ports[holder].append(territory)
        for seat, since in land.protections.items():
            self.protections[int(seat)][territory] = since


@dataclass(frozen=True)
class Egc(State):
    """A game of Empires, guerres et céphalées."""

    # public
    terms: Terms = field(default_factory=Terms)
    turn: int = 0
    status: Annotated[tuple[str, ...], BY_SEAT] = ()
    vp: Annotated[tuple[int, ...], BY_SEAT] = ()
    lands: dict[str, Land] = field(default_factory=dict)
    manned: dict[str, str] = field(default_factory=dict)
    """Territory with armies -> their empire, or `neutral`."""
    relations: dict[str, str] = field(default_factory=dict)
    peace_turn: dict[str, int] = field(default_factory=dict)
    closed: dict[str, int] = field(default_factory=dict)
    """`strait:seat` -> the seat closing the strait to it."""
    open_ports: dict[str, bool] = field(default_factory=dict)
    """`seat:seat`: the first has opened its ports to the second."""
    counts: tuple[Count, ...] = ()
    final: Final | None = None
    news: tuple[Doc, ...] = ()
    """EGC-6.2: the public facts of the last resolution."""
    # private, by seat
    empires: Annotated[tuple[Empire, ...], BY_SEAT] = ()
    armies: Annotated[tuple[dict[str, Army], ...], BY_SEAT] = ()
    sheets: Annotated[tuple[Sheet, ...], BY_SEAT] = ()
    spied: Annotated[tuple[Spied, ...], BY_SEAT] = ()
    reports: Annotated[tuple[Doc, ...], BY_SEAT] = ()
    """Seat's report of the last resolution: kind of fact -> list."""
    levels: dict[str, dict[str, int]] = field(default_factory=dict)
    """Territory -> infrastructure other than the port -> level above 0. The owner's and the protector's to know."""
    proposals: dict[str, Proposal] = field(default_factory=dict)
    """Known to the two empires concerned."""
    casus_belli: dict[str, int] = field(default_factory=dict)
    """`holder:against:kind` -> last turn of its use. Known to the two."""
    # hidden from everybody
    garrisons: dict[str, Garrison] = field(default_factory=dict)
    neutral_ranks: dict[str, NeutralRanks] = field(default_factory=dict)
    count_turns: tuple[int, ...] = ()
    tie_order: tuple[int, ...] = ()

    # --- questions

    def relation(self, seat: Seat, other: Seat) -> str:
        """Return the level of two empires (EGC-14.1)."""
        return self.relations[PAIR_KEYS[seat, other]]

    def hostile(self, seat: Seat, other: Seat) -> bool:
        """Return whether two empires are at war or total war."""
        return self.relation(seat, other) in HOSTILE

    def allied(self, seat: Seat, other: Seat) -> bool:
        """Return whether two empires are allies; an eliminated one has none (EGC-11.6)."""
        return self.relation(seat, other) == "alliance" and ELIMINATED not in (self.status[seat], self.status[other])

    def active(self) -> list[Seat]:
        """Return the seats under a player's orders, ascending."""
        return [seat for seat in SEATS if self.status[seat] == ACTIVE]

    def in_play(self) -> list[Seat]:
        """EGC-1.2: active and dormant empires."""
        return [seat for seat in SEATS if self.status[seat] != ELIMINATED]

    @property
    def holdings(self) -> Holdings:
        """The map by holder."""
        return memo(self, "holdings", lambda: Holdings(self.lands), (self.lands,))

    @property
    def unsheeted(self) -> tuple[Json, ...]:
        """Everything a check of a sheet depends on but the sheet itself (EGC-7.0.2); no filed order changes it."""
        public = (self.turn, self.status, self.lands, self.relations, self.peace_turn, self.closed, self.open_ports)
        return (*public, self.counts, self.empires, self.armies, self.levels, self.proposals, self.casus_belli)

    def owned(self, seat: Seat) -> Sequence[str]:
        """Return the territories of an empire, ascending."""
        return self.holdings.owned[seat]

    def colonies(self, seat: Seat) -> list[str]:
        """EGC-1.5: owned territories other than the own metropolis."""
        return [t for t in self.owned(seat) if t != HOMES[seat]]

    def protectorates(self, seat: Seat) -> Sequence[str]:
        """Return the protectorates of an empire, ascending."""
        return self.holdings.protectorates[seat]

    def metropolis(self, territory: str) -> bool:
        """EGC-1.4: return whether a territory is the home of its holder."""
        home = TERRITORIES[territory].home_of
        return home is not None and self.lands[territory].owner == home

    def level(self, territory: str, infrastructure: str) -> int:
        """Return the level of an infrastructure."""
        if infrastructure == "port":
            return int(self.lands[territory].port)
        return self.levels.get(territory, {}).get(infrastructure, 0)

    def rank(self, seat: Seat, technology: str) -> int:
        """EGC-0.7: the rank of an empire, 1 best."""
        return self.empires[seat].ranks[technology]

    def openers(self, seat: Seat) -> list[Seat]:
        """Return the empires with ports open to this one."""
        return [by for by in SEATS if f"{by}:{seat}" in self.open_ports]

    def in_force(self, since: int) -> bool:
        """EGC-14.9: whether a protection or protectorate ordered in turn `since` is in force."""
        return since < self.turn

    def choosing_links(self) -> bool:
        """EGC-15.5: return whether links are chosen this turn."""
        return self.turn == 4 or any(c.turn == self.turn - 1 for c in self.counts[:3])


D = Draft[Egc]
"""A record of this game in the making."""


def numbered(armies: dict[str, Army]) -> Iterator[tuple[str, Army]]:
    """EGC-0.4: armies in ascending number."""
    for army in sorted(armies, key=number_of):
        yield army, armies[army]


def at_peace() -> dict[str, str]:
    """EGC-3.4: every pair at the first level."""
    return {PAIR_KEYS[pair]: INITIAL for pair in PAIRS}


def empire_of(seat: Seat | None) -> str:
    """Return the id of a seat's empire; `neutral` for None."""
    return NEUTRAL if seat is None else EMPIRES[seat]

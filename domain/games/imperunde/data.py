"""Figures of the game, read once from data.json: everything called data by the rules page.

Ids are strings; a table is a dict in the order of the file, the order of wheels and of the clean-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.kernel.text.package_data import load
from domain.types import Doc

DOC: Doc = load("domain.games.imperunde", "data.json")


@dataclass(frozen=True)
class Land:
    """A country of the map (IMP-3.1)."""

    id: str
    value: int
    lands: frozenset[str]
    """Adjacent countries."""
    coasts: tuple[str, ...]
    """Adjacent sea zones, alphabetical; none: landlocked."""
    canal: str | None


@dataclass(frozen=True)
class Sea:
    """A sea zone of the map (IMP-3.1). Canal links are not among its neighbours."""

    id: str
    value: int
    seas: frozenset[str]
    shores: frozenset[str]


@dataclass(frozen=True)
class Unit:
    """A kind of piece (IMP-1.4): `army`, `fort`, `warship` or `post`."""

    id: str
    kind: str
    cost: int
    die: str
    """Colour; empty for a trading post."""
    moves: int
    vs_fort: int
    """Change of its attacking die against a fort (IMP-8.2.5)."""


@dataclass(frozen=True)
class Die:
    """A kind of dice: its faces lo..hi; on equal values the lower rank sorts first (IMP-8.2.4)."""

    colour: str
    lo: int
    hi: int
    rank: int


@dataclass(frozen=True)
class Canal:
    """A canal buildable in a country, joining two zones (IMP-3.11)."""

    id: str
    country: str
    links: frozenset[str]
    cost: int
    posts: int


@dataclass(frozen=True)
class Card:
    """A kind of secret-service card, how many there are, and when it can be played (IMP-9)."""

    id: str
    count: int
    when: tuple[str, ...]
    figure: int
    """Bonus, frigates, insurgents, armies or doubloons, by its rule; 0 for none."""


def _land(doc: Doc) -> Land:
    coasts = tuple(sorted(doc["sea_neighbours"]))
    return Land(doc["id"], doc["value"], frozenset(doc["land_neighbours"]), coasts, doc["canal"])


def _sea(doc: Doc) -> Sea:
    return Sea(doc["id"], doc["value"], frozenset(doc["sea_neighbours"]), frozenset(doc["land_neighbours"]))


def _card(doc: Doc) -> Card:
    figure = [v for k, v in doc.items() if k != "count" and isinstance(v, int)]
    return Card(doc["id"], doc["count"], tuple(doc["when"]), sum(figure))


def _units() -> dict[str, Unit]:
    items = DOC["units"]["items"].items()
    return {u: Unit(u, d["kind"], d["cost"], d["die"] or "", d["moves"], d.get("vs_fort", 0)) for u, d in items}


COUNTRIES: dict[str, Land] = {c["id"]: _land(c) for c in DOC["countries"]["items"]}
ZONES: dict[str, Sea] = {z["id"]: _sea(z) for z in DOC["sea_zones"]["items"]}
VALUE: dict[str, int] = {
    **{c.id: c.value for c in COUNTRIES.values()},
    **{z.id: z.value for z in ZONES.values()},
}
"""Value of every country and zone."""
ANTARCTICA: str = DOC["antarctica"]["id"]

UNITS: dict[str, Unit] = _units()
ARMIES = tuple(u.id for u in UNITS.values() if u.kind == "army")
WARSHIPS = ("ship_of_the_line", "frigate")
"""The order is that of rolling and of capture (IMP-8.2.3)."""
ROLL_ORDER: dict[str, int] = {
    u: i for i, u in enumerate((*DOC["units"]["roll_order_land"], *DOC["units"]["roll_order_sea"]))
}
STORM_ORDER = (*WARSHIPS, "artillery", "cavalry", "infantry")
"""IMP-7.7."""
FIGHTERS: int = DOC["units"]["max_units_per_side_in_combat"]
DICE: dict[str, Die] = {
    c: Die(c, d["faces"][0], d["faces"][-1], d["colour_rank"]) for c, d in DOC["dice"].items() if isinstance(d, dict)
}
LOST_ON = frozenset(DOC["events"]["sea"]["storm"]["lost_on"])
"""Faces of the white die losing a ship in a storm, or an army in an epidemic (IMP-7.7, IMP-10.4)."""

HOMES: dict[str, int | None] = {n["id"]: n["die"] for n in DOC["nations"]["items"]}
"""Nation (= home country) -> its number on the white die; None for the one always in play."""
ENGLAND = next(n for n, die in HOMES.items() if die is None)
PIECES: dict[str, int] = DOC["pieces"]["per_set"]
SETS: dict[int, int] = {int(n): sets for n, sets in DOC["pieces"]["sets_per_seat"].items()}
PIRATES: dict[str, int] = DOC["pieces"]["pirates"]

CANALS: dict[str, Canal] = {
    c["id"]: Canal(c["id"], c["country"], frozenset(c["links"]), c["cost"], c["free_posts"])
    for c in DOC["canals"]["items"]
}
CANAL_OF: dict[frozenset[str], Canal] = {c.links: c for c in CANALS.values()}
LAND_EVENTS: tuple[str, ...] = tuple(e["event"] for e in DOC["wheels"]["land_event_wheel"])
SEA_EVENTS: tuple[str, ...] = tuple(e["event"] for e in DOC["wheels"]["sea_event_wheel"])

CARDS: dict[str, Card] = {c["id"]: _card(c) for c in DOC["cards"]["items"]}
DECK: tuple[str, ...] = tuple(c.id for c in CARDS.values() for _ in range(c.count))

ECONOMY: Doc = DOC["economy"]
EVENTS: Doc = DOC["events"]
SETUP: Doc = DOC["setup"]
OPTION_DATA: Doc = DOC["options"]
STANCE_LIMIT: int = DOC["diplomacy"]["max_stance_changes_per_pair_per_turn"]
PROPOSAL_LIMIT: int = DOC["diplomacy"]["max_goal_proposals_per_seat_per_turn"]
GOALS: Mapping[int, Mapping[str, int]] = {int(n): goals for n, goals in OPTION_DATA["goal_presets"].items()}
GOAL_MAX: dict[int, int] = {int(n): goal for n, goal in OPTION_DATA["goal_max_by_players"].items()}
TIMEOUTS: dict[str, dict[str, int]] = {p: DOC["timeouts_seconds"][p] for p in ("live", "correspondence")}


def is_army(unit: str) -> bool:
    """Return whether a unit marches and embarks."""
    return UNITS[unit].kind == "army"


def is_warship(unit: str) -> bool:
    """Return whether a unit fights at sea."""
    return UNITS[unit].kind == "warship"


def cost(lots: Mapping[str, int]) -> int:
    """Return the total cost of the units, by their numbers."""
    return sum(UNITS[unit].cost * count for unit, count in lots.items())

"""Figures of the game, read once from data.json: everything called data by the rules page.

Ids are strings; a table is a dict in the order of the file, the order of draws and defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.kernel.text.package_data import load
from domain.types import Doc

DOC: Doc = load("domain.games.age_of_reason", "data.json")


@dataclass(frozen=True)
class Region:
    """A region of the map: `europe`, `colony` or `home` (a home country, of `power`)."""

    id: str
    kind: str
    vp: tuple[int, ...]
    """Victory points of the first, second, (third) place."""
    naval: bool
    """An attacker needs a ship here, and ships count (AOR-1.2)."""
    adjacent: frozenset[str]
    power: str | None


@dataclass(frozen=True)
class Marker:
    """A region marker: `number` with its defence, gold and victory points, or `aktion`."""

    id: str
    region: str
    kind: str
    defence: int
    gold: int
    vp: int


@dataclass(frozen=True)
class Card:
    """A card of a power: `force` with soldiers and ships, `bluff` or `alliance`."""

    id: str
    power: str
    kind: str
    soldiers: int
    ships: int
    cost: int

    @property
    def soldiers_alone(self) -> bool:
        """AOR-1.5: a soldier card without ship."""
        return self.soldiers > 0 and self.ships == 0


@dataclass(frozen=True)
class Space:
    """A kind of space of the action board."""

    id: str
    group: str
    """`progress`, `support` or `trade`."""
    places: tuple[int, ...]
    """Least number of seats for each place to be open (AOR-7.4.2)."""
    cost: int
    effect: str
    bonus: int
    regions: tuple[str, ...]
    """Regions of its bonus, or of the tokens it pays for."""
    wide: tuple[str, ...]
    """Regions with the option `support_scope = examples` (AOR-11.4)."""
    option: str | None
    """Option required for the space to exist (AOR-11.3)."""

    @property
    def names_region(self) -> bool:
        """AOR-11.5: a Trade space of two regions, needing one to be named."""
        return self.effect == "trade" and len(self.regions) > 1


def _region(doc: Doc) -> Region:
    return Region(doc["id"], doc["kind"], tuple(doc["vp"]), doc["naval"], frozenset(doc["adjacent"]), doc.get("power"))


def _marker(doc: Doc) -> Marker:
    return Marker(doc["id"], doc["region"], doc["kind"], doc["defence"] or 0, doc["gold"], doc["vp"])


def _card(doc: Doc) -> Card:
    return Card(doc["id"], doc["power"], doc["kind"], doc["soldiers"], doc["ships"], doc["cost"])


def _space(doc: Doc) -> Space:
    return Space(
        doc["id"],
        doc["class"],
        tuple(doc["copies_min_players"]),
        doc["cost_gold"],
        doc["effect"],
        doc["bonus"],
        tuple(doc["regions"]),
        tuple(doc.get("regions_examples_scope") or doc["regions"]),
        doc.get("enabled_by_option"),
    )


REGIONS: dict[str, Region] = {r["id"]: _region(r) for r in DOC["map"]["regions"]}
SCORING = tuple(r.id for r in REGIONS.values() if r.kind != "home")

POWERS = tuple(p["id"] for p in DOC["powers"]["items"])
HOME: dict[str, str] = {p["id"]: p["home"] for p in DOC["powers"]["items"]}

MARKERS: dict[str, Marker] = {m["id"]: _marker(m) for m in DOC["region_markers"]["items"]}
CARDS: dict[str, Card] = {c["id"]: _card(c) for c in DOC["cards"]["items"]}
DECKS: dict[str, tuple[str, ...]] = {p: tuple(c.id for c in CARDS.values() if c.power == p) for p in POWERS}
BLUFF: dict[str, str] = {c.power: c.id for c in CARDS.values() if c.kind == "bluff"}
ALLIANCE: dict[str, str] = {c.power: c.id for c in CARDS.values() if c.kind == "alliance"}
SPACES: dict[str, Space] = {s["id"]: _space(s) for s in DOC["action_spaces"]["items"]}
BONUSES = tuple(s for s in SPACES.values() if s.effect == "combat_bonus")
ELIGIBLE = ("militia", "pressgangs")
"""Spaces able to take a card back (AOR-11.1.4)."""

TOKENS: int = DOC["pieces_per_player"]["tokens_available"]
CONSTANTS: Doc = DOC["constants"]
ROUNDS: dict[int, int] = {int(n): rounds for n, rounds in CONSTANTS["phases_by_players"].items()}
COALITIONS = ("upper", "lower")
SLOTS: dict[str, tuple[str, ...]] = {c: tuple(map(str, CONSTANTS["alliance_slots"][c])) for c in COALITIONS}
COALITION: dict[str, str] = {slot: c for c in COALITIONS for slot in SLOTS[c]}
ALL_SLOTS = tuple(sorted(s for slots in SLOTS.values() for s in slots))
UNREST_MAX: int = CONSTANTS["unrest_max"]
SPACE_DOCS: dict[str, Doc] = {s["id"]: s for s in DOC["action_spaces"]["items"]}
FINANCE_GOLD: int = SPACE_DOCS["finance"]["gold_gain"]
REFORM: int = SPACE_DOCS["government_reform"]["unrest_removed"]

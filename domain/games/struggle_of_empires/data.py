"""Figures of the game, read once from data.json: everything called data by the rules page.

Ids are strings; a table is a dict in the order of the file, the order of draws and defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from domain.kernel.text.package_data import load
from domain.types import Doc

DOC: Doc = load("domain.games.struggle_of_empires", "data.json")


@dataclass(frozen=True)
class Region:
    """A region of the map: `europe`, `colony` or `home` (a home country, of `power`)."""

    id: str
    kind: str
    vp: tuple[int, ...]
    """Victory points of the first, second, (third) place."""
    accepts_navies: bool
    zone: str | None
    """Zone of naval battles for this region; none inland."""
    american: bool
    adjacent: frozenset[str]
    power: str | None

    @property
    def scores(self) -> bool:
        """Return whether tokens, markers and forts can be here (SOE-1.7)."""
        return self.kind != "home"


@dataclass(frozen=True)
class Marker:
    """A region marker: `state` with its defence, gold and victory points, `pop` or `slaves`."""

    id: str
    region: str
    kind: str
    defence: int
    gold: int
    vp: int


@dataclass(frozen=True)
class TileType:
    """A kind of tile and how many copies there are."""

    id: str
    group: str
    """`development`, `trade` or `alliance`."""
    count: int
    gold: int
    population: int
    unrest: int
    once_per_war: bool
    free_action: bool
    regions: tuple[str, ...] = ()
    """Regions shown on a trade or alliance tile."""
    units: tuple[str, ...] = field(default=())
    """Units shown on an alliance tile."""


def _region(doc: Doc) -> Region:
    return Region(
        doc["id"],
        doc["kind"],
        tuple(doc["vp"]),
        doc["accepts_navies"],
        doc["naval_combat_zone"],
        doc["american"],
        frozenset(doc["adjacent"]),
        doc.get("power"),
    )


def _marker(doc: Doc) -> Marker:
    return Marker(doc["id"], doc["region"], doc["kind"], doc["defence"] or 0, doc["gold"], doc["vp"])


def _tile(doc: Doc) -> TileType:
    return TileType(
        doc["id"],
        doc["class"],
        doc["count"],
        doc["cost"]["gold"],
        doc["cost"]["population"],
        doc["cost"]["unrest"],
        doc["once_per_war"],
        doc["free_action"],
        tuple(doc.get("regions", ())),
        tuple(doc.get("units", ())),
    )


REGIONS: dict[str, Region] = {r["id"]: _region(r) for r in DOC["map"]["regions"]}
SCORING = tuple(r.id for r in REGIONS.values() if r.scores)
COLONIES = tuple(r.id for r in REGIONS.values() if r.kind == "colony")
SLAVE_REVOLT_REGIONS = frozenset(DOC["map"]["slave_revolt_regions"])

POWERS = tuple(p["id"] for p in DOC["powers"]["items"])
HOME: dict[str, str] = {p["id"]: p["home"] for p in DOC["powers"]["items"]}

MARKERS: dict[str, Marker] = {m["id"]: _marker(m) for m in DOC["region_markers"]["items"]}
TILES: dict[str, TileType] = {t["id"]: _tile(t) for t in DOC["tiles"]["items"]}
RAIDERS = ("pirates", "slave_revolt")
"""Tiles bought against a seat; they fight at once and stay on the map after a victory."""

Unit = Literal["army", "navy", "fort"]
UNITS: tuple[Unit, ...] = ("army", "navy", "fort")
PIECES: dict[str, int] = {unit: DOC["pieces_per_player"][unit] for unit in UNITS}
TOKENS: int = DOC["pieces_per_player"]["control_tokens_on_map_max"]
ALLIANCES: tuple[str, ...] = tuple(DOC["turn_order"]["alliances"])

CONSTANTS: Doc = DOC["constants"]
ROUNDS: dict[int, int] = {int(n): rounds for n, rounds in CONSTANTS["rounds_by_players"].items()}
SEA_ROLL: dict[str, int] = CONSTANTS["sea_roll"]
STRENGTH: dict[str, int] = CONSTANTS["strength"]

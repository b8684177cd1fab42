"""Figures of the game, read once from data.json: everything called data by the rules page.

Ids are strings; every table is in ascending id, the order of the engine (EGC-0.4). Seat i has the i-th empire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat

DOC: Doc = load("domain.games.egc", "data.json")


@dataclass(frozen=True)
class Territory:
    """EGC-1.3: the constant data of a territory."""

    id: str
    value: int
    defence: int
    """Natural defence."""
    supply: int
    bonus: int
    """Victory points besides the one of every territory."""
    seas: tuple[str, ...]
    neighbours: tuple[str, ...]
    """Neighbours by land."""
    home_of: Seat | None


@dataclass(frozen=True)
class Strait:
    """EGC-1.6: a link between two seas, with the right to close it for the owner of `controller`."""

    id: str
    seas: tuple[str, str]
    controller: str


@dataclass(frozen=True)
class Link:
    """EGC-15.3: two ends, joined by land (`land_path`) or by one territory of each group (`groups`)."""

    id: str
    kind: str
    ends: tuple[str, str]
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Infrastructure:
    """EGC-1.7: an infrastructure; `cost[level]` raises it from that level."""

    id: str
    top: int
    cost: tuple[int, ...]
    coastal: bool
    """Possible in coastal territories only."""


def _items(section: str) -> Iterator[Doc]:
    yield from DOC[section]["items"]


def _sorted(section: str) -> Iterator[Doc]:
    yield from sorted(_items(section), key=lambda item: str(item["id"]))


EMPIRES: tuple[str, ...] = tuple(e["id"] for e in _sorted("empires"))
SEAT: Mapping[str, Seat] = {empire: seat for seat, empire in enumerate(EMPIRES)}
HOMES: tuple[str, ...] = tuple(e["home"] for e in _sorted("empires"))
WITH_PORT: tuple[bool, ...] = tuple(e["starts_with_port"] for e in _sorted("empires"))
SEATS = range(len(EMPIRES))
PAIRS: tuple[tuple[Seat, Seat], ...] = tuple(combinations(SEATS, 2))
"""Every two seats in pair order (EGC-14.4)."""


def _territory(doc: Doc) -> Territory:
    home = SEAT[doc["home_of"]] if doc["home_of"] else None
    seas, neighbours = tuple(doc["seas"]), tuple(doc["land_neighbours"])
    return Territory(
        doc["id"], doc["value"], doc["natural_defence"], doc["supply"], doc["vp_bonus"], seas, neighbours, home
    )


TERRITORIES: Mapping[str, Territory] = {t["id"]: _territory(t) for t in _sorted("territories")}
SEAS: tuple[str, ...] = tuple(s["id"] for s in _sorted("seas"))
COASTS: Mapping[str, tuple[str, ...]] = {s: tuple(t.id for t in TERRITORIES.values() if s in t.seas) for s in SEAS}
"""Sea -> adjacent territories."""
STRAITS: Mapping[str, Strait] = {
    s["id"]: Strait(s["id"], (s["seas"][0], s["seas"][1]), s["controller"]) for s in _sorted("straits")
}
LINKS: Mapping[str, Link] = {
    k["id"]: Link(k["id"], k["kind"], (k["ends"][0], k["ends"][1]), tuple(tuple(g) for g in k.get("groups", ())))
    for k in _sorted("links")
}


def _sea_links() -> dict[str, dict[str, str]]:
    joined = [(a, b, "") for a, b in _items("sea_links")] + [(*s.seas, s.id) for s in STRAITS.values()]
    found: dict[str, dict[str, str]] = {sea: {} for sea in SEAS}
    for a, b, strait in sorted(joined):
        found[a][b] = found[b][a] = strait
    return found


SEA_LINKS: Mapping[str, Mapping[str, str]] = _sea_links()
"""Sea -> sea linked with it -> the strait between them, or nothing."""

INFRASTRUCTURES: Mapping[str, Infrastructure] = {
    i["id"]: Infrastructure(i["id"], i["max_level"], tuple(i["cost"]), i["coastal_only"])
    for i in _items("infrastructure")
}
"""The order is that of the rules, and of the draws (EGC-3.1)."""
TECHNOLOGIES: tuple[str, ...] = tuple(t["id"] for t in _items("technologies"))
TABLES: Mapping[str, tuple[int, ...]] = {k: tuple(v) for k, v in DOC["rank_tables"].items() if isinstance(v, list)}
"""EGC-0.7: item rank-1 is the value for a rank."""

ECONOMY: Mapping[str, Json] = {**DOC["economy"], **DOC["economy"]["designed"]}
COMBAT: Mapping[str, int] = DOC["combat"]
SUPPLY: Mapping[str, int] = DOC["supply"]
RESEARCH: Mapping[str, int] = DOC["research"]
DIPLOMACY: Mapping[str, Json] = DOC["diplomacy"]
VICTORY: Mapping[str, Json] = DOC["victory"]
NEUTRAL: Mapping[str, Json] = DOC["setup"]["neutral"]
METROPOLIS: Mapping[str, Mapping[str, int]] = DOC["setup"]["metropolis"]
MAX_ARMIES: int = DOC["armies"]["max_armies_per_empire"]
START_DIVISIONS: int = DOC["armies"]["start_divisions"]
ROUND: int = DOC["armies"]["default_activation_round"]
LADDER: tuple[str, ...] = tuple(DOC["relations"]["ladder"])
INITIAL: str = DOC["relations"]["initial"]
CASUS_BELLI: tuple[str, ...] = tuple(c["id"] for c in _items("casus_belli"))
ALLOCATION: Mapping[str, int] = dict.fromkeys(TECHNOLOGIES, RESEARCH["turn_zero_points"] // len(TECHNOLOGIES))
"""Turn zero by default (EGC-4.3)."""


def by_rank(table: str, rank: int) -> int:
    """EGC-0.7: the value of a table for a rank 1..10."""
    return TABLES[table][rank - 1]


def annex_cost(age: int) -> int:
    """EGC-7.20: points for the annexation of a protectorate, by its age in turns, 1 or more."""
    costs: Mapping[str, int] = DIPLOMACY["annex_cost_by_age"]
    return costs.get(str(age), costs["5+"])


def army_id(seat: Seat, number: int) -> str:
    """EGC-1.8: the id of an empire's army."""
    return f"{EMPIRES[seat]}-{number}"


def number_of(army: str) -> int:
    """EGC-0.3: the number at the end of an army's id."""
    return int(army.rsplit("-", 1)[1])

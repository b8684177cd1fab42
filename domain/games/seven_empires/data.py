"""Figures of the game, read once from data.json: everything called data by the rules page.

Ids are strings; a table is a dict in the order of the file, called data order by rules and defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from domain.kernel.text.package_data import load
from domain.types import Doc

DOC: Doc = load("domain.games.seven_empires", "data.json")

Unit = Literal["infantry", "artillery", "two_master", "three_master"]
UNITS: tuple[Unit, ...] = ("infantry", "artillery", "two_master", "three_master")
"""SE7-0.8: the canonical order."""
ARMIES: tuple[Unit, ...] = ("infantry", "artillery")
SHIPS: tuple[Unit, ...] = ("two_master", "three_master")
SUBSTITUTE: Mapping[str, Unit] = {u["substitute_for"]: u["id"] for u in DOC["units"]["list"] if u["substitute_for"]}
"""Unit -> its substitute from a city when none is left (SE7-5.2)."""
BORDERS: Mapping[str, int] = {u["id"]: u["steps"] for u in DOC["units"]["list"]}
"""Unit -> how many borders, or steps, it goes at most."""

Action = Literal["build_deploy", "move_fight", "attack", "palace", "empire"]
ACTIONS: tuple[Action, ...] = ("build_deploy", "move_fight", "attack", "palace", "empire")
SLOTS = ("I", "II", "III")
FIRST_SLOTS: Mapping[str, str] = {a["id"]: a["start_slot"] for a in DOC["actions"]["list"] if a["start_slot"] != "tray"}
SHIFT: Mapping[str, str] = DOC["actions"]["shift"]


@dataclass(frozen=True)
class City:
    """Data of a city region besides its place."""

    empire: str
    capital: bool
    anchor: str | None
    """First sea of its ships; None without a port."""
    makes: tuple[Unit, Unit]
    """The unit of level 1, and of level 2."""
    level: int
    """At the beginning."""
    quick: Unit | None
    """The unit of the quick start."""

    @property
    def most_crowns(self) -> int:
        """SE7-6.1: of its palace."""
        return int(CROWNS["palace_capital" if self.capital else "palace_standard"][1])


def _city(doc: Doc) -> City:
    return City(
        doc["empire"],
        doc["capital"],
        doc["anchor_sea"],
        (doc["level1_unit"], doc["level2_unit"]),
        int(doc["starts_with_city"]),
        doc["quick_start_unit"],
    )


CROWNS: Doc = DOC["crowns"]
CITY_CROWNS: tuple[int, ...] = (CROWNS["city_level_1"], CROWNS["city_level_2"])
"""Crowns of a city tile, by level (SE7-1.5)."""
LIMITS: Mapping[str, int] = {name: n for name, n in DOC["limits"].items() if isinstance(n, int)}

REGIONS: dict[str, str] = {r["id"]: r["kind"] for r in DOC["regions"]["list"]}
"""Region -> `city`, `land` or `sea` (SE7-0.4), in data order."""
CITIES: dict[str, City] = {r["id"]: _city(r) for r in DOC["regions"]["list"] if r["kind"] == "city"}
LANDS: tuple[str, ...] = tuple(r for r, kind in REGIONS.items() if kind == "land")
SEAS: tuple[str, ...] = tuple(r for r, kind in REGIONS.items() if kind == "sea")
DATA_ORDER: Mapping[str, int] = {region: i for i, region in enumerate(REGIONS)}

EMPIRES: tuple[str, ...] = tuple(e["id"] for e in DOC["empires"]["list"])
"""SE7-0.2: in flag order."""
PIECES: Mapping[str, Mapping[str, int]] = {e["id"]: e["supply"] for e in DOC["empires"]["list"]}
FLAGS: Mapping[str, int] = {e["id"]: e["flags"] for e in DOC["empires"]["list"]}
CAPITAL: Mapping[str, str] = {e["id"]: e["capital"] for e in DOC["empires"]["list"]}
OWN_CITIES: Mapping[str, tuple[str, ...]] = {e: tuple(r for r, c in CITIES.items() if c.empire == e) for e in EMPIRES}


def _graph(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {region: set() for region in REGIONS}
    for a, b in pairs:
        found[a].add(b)
        found[b].add(a)
    return {region: tuple(sorted(near, key=DATA_ORDER.__getitem__)) for region, near in found.items()}


LAND: dict[str, tuple[str, ...]] = _graph((p["a"], p["b"]) for p in DOC["adjacency"]["land"])
"""Region -> neighbours by land, in data order."""
SEA: dict[str, tuple[str, ...]] = _graph((p["a"], p["b"]) for p in DOC["adjacency"]["sea"])
COAST: dict[str, tuple[str, ...]] = _graph((p["land"], p["sea"]) for p in DOC["adjacency"]["coast"])
"""Land or city region -> adjacent seas; sea -> regions on its coasts."""


@dataclass(frozen=True)
class Card:
    """An influence card."""

    empire: str
    letter: str | None
    value: int
    worker: bool


CARDS: dict[str, Card] = {
    c["id"]: Card(c["empire"], c["letter"], c["value"], c["rank"] == "worker") for c in DOC["influence_cards"]["cards"]
}
PILES: Mapping[str, tuple[str, ...]] = {
    e: tuple(c for c, card in CARDS.items() if card.empire == e and not card.worker) for e in EMPIRES
}
"""Empire -> its pile from the top (SE7-1.6)."""
WORKERS: Mapping[str, str] = {card.empire: c for c, card in CARDS.items() if card.worker}
LETTERS: tuple[str, ...] = tuple(DOC["influence_cards"]["letter_order"])
LETTERED: Mapping[tuple[str, str], str] = {(k.empire, k.letter): c for c, k in CARDS.items() if k.letter}
"""(empire, letter) -> card."""

ROUNDS: Mapping[int, tuple[str, ...]] = {
    int(n): tuple(letters) for n, letters in DOC["starting_letters"]["by_players"].items()
}
"""Seats -> letters taken by each in a draft (SE7-2.9)."""
FIRST_INFANTRY: tuple[int, ...] = tuple(DOC["starting_infantry"]["by_cards_dealt"].values())
"""Number by cards of the empire in all hands; the last one for more (SE7-2.11)."""
DEALS: dict[str, Doc] = {c["id"]: c for c in DOC["distribution_cards"]["list"]}
TILES: tuple[str, ...] = tuple(t["id"] for t in DOC["hourglass"]["inventory"])
TILE_SETS: Mapping[int, Mapping[str, tuple[str, ...]]] = {
    int(n): {part: tuple(tiles) for part, tiles in parts.items()} for n, parts in DOC["hourglass"]["sets"].items()
}
YEARS: Mapping[int, tuple[int, ...]] = {int(n): tuple(y) for n, y in DOC["hourglass"]["time_track"].items()}
FACTORS: tuple[int, ...] = tuple(DOC["final_multipliers"]["by_rank"].values())
"""Factor by rank, the first for rank 1 (SE7-12.3)."""
SETUPS = ("distribution", "draft", "draft_simple")
OPTION_DATA: Doc = DOC["options"]

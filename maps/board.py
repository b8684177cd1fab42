"""The places and links of a game's map, as its data and texts have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from domain.types import Doc

GAMES = Path(__file__).resolve().parent.parent / "domain" / "games"
NAMES = ("struggle_of_empires", "age_of_reason", "seven_empires", "imperunde", "egc")
LANGUAGES = ("en", "fr")

Pair = frozenset[str]


@dataclass
class Place:
    """A region: its kind, its names by language, and where it lies: longitudes and latitudes, its site first."""

    id: str
    kind: str
    degrees: list[tuple[float, float]]
    names: Mapping[str, str]


@dataclass
class Board:
    """All that the generator knows of a map."""

    name: str
    circle: bool
    width: int
    height: int
    places: list[Place]
    borders: set[Pair]
    """Pairs that are adjacent, without straits, canals and links over a seam."""
    passages: dict[Pair, tuple[str, str]]
    """Straits and canals: kind and id."""
    controllers: dict[Pair, str]
    """The land that controls a strait or canal."""
    keys: dict[Pair, str]
    """Ids of straits and canals."""
    seams: list[tuple[str, str]]
    """Links over the edge of the map, from the first edge to the last."""
    hints: Doc = field(default_factory=dict)

    @property
    def adjacent(self) -> set[Pair]:
        return {*self.borders, *self.passages, *map(frozenset, self.seams)}


def read_board(name: str) -> Board:
    """Return the map of a game, with its hints from `maps/hints` and its places from `maps/places`."""
    doc = json.loads((GAMES / name / "data.json").read_text("utf-8"))
    circle = doc["map"]["space"]["projection"] == "south_polar"
    width, height = 1400, 1400 if circle else 980
    degrees, hints = (
        json.loads((Path(__file__).parent / folder / f"{name}.json").read_text("utf-8"))
        for folder in ("places", "hints")
    )
    places = [Place(each["id"], kind, degrees[each["id"]], each["name"]) for kind, each in _list_places(doc)]
    passages, controllers = {}, {}
    for kind, key in (("strait", "straits"), ("canal", "canals")):
        for each in doc.get(key, {}).get("items", ()):
            pair = frozenset(each.get("seas") or each["links"])
            passages[pair] = (kind, each["id"])
            controllers[pair] = each.get("controller") or each["country"]
    over = [] if circle else [link for seam in doc["map"]["seams"] for link in seam["links"]]
    seams = [(link["a"], link["b"]) for link in over]
    keys = {pair: key for pair, (_, key) in passages.items()}
    passages = {pair: found for pair, found in passages.items() if pair not in {frozenset(each) for each in seams}}
    borders = set(_list_borders(doc)) - {frozenset(pair) for pair in seams} - set(passages)
    return Board(name, circle, width, height, places, borders, passages, controllers, keys, seams, hints)


def _list_places(doc: Doc) -> Iterator[tuple[str, Doc]]:
    if "regions" in doc["map"]:
        yield from (("land", each) for each in doc["map"]["regions"])
    elif "regions" in doc:
        yield from (("sea" if each["kind"] == "sea" else "land", each) for each in doc["regions"]["list"])
    else:
        for kind, key in (("land", "territories"), ("land", "countries"), ("sea", "seas"), ("sea", "sea_zones")):
            yield from ((kind, each) for each in doc.get(key, {}).get("items", ()))
        if "antarctica" in doc:
            yield "barred", doc["antarctica"]


def _list_borders(doc: Doc) -> Iterator[Pair]:
    for _, each in _list_places(doc):
        for member in ("adjacent", "land_neighbours", "sea_neighbours", "seas"):
            yield from (frozenset((each["id"], other)) for other in each.get(member, ()))
    yield from (frozenset(pair) for pair in doc.get("sea_links", {}).get("items", ()))
    for kind in ("land", "sea", "coast"):
        for each in doc.get("adjacency", {}).get(kind, ()):
            yield frozenset((each.get("a") or each["land"], each.get("b") or each["sea"]))

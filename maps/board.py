"""The places and links of a game's map, as its data and texts have them."""

from __future__ import annotations

import json
import math
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
    """A region: where it lies in units of the drawing, its kind, and its names by language."""

    id: str
    kind: str
    at: tuple[float, float]
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
    """Return the map of a game, with its hints from `maps/hints`."""
    doc = json.loads((GAMES / name / "data.json").read_text("utf-8"))
    space, circle = doc["map"]["space"], doc["map"]["space"]["projection"] == "south_polar"
    width, height = 1400, 1400 if circle else 980
    places = [
        Place(
            each["id"], kind, (each["x"] * width / space["width"], each["y"] * height / space["height"]), each["name"]
        )
        for kind, each in _list_places(doc)
    ]
    if circle:
        _fill_circle(places, doc, width / 2)
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
    file = Path(__file__).parent / "hints" / f"{name}.json"
    hints = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return Board(name, circle, width, height, places, borders, passages, controllers, keys, seams, hints)


def _fill_circle(places: list[Place], doc: Doc, radius: float) -> None:
    """Keep the bearings of places from the pole, and choose distances by their order of latitude, evenly dense."""
    degrees = {each["id"]: (each.get("lat", -90), each.get("lon", 0)) for _, each in _list_places(doc)}
    order = sorted(places, key=lambda place: degrees[place.id])
    for rank, place in enumerate(order):
        far, bearing = 0.95 * radius * math.sqrt(rank / len(order)), math.radians(degrees[place.id][1])
        place.at = (radius + far * math.sin(bearing), radius - far * math.cos(bearing))


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

"""The maps of all games: where places lie, over which edge links go, and what everything is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.kernel.text.package_data import load
from domain.types import Doc
from tests.games.pages import ALL, Pages

Link = tuple[frozenset[str], str]
"""Both ends, and the kind."""

KEYED = re.compile(r"(name|names|title)_..|en|fr|de")
"""Members that would name something in one language, outside an object of names."""


def _border(places: list[Doc], member: str, kind: str) -> Iterator[Link]:
    return ((frozenset((place["id"], other)), kind) for place in places for other in place[member])


def _regions(doc: Doc) -> tuple[list[Doc], set[Link]]:
    places = doc["map"]["regions"]
    return places, set(_border(places, "adjacent", "land"))


def _egc(doc: Doc) -> tuple[list[Doc], set[Link]]:
    lands, seas = doc["territories"]["items"], doc["seas"]["items"]
    links = {*_border(lands, "land_neighbours", "land"), *_border(lands, "seas", "coast")}
    links |= {(frozenset(pair), "sea") for pair in doc["sea_links"]["items"]}
    links |= {(frozenset(strait["seas"]), "strait") for strait in doc["straits"]["items"]}
    return [*lands, *seas], links


def _imperunde(doc: Doc) -> tuple[list[Doc], set[Link]]:
    lands, seas = doc["countries"]["items"], doc["sea_zones"]["items"]
    links = {*_border(lands, "land_neighbours", "land"), *_border(lands, "sea_neighbours", "coast")}
    links |= {*_border(seas, "sea_neighbours", "sea"), *_border([doc["antarctica"]], "sea_neighbours", "coast")}
    links |= {(frozenset(canal["links"]), "canal") for canal in doc["canals"]["items"]}
    return [*lands, *seas, doc["antarctica"]], links


def _seven_empires(doc: Doc) -> tuple[list[Doc], set[Link]]:
    ends = {"land": ("a", "b"), "sea": ("a", "b"), "coast": ("land", "sea")}
    links = {(frozenset(pair[e] for e in ends[k]), k) for k in ends for pair in doc["adjacency"][k]}
    return doc["regions"]["list"], links


READ: Mapping[str, Callable[[Doc], tuple[list[Doc], set[Link]]]] = {
    "age_of_reason": _regions,
    "egc": _egc,
    "imperunde": _imperunde,
    "seven_empires": _seven_empires,
    "struggle_of_empires": _regions,
}


@pytest.fixture(params=ALL, ids=lambda pages: pages.game)
def pages(request: pytest.FixtureRequest) -> Pages:
    found: Pages = request.param
    return found


@pytest.fixture
def doc(pages: Pages) -> Doc:
    found: Doc = load(pages.rules.package, "data.json")
    return found


def objects(part: Any) -> Iterator[Doc]:
    """Every object within the data, but no object of names."""
    if isinstance(part, dict):
        yield part
        part = [value for key, value in part.items() if key not in ("name", "title")]
    for inner in part if isinstance(part, list) else ():
        yield from objects(inner)


# --- places and links ------------------------------------------------------------------------------------------


def test_the_space_is_stated_and_every_place_lies_in_it(pages: Pages, doc: Doc) -> None:
    space = doc["map"]["space"]
    assert set(space) - {"degrees"} == {"units", "width", "height", "projection", "wraps"}
    assert space["projection"] in ("schematic", "equirectangular", "south_polar")
    places, _ = READ[pages.game](doc)
    spots = {place["id"]: (place["x"], place["y"]) for place in places}
    assert all(0 <= x <= space["width"] and 0 <= y <= space["height"] for x, y in spots.values())
    assert len(spots) == len(places)


def test_places_have_degrees_where_the_space_has(pages: Pages, doc: Doc) -> None:
    degrees = doc["map"]["space"].get("degrees", {})
    places, _ = READ[pages.game](doc)
    for place in places:
        has = bool(degrees) and place["id"] != "antarctica"
        for axis in ("lon", "lat"):
            assert (axis in place) == has, place["id"]
            assert not has or degrees[axis][0] <= place[axis] <= degrees[axis][1], place["id"]


def test_each_edge_that_can_be_crossed_is_a_seam(doc: Doc) -> None:
    space = doc["map"]["space"]
    edges = {"x": [0, space["width"]]} if space["wraps"] == "x" else {}
    degrees = space.get("degrees", {})
    edges |= {degrees["wraps"]: degrees[degrees["wraps"]]} if degrees else {}
    assert {seam["axis"]: seam["edges"] for seam in doc["map"]["seams"]} == edges


def test_seam_names_just_links_that_are_shorter_over_the_edge(pages: Pages, doc: Doc) -> None:
    places, links = READ[pages.game](doc)
    at = {place["id"]: place for place in places}
    for seam in doc["map"]["seams"]:
        axis, half = seam["axis"], (seam["edges"][1] - seam["edges"][0]) / 2
        told = [(frozenset((link["a"], link["b"])), link["kind"]) for link in seam["links"]]
        assert len(told) == len(set(told))
        assert set(told) == {link for link in links if _apart(axis, *(at[end] for end in link[0])) > half}


def _apart(axis: str, a: Doc, b: Doc) -> int:
    """How far on the map; Antarctica lies at no degree."""
    return abs(a[axis] - b[axis]) if axis in a and axis in b else 0


def test_some_link_goes_over_the_edge_where_there_is_one(doc: Doc) -> None:
    assert all(seam["links"] for seam in doc["map"]["seams"])


def test_the_page_for_clients_tells_it(pages: Pages, doc: Doc) -> None:
    told = pages.page.split("\n## Map\n")[1].split("\n## ")[0]
    space = doc["map"]["space"]
    assert f"{space['width']} wide and {space['height']} high" in " ".join(told.split())
    assert all(f"`{word}`" in told for word in ("map.space", "wraps", "name"))
    for seam in doc["map"]["seams"]:
        assert f"`edges` {seam['edges'][0]} and {seam['edges'][1]}" in " ".join(told.split())
        assert all(f"`{link['kind']}`" in told for link in seam["links"])


# --- names -----------------------------------------------------------------------------------------------------


def test_names_are_keyed_by_language_and_in_no_other_way(pages: Pages, doc: Doc) -> None:
    for part in objects(doc):
        assert not [key for key in part if KEYED.fullmatch(key)], part
        for key in ("name", "title"):
            assert not isinstance(part.get(key), str) or (pages.game, key) == ("seven_empires", "title"), part


def test_places_have_names_in_every_language_and_one_place(pages: Pages, doc: Doc) -> None:
    places, _ = READ[pages.game](doc)
    for lang in LANGUAGES:
        names = [place["name"][lang] for place in places]
        assert all(names)
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_are_those_of_the_texts(pages: Pages, doc: Doc, lang: str) -> None:
    """Whatever has an id and a name: places, powers, markers, tiles, cards, infrastructure, relations.

    On a map names have the capitals of labels, in sentences those of the language.
    """
    known = load_texts(pages.rules.package, lang)
    named = {part["id"]: part["name"][lang] for part in objects(doc) if "id" in part and "name" in part}
    assert len(named) > 50
    assert {i: known.noun(i).bare.casefold() for i in named} == {i: name.casefold() for i, name in named.items()}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_title_is_that_of_the_texts(pages: Pages, doc: Doc, lang: str) -> None:
    if "title" in doc.get("meta", {}):
        assert doc["meta"]["title"][lang] == load_texts(pages.rules.package, lang).own["title"]

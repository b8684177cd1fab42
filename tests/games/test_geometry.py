"""The drawn map of each game says what its data say: its borders, its neighbours, and room for what stands on it."""

from __future__ import annotations

import gzip
import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, combinations, pairwise, permutations
from pathlib import Path

import pytest

from domain.kernel.text.package_data import load
from domain.ruleset_registry import SHIPPED
from domain.types import Doc
from tests.games.test_maps import READ

Spot = tuple[int, int]

ROOT = Path(__file__).resolve().parents[2]
MASK = 6
"""Units between the points of a mask of land."""
TRUE = 0.85
"""Least part of the land that lies on land of the globe, and of the sea on its sea."""
NEAR = 45
"""Length of the longest line from a name to its region."""
LEAST = 12
"""Length of a border that is seen."""
ROOM = 16
"""Radius of a circle that fits into each region."""
SIZES = {"egc": 40_000, "imperunde": 34_000}
FAULTS = {
    "struggle_of_empires": (0, 0),
    "age_of_reason": (0, 0),
    "seven_empires": (1, 0),
    "imperunde": (5, 2),
    "egc": (5, 14),
}
"""Missing and false borders that a map may have."""


@cache
def _draw(game: str) -> Drawing:
    return Drawing(game)


@pytest.fixture(params=SHIPPED)
def drawing(request: pytest.FixtureRequest) -> Drawing:
    return _draw(str(request.param))


class Drawing:
    """A geometry, with arcs and rings as points."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.doc: Doc = load(f"domain.games.{game}", "geometry.json")
        self.data: Doc = load(f"domain.games.{game}", "data.json")
        self.regions: dict[str, Doc] = self.doc["regions"]
        self.arcs = [_points(arc) for arc in self.doc["arcs"]]
        self.rings = {
            name: [[spot for n in ring for spot in self.run(n)[:-1]] for ring in region["rings"]]
            for name, region in self.regions.items()
        }
        self.places, links = READ[game](self.data)
        self.adjacent = {pair for pair, _ in links}
        sides: dict[int, list[str]] = {}
        for name, region in self.regions.items():
            for n in (n for ring in region["rings"] for n in ring):
                sides.setdefault(max(n, ~n), []).append(name)
        self.sides = sides
        self.borders: dict[frozenset[str], float] = {}
        for arc, names in sides.items():
            if len(names) == 2:
                pair = frozenset(names)
                self.borders[pair] = self.borders.get(pair, 0) + sum(
                    math.dist(a, b) for a, b in pairwise(self.arcs[arc])
                )

    def run(self, n: int) -> list[Spot]:
        return self.arcs[n] if n >= 0 else self.arcs[~n][::-1]

    def edges(self, name: str) -> Iterator[tuple[Spot, Spot]]:
        for ring in self.rings[name]:
            yield from zip(ring, ring[1:] + ring[:1], strict=True)

    def is_inside(self, name: str, x: float, y: float) -> bool:
        odd = False
        for (ax, ay), (bx, by) in self.edges(name):
            if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
                odd = not odd
        return odd

    def columns(self, name: str, y: float) -> list[float]:
        """Where a row enters and leaves the region, in turn."""
        return sorted(
            ax + (y - ay) * (bx - ax) / (by - ay) for (ax, ay), (bx, by) in self.edges(name) if (ay > y) != (by > y)
        )

    def gap(self, name: str, x: float, y: float) -> float:
        """The distance from the border."""
        return min(_distance((x, y), a, b) for a, b in self.edges(name))


def _points(arc: list[int]) -> list[Spot]:
    found = [(arc[0], arc[1])]
    for dx, dy in zip(arc[2::2], arc[3::2], strict=True):
        found.append((found[-1][0] + dx, found[-1][1] + dy))
    return found


def _distance(p: tuple[float, float], a: Spot, b: Spot) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    part = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy)
    part = min(1.0, max(0.0, part))
    return math.hypot(p[0] - a[0] - part * dx, p[1] - a[1] - part * dy)


def _area(ring: list[Spot]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1], strict=True)) / 2


def _crosses(a: Spot, b: Spot, c: Spot, d: Spot) -> bool:
    def side(p: Spot, q: Spot, r: Spot) -> int:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


# --- regions ---------------------------------------------------------------------------------------------------


def test_every_region_is_drawn(drawing: Drawing) -> None:
    assert set(drawing.regions) == {place["id"] for place in drawing.places}
    codes = [region["code"] for region in drawing.regions.values()]
    assert len(set(codes)) == len(codes)
    assert all(2 <= len(code) <= 4 for code in codes)


def test_each_border_is_stored_once_and_has_region_on_each_side(drawing: Drawing) -> None:
    ways = Counter(n for region in drawing.regions.values() for ring in region["rings"] for n in ring)
    assert set(ways.values()) == {1}
    assert {max(n, ~n) for n in ways} == {i for i, arc in enumerate(drawing.arcs) if len(arc) > 1}


def test_regions_have_one_part_with_holes_in_it(drawing: Drawing) -> None:
    for name, (outer, *holes) in drawing.rings.items():
        assert _area(outer) > 0, name
        assert all(_area(hole) < 0 for hole in holes), name
        assert all(a != b for a, b in drawing.edges(name)), name
        for ring in drawing.regions[name]["rings"]:
            assert all(drawing.run(n)[-1] == drawing.run(m)[0] for n, m in zip(ring, ring[1:] + ring[:1], strict=True))


def test_no_border_crosses_another(drawing: Drawing) -> None:
    """So regions do not overlap: each border has its two sides, and only crossing ones could mix them up."""
    cells: dict[Spot, set[tuple[Spot, Spot]]] = {}
    for arc in drawing.arcs:
        for a, b in pairwise(arc):
            for x in range(min(a[0], b[0]) // 20, max(a[0], b[0]) // 20 + 1):
                for y in range(min(a[1], b[1]) // 20, max(a[1], b[1]) // 20 + 1):
                    cells.setdefault((x, y), set()).add((a, b))
    for found in cells.values():
        assert not [(s, t) for s, t in combinations(found, 2) if _crosses(*s, *t)]


def test_the_frame_is_filled(drawing: Drawing) -> None:
    frame = drawing.doc["frame"]
    whole = math.pi * frame["r"] ** 2 if frame["kind"] == "circle" else frame["width"] * frame["height"]
    filled = sum(_area(ring) for rings in drawing.rings.values() for ring in rings)
    open_sea = all(region["kind"] == "land" for region in drawing.regions.values())
    assert filled <= whole
    assert open_sea or filled > 0.995 * whole


def test_land_and_sea_lie_where_they_are_on_the_globe(drawing: Drawing) -> None:
    """`maps/masks` has what is land on the globe, projected as the map is: rows of points, sea and land in turn."""
    file = ROOT / "maps" / "masks" / f"{drawing.game}.json"
    if not file.exists():
        pytest.skip("not yet drawn from the globe")
    rows: list[list[int]] = json.loads(file.read_text("utf-8"))
    frame, is_right = drawing.doc["frame"], Counter[tuple[bool, bool]]()
    kinds = {name: region["kind"] != "sea" for name, region in drawing.regions.items()}
    for row, runs in enumerate(rows):
        y, changes = MASK // 2 + MASK * row + 0.5, list(accumulate(runs))
        spans = [
            (*span, kinds[name]) for name in kinds for span in zip(*[iter(drawing.columns(name, y))] * 2, strict=True)
        ]
        for column in range(drawing.doc["view"][2] // MASK):
            x = MASK // 2 + MASK * column
            if frame["kind"] == "circle" and math.dist((x, y), (frame["x"], frame["y"])) > frame["r"]:
                continue
            is_land = any(left <= x <= right and kind for left, right, kind in spans)
            is_right[is_land, is_land == (bisect_right(changes, column) % 2 == 1)] += 1
    for is_land in (True, False):
        assert is_right[is_land, True] >= TRUE * (is_right[is_land, True] + is_right[is_land, False]), is_right


# --- adjacency -------------------------------------------------------------------------------------------------


def test_adjacent_regions_have_a_border_or_a_link(drawing: Drawing) -> None:
    linked = {frozenset(link["ends"]) for link in drawing.doc["links"]}
    assert linked <= drawing.adjacent
    assert not {pair for pair in drawing.adjacent - linked if drawing.borders.get(pair, 0) < LEAST}


def test_any_other_border_is_closed(drawing: Drawing) -> None:
    plain = {
        frozenset(names) for arc, names in drawing.sides.items() if len(names) == 2 and arc not in drawing.doc["closed"]
    }
    assert plain <= drawing.adjacent


def test_few_borders_are_missing_or_false(drawing: Drawing) -> None:
    kinds = Counter(link["kind"] for link in drawing.doc["links"])
    seams = sum(len(seam["links"]) for seam in drawing.data["map"]["seams"]) if drawing.game == "egc" else 0
    missing, false = FAULTS[drawing.game]
    assert kinds["missing"] + kinds["seam"] - seams <= missing
    assert len(drawing.borders.keys() - drawing.adjacent) <= false


def test_neighbours_are_those_of_the_data(drawing: Drawing) -> None:
    for name, region in drawing.regions.items():
        expected = {other for pair in drawing.adjacent if name in pair for other in pair - {name}}
        assert len(region["neighbours"]) == len(expected)
        assert set(region["neighbours"]) == expected


# --- labels, slots, harbours -----------------------------------------------------------------------------------


def test_each_region_has_room(drawing: Drawing) -> None:
    for name, region in drawing.regions.items():
        spots = [slot[:2] for slot in region["slots"]] + [[region["label"]["x"], region["label"]["y"]]]
        xs, ys = zip(*drawing.rings[name][0], strict=True)
        grid = [(x, y) for x in range(min(xs), max(xs), 6) for y in range(min(ys), max(ys), 6)]
        assert any(
            drawing.is_inside(name, x, y) and drawing.gap(name, x, y) >= ROOM for x, y in [*map(tuple, spots), *grid]
        ), name


def test_labels_stand_in_their_region_or_have_a_leader_into_it(drawing: Drawing) -> None:
    boxes = {}
    for name, region in drawing.regions.items():
        label = region["label"]
        x0, y0 = label["x"] - label["width"] / 2, label["y"] - label["height"] / 2
        boxes[name] = (x0, y0, x0 + label["width"], y0 + label["height"])
        if "leader" in label:
            assert drawing.is_inside(name, *label["leader"]), name
        else:
            corners = [(x, y) for x in boxes[name][::2] for y in boxes[name][1::2]]
            assert all(drawing.is_inside(name, x, y) for x, y in corners), name
            left, top, right, bottom = boxes[name]
            assert not [s for s, _ in drawing.edges(name) if left < s[0] < right and top < s[1] < bottom], name
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (one, other)


def test_leaders_are_short_and_cross_no_name(drawing: Drawing) -> None:
    leaders = {
        name: _leader(region["label"]) for name, region in drawing.regions.items() if "leader" in region["label"]
    }
    for name, ends in leaders.items():
        assert math.dist(*ends) <= NEAR, name
        for other, label in ((each, drawing.regions[each]["label"]) for each in drawing.regions if each != name):
            assert all(
                abs(x - label["x"]) >= label["width"] / 2 or abs(y - label["y"]) >= label["height"] / 2
                for x, y in (_between(*ends, part / 10) for part in range(11))
            ), (name, other)
    assert not [pair for pair in combinations(leaders, 2) if _crosses(*leaders[pair[0]], *leaders[pair[1]])]


def _leader(label: Doc) -> tuple[Spot, Spot]:
    """The line from the edge of the box."""
    x, y = label["leader"]
    left, top = label["x"] - label["width"] // 2, label["y"] - label["height"] // 2
    return (min(max(x, left), left + label["width"]), min(max(y, top), top + label["height"])), (x, y)


def _between(a: Spot, b: Spot, part: float) -> tuple[float, float]:
    return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part


def test_no_region_leaves_its_inset(drawing: Drawing) -> None:
    insets = drawing.doc["insets"]
    assert bool(insets) == (drawing.game in {"struggle_of_empires", "age_of_reason"})
    for name, rings in drawing.rings.items():
        xs, ys = zip(*rings[0], strict=True)
        held = [x <= min(xs) and max(xs) <= x + w and y <= min(ys) and max(ys) <= y + h for x, y, w, h in insets]
        assert sum(held) == bool(insets), name


def test_labels_leave_the_pieces_of_other_regions_free(drawing: Drawing) -> None:
    covered = []
    for (one, a), (other, b) in permutations(drawing.regions.items(), 2):
        label, (x, y, r) = a["label"], b["slots"][0]
        dx, dy = abs(x - label["x"]) - label["width"] / 2, abs(y - label["y"]) - label["height"] / 2
        if math.hypot(max(dx, 0), max(dy, 0)) < r:
            covered.append((one, other))
    assert not covered


def test_labels_have_room_for_each_language(drawing: Drawing) -> None:
    for place in drawing.places:
        label = drawing.regions[place["id"]]["label"]
        for name in place["name"].values():
            lines = _break(name, label["width"], label["size"])
            assert max(map(len, lines)) * 0.58 * label["size"] <= label["width"] + 1, name
            assert len(lines) * 1.2 * label["size"] <= label["height"] + 1, name


def _break(name: str, width: float, size: int) -> list[str]:
    if " (" in name:
        return name.replace(" (", "\n(").split("\n")
    breaks = [i + 1 for i, c in enumerate(name) if c in " -" and 0 < i < len(name) - 1]
    if 0.58 * size * len(name) <= width or not breaks:
        return [name]
    at = min(breaks, key=lambda i: max(len(name[:i].rstrip()), len(name[i:])))
    return [name[:at].rstrip(), name[at:]]


def test_slots_lie_in_their_region_apart_from_labels(drawing: Drawing) -> None:
    for name, region in drawing.regions.items():
        assert 1 <= len(region["slots"]) <= 8, name
        label = region["label"]
        for x, y, r in region["slots"]:
            assert drawing.is_inside(name, x, y), name
            assert drawing.gap(name, x, y) >= r - 1, name
            dx, dy = abs(x - label["x"]) - label["width"] / 2, abs(y - label["y"]) - label["height"] / 2
            assert "leader" in label or math.hypot(max(dx, 0), max(dy, 0)) >= r, name
        for a, b in combinations(region["slots"], 2):
            assert math.dist(a[:2], b[:2]) >= a[2] + b[2], name


def test_harbours_lie_on_the_coast(drawing: Drawing) -> None:
    for name, region in drawing.regions.items():
        if "harbour" in region:
            assert region["kind"] == "land"
            assert drawing.gap(name, *region["harbour"][:2]) < 2, name


def test_maps_are_small(drawing: Drawing) -> None:
    text = json.dumps(drawing.doc, separators=(",", ":")).encode()
    assert len(gzip.compress(text)) <= SIZES.get(drawing.game, 20_000)

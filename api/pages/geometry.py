"""The drawing of a ruleset's map: borders, names and places for pieces, as SVG for all tables of the ruleset.

Source: `geometry.json` of the game, in the form of docs/api/geometry.md. All lengths are its units.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape

from api.services import Doc
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.kernel.text.package_data import load

CHARACTER_WIDTH, LINE_HEIGHT = 0.58, 1.2
"""Room for a character and a line, in sizes of the font."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """The geometry of a ruleset's map."""

    package: str
    doc: Doc

    @property
    def regions(self) -> Mapping[str, Doc]:
        """Return the regions by id."""
        regions: Mapping[str, Doc] = self.doc["regions"]
        return regions

    @property
    def view_box(self) -> str:
        """Return the view box of the whole map."""
        return " ".join(map(str, self.doc["view"]))

    def arc_points(self, arc: int) -> list[tuple[int, int]]:
        """Return the points of an arc. A negative number is an arc backwards: its complement."""
        if arc < 0:
            return self.arc_points(~arc)[::-1]
        return _points(self.doc["arcs"][arc])

    def region_path(self, region: str) -> str:
        """Return the path of a region."""
        return "".join(_ring_path(self.ring_points(ring)) for ring in self.regions[region]["rings"])

    def ring_points(self, arcs: Iterable[int]) -> list[tuple[int, int]]:
        """Return the corners of a ring of a region, each once."""
        points: list[tuple[int, int]] = []
        for arc in arcs:
            points += self.arc_points(arc)[bool(points) :]
        return points[:-1]

    def list_coasts(self) -> tuple[list[int], list[int]]:
        """Return the coasts, and the arcs between two regions of one kind."""
        sides: dict[int, list[str]] = {}
        for region in self.regions.values():
            for ring in region["rings"]:
                for arc in ring:
                    sides.setdefault(max(arc, ~arc), []).append("sea" if region["kind"] == "sea" else "land")
        coasts = [arc for arc, kinds in sides.items() if len(kinds) == 1 or kinds[0] != kinds[1]]
        return sorted(coasts), sorted(sides.keys() - set(coasts))


def load_geometry(package: str) -> Geometry | None:
    """Return the geometry of a game, or None for a game without a map."""
    return _load(package) if package else None


@functools.cache
def _load(package: str) -> Geometry | None:
    with suppress(FileNotFoundError):
        return Geometry(package, dict(load(package, "geometry.json")))
    return None


@dataclass(frozen=True)
class MapFile:
    """The shared drawing of a map in one language."""

    parts: str
    """The parts as SVG elements, for the `<defs>` of a document."""
    svg: bytes
    digest: str


@functools.lru_cache(maxsize=16)
def draw_map(geometry: Geometry, lang: str) -> MapFile:
    """Return the shared drawing of a map.

    Parts: `r-REGION`, each a path without colours; `coasts`, `borders`, `closed` for borders without adjacency,
    `links` and `link-N`, `names`. A page shows a part by `<use>`, and its style gives the colours.
    """
    texts = load_texts(geometry.package, lang)
    coasts, borders = geometry.list_coasts()
    closed = sorted(geometry.doc["closed"])
    parts = [f'<path id="r-{name}" d="{geometry.region_path(name)}" fill-rule="evenodd"/>' for name in geometry.regions]
    for name, arcs in (("coasts", coasts), ("borders", borders), ("closed", closed)):
        path = "".join(_line_path(geometry.arc_points(arc)) for arc in arcs)
        parts.append(f'<path id="{name}" d="{path}" fill="none"/>')
    shown = []
    for n, link in enumerate(geometry.doc["links"]):
        path = "".join(_line_path(_points(line)) for line in link["lines"])
        parts.append(f'<path id="link-{n}" d="{path}" fill="none"/>')
        shown += [path] if link["kind"] != "seam" else []
    parts.append(f'<path id="links" d="{"".join(shown)}" fill="none"/>')
    largest = max(region["label"]["size"] for region in geometry.regions.values())
    names = (
        _draw_name(region_name(texts, n), _fit_label(texts, n, r["label"], largest))
        for n, r in geometry.regions.items()
    )
    parts.append(f'<g id="names">{"".join(names)}</g>')
    joined = "".join(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{geometry.view_box}"><defs>{joined}</defs></svg>'.encode()
    return MapFile(joined, svg, hashlib.sha256(svg).hexdigest()[:16])


def region_name(texts: Texts, region: str) -> str:
    """Return the name of a region for the map: without a remark in brackets, with a capital letter."""
    name = texts.noun(region).bare.partition(" (")[0]
    return name[:1].upper() + name[1:]


def _fit_label(texts: Texts, region: str, label: Doc, largest: int) -> Doc:
    """Return the label; larger if it has room for a remark in brackets, which is left out."""
    name = region_name(texts, region)
    if "leader" in label or len(name) == len(texts.noun(region).bare):
        return label
    lines = break_name(name, label)
    size = min(label["height"] / LINE_HEIGHT / len(lines), label["width"] / CHARACTER_WIDTH / max(map(len, lines)))
    return {**label, "size": max(label["size"], min(int(size), largest))}


def break_name(name: str, label: Doc) -> list[str]:
    """Return a name in one line, or in two lines of nearly one length."""
    if CHARACTER_WIDTH * label["size"] * len(name) <= label["width"]:
        return [name]
    breaks = [(name[:n], name[n + 1 :]) for n, sign in enumerate(name) if sign == " "]
    breaks += [(name[: n + 1], name[n + 1 :]) for n, sign in enumerate(name) if sign == "-"]
    return list(min(breaks, key=lambda lines: max(map(len, lines)), default=(name,)))


def _draw_name(name: str, label: Doc) -> str:
    lines, size = break_name(name, label), label["size"]
    leader = ""
    if "leader" in label:
        x, y = label["leader"]
        leader = f'<path d="M{label["x"]} {label["y"]}L{x} {y}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    first = label["y"] + round(0.35 * size - 0.5 * LINE_HEIGHT * size * (len(lines) - 1))
    spans = "".join(
        f'<tspan x="{label["x"]}" y="{first + round(n * LINE_HEIGHT * size)}">{escape(line)}</tspan>'
        for n, line in enumerate(lines)
    )
    return f'{leader}<text font-size="{size}" text-anchor="middle">{spans}</text>'


def _points(line: Sequence[int]) -> list[tuple[int, int]]:
    x, y = line[0], line[1]
    found = [(x, y)]
    for n in range(2, len(line), 2):
        x, y = x + line[n], y + line[n + 1]
        found.append((x, y))
    return found


def _line_path(points: Sequence[tuple[int, int]]) -> str:
    (x, y), steps = points[0], []
    for nx, ny in points[1:]:
        steps.append(f"{nx - x} {ny - y}")
        x, y = nx, ny
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}".replace(" -", "-")


def _ring_path(points: Sequence[tuple[int, int]]) -> str:
    return _line_path(points) + "z"

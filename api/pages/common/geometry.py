"""The geometry of a ruleset's map: its regions, arcs and borders.

Source: `geometry.json` of the game, in the form of docs/api/geometry.md. All lengths are its units.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from domain.kernel.text.package_data import load
from domain.types import Doc


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

    @property
    def least_name(self) -> int:
        """Return the size of the smallest name."""
        return min(int(region["label"]["size"]) for region in self.regions.values())

    def arc_points(self, arc: int) -> list[tuple[int, int]]:
        """Return the points of an arc. A negative number is an arc backwards: its complement."""
        if arc < 0:
            return self.arc_points(~arc)[::-1]
        return read_points(self.doc["arcs"][arc])

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


def read_points(line: Sequence[int]) -> list[tuple[int, int]]:
    """Return the points of a line in the form of the file: a first one, then differences."""
    x, y = line[0], line[1]
    found = [(x, y)]
    for n in range(2, len(line), 2):
        x, y = x + line[n], y + line[n + 1]
        found.append((x, y))
    return found


def line_path(points: Sequence[tuple[int, int]]) -> str:
    """Return an SVG path through points."""
    (x, y), steps = points[0], []
    for nx, ny in points[1:]:
        steps.append(f"{nx - x} {ny - y}")
        x, y = nx, ny
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}".replace(" -", "-")


def _ring_path(points: Sequence[tuple[int, int]]) -> str:
    return line_path(points) + "z"

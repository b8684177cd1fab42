"""Outlines: the borders between regions of cells as arcs of whole numbers, each stored once, and rings made of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from maps.layout import Points
from maps.mesh import OUTSIDE, Mesh

Spot = tuple[int, int]
Chain = tuple[list[int], tuple[int, int]]
"""Vertices, and the regions to their right and left."""

SMOOTHING = 6
"""Rounds of smoothing."""
SHORE = 0.25
"""How much the true shore is smoothed, in parts of the rest."""
SHORT = 16.0
"""Length of a false border that shrinks to a corner."""
SIMPLE = 7.0
"""Area in square units of the triangle at a point that may be left out."""
LESS = (1.0, 0.4, 0.1, 0.0)
"""Parts of it; the next one where a ring crosses itself."""


@dataclass
class Outline:
    """Arcs, the regions to their right and left, and for each region its rings: arcs by number, ~n backwards."""

    arcs: list[list[Spot]]
    sides: list[tuple[int, int]]
    rings: list[list[list[int]]]

    def ring_spots(self, ring: Sequence[int]) -> list[Spot]:
        """Return the points of a ring; the first is not repeated."""
        found: list[Spot] = []
        for arc in ring:
            found += self.arcs[arc][:-1] if arc >= 0 else self.arcs[~arc][:0:-1]
        return found

    def shape(self, rings: Sequence[Sequence[int]]) -> shapely.Polygon:
        """Return the shape that rings enclose."""
        outer, *holes = (self.ring_spots(ring) for ring in rings)
        return shapely.Polygon(outer, holes)

    def is_valid(self, rings: Sequence[Sequence[int]]) -> bool:
        return all(len(self.ring_spots(ring)) > 2 for ring in rings) and bool(self.shape(rings).is_valid)

    def contacts(self) -> dict[tuple[int, int], list[int]]:
        """Return the arcs between two regions, the lower number first."""
        found: dict[tuple[int, int], list[int]] = {}
        for arc, (a, b) in enumerate(self.sides):
            if min(a, b) >= 0:
                found.setdefault((min(a, b), max(a, b)), []).append(arc)
        return found

    def arc_length(self, arc: int) -> float:
        spots = np.array(self.arcs[arc], dtype=float)
        return float(np.linalg.norm(np.diff(spots, axis=0), axis=1).sum())


def draw_outline(
    mesh: Mesh, label: Sequence[int], count: int, apart: Callable[[int, int], bool], land: Sequence[bool], simple: float
) -> Outline:
    """Return the outline of the regions below `count`; others, and what lies outside, are no region.

    Points whose triangle is below `simple` are left out. A short border of two regions that are `apart` becomes a
    corner where four meet.
    """
    ends: dict[int, list[tuple[int, int, int]]] = {}
    """Vertex -> the next vertex, region to the right, region to the left."""
    for a, b, u, v in mesh.edges:
        left, right = _region(label, a, count), _region(label, b, count)
        if left == right:
            continue
        way, to = mesh.vertices[v] - mesh.vertices[u], mesh.centres[a] - mesh.vertices[u]
        if way[0] * to[1] - way[1] * to[0] > 0:
            left, right = right, left
        ends.setdefault(u, []).append((v, right, left))
        ends.setdefault(v, []).append((u, left, right))
    chains, places = _pinch(mesh, _trace(ends), apart)
    shore = {v for a, b, *ends in mesh.edges if b != OUTSIDE and land[a] != land[b] for v in ends}
    spots = _smooth(mesh, [chain for chain, _ in chains], places, shore)
    corners = _find_corners(mesh, spots)
    ends_of = [(chain[0], chain[-1]) for chain, _ in chains]
    sides = [side for _, side in chains]
    levels = [0] * len(chains)
    while True:
        arcs = [
            _simplify([spots[v] for v in chain], [v in corners for v in chain], LESS[level] * simple)
            for (chain, _), level in zip(chains, levels, strict=True)
        ]
        outline = Outline(arcs, sides, [_close(region, ends_of, sides, arcs) for region in range(count)])
        crossed = {
            abs_arc(arc) for rings in outline.rings if not outline.is_valid(rings) for ring in rings for arc in ring
        }
        if not crossed:
            return outline
        if all(levels[arc] == len(LESS) - 1 for arc in crossed):
            rough = {v for arc in crossed for v in chains[arc][0] if spots[v] is not places[v]}
            if not rough:
                return outline
            spots.update((v, places[v]) for v in rough)
        for arc in crossed:
            levels[arc] = min(levels[arc] + 1, len(LESS) - 1)


def abs_arc(arc: int) -> int:
    """Return the number of an arc that may run backwards."""
    return max(arc, ~arc)


def _region(label: Sequence[int], cell: int, count: int) -> int:
    return OUTSIDE if cell == OUTSIDE or label[cell] >= count else label[cell]


def _trace(ends: dict[int, list[tuple[int, int, int]]]) -> list[tuple[list[int], tuple[int, int]]]:
    """Return chains of vertices between junctions, and closed ones, with the regions to their right and left."""
    used: set[tuple[int, int]] = set()
    found = []
    junctions = [v for v in sorted(ends) if len(ends[v]) != 2]
    for start in [*junctions, *sorted(ends)]:
        for step, right, left in sorted(ends[start]):
            if (start, step) in used:
                continue
            chain, at = [start], step
            used |= {(start, step), (step, start)}
            while at != start and len(ends[at]) == 2:
                chain.append(at)
                following = next(v for v, _, _ in ends[at] if v != chain[-2])
                used |= {(at, following), (following, at)}
                at = following
            chain.append(at)
            found.append((chain, (right, left)))
    return found


def _pinch(mesh: Mesh, chains: list[Chain], apart: Callable[[int, int], bool]) -> tuple[list[Chain], dict[int, Points]]:
    """Return the chains without short ones of regions that are apart, and the places of vertices where these were."""
    places = {v: mesh.vertices[v] for chain, _ in chains for v in chain}
    around: dict[int, set[int]] = {}
    for chain, side in chains:
        for v in (chain[0], chain[-1]):
            around.setdefault(v, set()).update(side)

    def length(chain: list[int]) -> float:
        spots = np.array([places[v] for v in chain])
        return float(np.linalg.norm(np.diff(spots, axis=0), axis=1).sum())

    left = dict(enumerate(chains))
    for i in sorted(left, key=lambda i: length(left[i][0])):
        chain, side = left[i]
        u, v = chain[0], chain[-1]
        twice = len(around[u] & around[v]) > len(side)
        if not apart(*side) or length(chain) > SHORT or u == v or twice or (u in mesh.rim and v in mesh.rim):
            continue
        keep, gone = (v, u) if v in mesh.rim else (u, v)
        if keep not in mesh.rim:
            places[keep] = (places[u] + places[v]) / 2
        around[keep] = around[u] | around[v]
        del left[i]
        left = {j: ([keep if w == gone else w for w in each], s) for j, (each, s) in left.items()}
    return list(left.values()), places


def _smooth(mesh: Mesh, chains: list[list[int]], places: dict[int, Points], shore: set[int]) -> dict[int, Points]:
    """Return the places of vertices, smoothed along the chains, less on a shore; those of the frame stay on it."""
    near: dict[int, set[int]] = {}
    for chain in chains:
        for a, b in itertools.pairwise(chain):
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    names = sorted(near)
    place = {v: i for i, v in enumerate(names)}
    spots = np.array([places[v] for v in names])
    free = np.array([0 if v in mesh.rim else SHORE if v in shore else 1 for v in names])[:, None]
    pairs = np.array([(place[a], place[b]) for a in names for b in sorted(near[a])])
    degree = np.bincount(pairs[:, 0], minlength=len(names))[:, None]
    for _ in range(SMOOTHING):
        for weight in (0.5, -0.34):
            total = np.zeros_like(spots)
            np.add.at(total, pairs[:, 0], spots[pairs[:, 1]])
            spots += weight * free * (total / degree - spots)
    return dict(zip(names, spots, strict=True))


def _find_corners(mesh: Mesh, spots: dict[int, Points]) -> set[int]:
    """Return the vertices at the corners of a rectangle."""
    rim = [v for v in spots if v in mesh.rim]
    if not rim:
        return set()
    every = mesh.vertices[sorted(mesh.rim)]
    low, high = every.min(axis=0), every.max(axis=0)
    return {v for v in rim if all(min(abs(spots[v] - low)[i], abs(spots[v] - high)[i]) < 0.01 for i in (0, 1))}


def _simplify(spots: list[Points], held: list[bool], simple: float) -> list[Spot]:
    """Return the points that matter, rounded: the least triangles are left out first (Visvalingam)."""
    left = list(range(len(spots)))
    closed = bool(np.array_equal(spots[0], spots[-1]))
    least = 5 if closed else 2

    def area(i: int) -> float:
        a, b, c = (spots[left[i + k]] for k in (-1, 0, 1))
        return abs(float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))) / 2

    while len(left) > least:
        sizes = [(area(i), i) for i in range(1, len(left) - 1) if not held[left[i]]]
        if not sizes or min(sizes)[0] > simple:
            break
        del left[min(sizes)[1]]
    rounded = [(round(float(spots[i][0])), round(float(spots[i][1]))) for i in left]
    return [spot for i, spot in enumerate(rounded) if i == 0 or spot != rounded[i - 1]]


def _close(
    region: int, keep: list[tuple[int, int]], sides: list[tuple[int, int]], arcs: list[list[Spot]]
) -> list[list[int]]:
    """Return the rings of a region, the outer one first, with the region to the right of each arc."""
    starts: dict[int, int] = {}
    for arc, (right, left) in enumerate(sides):
        if right == region:
            starts[keep[arc][0]] = arc
        if left == region:
            starts[keep[arc][1]] = ~arc
    rings = []
    while starts:
        first = min(starts)
        ring, at = [], first
        while at in starts:
            arc = starts.pop(at)
            ring.append(arc)
            at = keep[arc][1] if arc >= 0 else keep[~arc][0]
        rings.append([arc for arc in ring if len(arcs[abs_arc(arc)]) > 1])

    def size(ring: list[int]) -> float:
        spots = [spot for arc in ring for spot in (arcs[arc][:-1] if arc >= 0 else arcs[~arc][:0:-1])]
        return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(spots, spots[1:] + spots[:1], strict=True)) / 2

    return sorted(rings, key=lambda ring: (-size(ring), ring))

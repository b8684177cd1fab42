"""A fine mesh of cells that fills the frame. Regions are sets of cells, so borders are shared by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from scipy.spatial import KDTree, Voronoi

from maps.board import Board
from maps.layout import MARGIN, Points

OUTSIDE = -1
STEP, SIDE, APART, CLEAR = 0.9, 0.35, 0.75, 0.7
"""In parts of the spacing: the step along a coast, and from it; least gaps between pairs, and of others from them."""


@dataclass
class Mesh:
    """Cells and the edges between them."""

    centres: Points
    areas: list[float]
    around: list[list[tuple[int, float]]]
    """For each cell: its neighbours in the order of their angle, and the length of the common edge."""
    vertices: Points
    edges: list[tuple[int, int, int, int]]
    """Cell, cell or OUTSIDE, vertex, vertex."""
    rim: set[int]
    """Vertices on the frame."""


def make_mesh(board: Board, spacing: float, coasts: Sequence[shapely.LinearRing]) -> Mesh:
    """Return the Voronoi cells of a shaken hexagonal grid, cut at the frame; edges of cells run along the coasts."""
    rng = np.random.default_rng(2)
    rows = np.arange(-2, board.height / (spacing * 0.866) + 2)
    points = np.array(
        [
            (spacing * (col + 0.5 * (row % 2)), spacing * 0.866 * row)
            for row in rows
            for col in range(int(board.width / spacing) + 2)
        ]
    )
    points += spacing * rng.uniform(-0.38, 0.38, points.shape)
    points = _pair_coasts(points, coasts, spacing)
    points = points[_depth(board, points) > 0.25 * spacing]
    count = len(points)
    diagram = Voronoi(np.concatenate([points, *_mirror(board, points, 3 * spacing)]))
    vertices = diagram.vertices.copy()
    rim: set[int] = set()
    edges = []
    for (a, b), ends in zip(diagram.ridge_points, diagram.ridge_vertices, strict=True):
        inner = [int(i) for i in (a, b) if i < count]
        if not inner:
            continue
        u, v = map(int, ends)
        if len(inner) == 1:
            rim |= {u, v}
        edges.append((inner[0], inner[1] if len(inner) > 1 else OUTSIDE, u, v))
    _snap(board, vertices, rim)
    around: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for a, b, u, v in edges:
        length = float(np.hypot(*(vertices[u] - vertices[v])))
        if b != OUTSIDE:
            around[a].append((b, length))
            around[b].append((a, length))
        else:
            around[a].append((OUTSIDE, length))
    middle = {(a, b): (vertices[u] + vertices[v]) / 2 for a, b, u, v in edges}
    for cell, found in enumerate(around):
        places = {b: middle.get((cell, b), middle.get((b, cell))) for b, _ in found}
        found.sort(key=lambda each: float(np.arctan2(*(places[each[0]] - points[cell])[::-1])))
    areas = [float(_area(vertices[diagram.regions[diagram.point_region[i]]])) for i in range(count)]
    return Mesh(points, areas, around, vertices, edges, rim)


def _pair_coasts(points: Points, coasts: Sequence[shapely.LinearRing], spacing: float) -> Points:
    """Return the points with pairs on both sides of coasts in place of those that are near."""
    pairs, rng = list[Points](), np.random.default_rng(4)
    for ring in coasts:
        count = round(ring.length / (STEP * spacing))
        ends = shapely.get_coordinates(shapely.line_interpolate_point(ring, np.arange(count + 1) / max(count, 1), True))
        if count < 4:
            continue
        middles, along = (ends[1:] + ends[:-1]) / 2, ends[1:] - ends[:-1]
        away = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
        middles += spacing * rng.uniform(-0.04, 0.04, middles.shape)  # four cells never meet in a point
        pairs.append(np.stack([middles - SIDE * spacing * away, middles + SIDE * spacing * away], axis=1))
    kept: list[Points] = []
    tree: dict[tuple[int, int], list[Points]] = {}
    for pair in np.concatenate(pairs):
        middle = pair.mean(axis=0)
        key = (int(middle[0] // spacing), int(middle[1] // spacing))
        close = (spot for x in (-1, 0, 1) for y in (-1, 0, 1) for spot in tree.get((key[0] + x, key[1] + y), ()))
        if all(np.hypot(*(spot - middle)) > APART * spacing for spot in close):
            tree.setdefault(key, []).append(middle)
            kept.append(pair)
    paired = np.concatenate(kept)
    far, _ = KDTree(paired).query(points)
    return np.concatenate([paired, points[far > CLEAR * spacing]])


def _area(ring: Points) -> float:
    x, y = ring.T
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def _depth(board: Board, points: Points) -> Points:
    """Return the distance of points from the frame, positive inside."""
    if board.circle:
        return board.width / 2 - MARGIN - np.linalg.norm(points - np.array([board.width, board.height]) / 2, axis=1)
    low, high = points - MARGIN, np.array([board.width, board.height]) - MARGIN - points
    return np.minimum(low, high).min(axis=1)


def _mirror(board: Board, points: Points, near: float) -> list[Points]:
    """Return the images of points beyond the frame: their Voronoi edges lie on the frame."""
    if board.circle:
        middle, radius = np.array([board.width, board.height]) / 2, board.width / 2 - MARGIN
        away = points[_depth(board, points) < near] - middle
        far = np.linalg.norm(away, axis=1)[:, None]
        return [middle + away * (2 * radius - far) / far]
    found = []
    for axis, edge in ((0, MARGIN), (0, board.width - MARGIN), (1, MARGIN), (1, board.height - MARGIN)):
        image = points[np.abs(points[:, axis] - edge) < near].copy()
        image[:, axis] = 2 * edge - image[:, axis]
        found.append(image)
    return found


def _snap(board: Board, vertices: Points, rim: set[int]) -> None:
    """Put the vertices of the rim exactly on the frame, and the nearest four on the corners of a rectangle."""
    index = sorted(rim)
    if board.circle:
        middle, radius = np.array([board.width, board.height]) / 2, board.width / 2 - MARGIN
        away = vertices[index] - middle
        vertices[index] = middle + away * radius / np.linalg.norm(away, axis=1)[:, None]
        return
    for axis, size in ((0, board.width), (1, board.height)):
        for edge in (MARGIN, size - MARGIN):
            close = [i for i in index if abs(vertices[i][axis] - edge) < 0.01]
            vertices[close, axis] = edge

"""Sites: the places spread evenly over the frame, with no region passing over the border of two others.

The places and points of the frame are the corners of a mesh of triangles with as many adjacencies as cross no other.
Corners move to where they have room, and no triangle ever turns over: who lay between others stays between them. What
lies in a triangle moves with it, so coasts follow their places.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from maps.board import Board

Points = NDArray[np.float64]
Indices = NDArray[np.int64]

MARGIN = 6.0
"""Units between the frame and the edge of the drawing."""
FLIP = 50
"""Steps between two choices of triangles."""


def spread(board: Board, true: Points, carried: Points) -> tuple[Points, Points]:
    """Return a site for each place, neighbours about `apart` units from each other, and points carried along.

    Hints: `hold` draws places back to where they lie, `room` is how much they press for equal shares of the frame.
    """
    index = {place.id: i for i, place in enumerate(board.places)}
    apart, hold, room = (board.hints[name] for name in ("apart", "hold", "room"))
    steps = board.hints.get("steps", 1500)
    count = len(true)
    true = true + 0.01 * np.random.default_rng(1).standard_normal(true.shape)
    _keep_inside(board, true, 3)
    sites = np.concatenate([true, _frame_points(board, apart)])
    wanted = sorted(sorted(index[each] for each in pair) for pair in board.borders)
    edges = _choose_edges(sites, wanted, count)
    triangles = _list_triangles(sites, edges)
    near = np.zeros((len(sites), len(sites)), dtype=bool)
    for a, b in wanted:
        near[a, b] = near[b, a] = True
    carried, before = carried.copy(), sites.copy()
    for step in range(steps):
        if step % FLIP == 0:
            carried = _carry(carried, before, sites, triangles)
            triangles, before = _flip(sites, triangles, near), sites.copy()
        gap = sites[None] - sites[:, None]
        length = np.linalg.norm(gap, axis=2) + np.eye(len(sites)) * 1e9
        force = 0.02 * np.where(near, np.maximum(0, length - 1.8 * apart), 0) - 0.1 * np.maximum(0, apart - length)
        move = ((force / length)[:, :, None] * gap).sum(axis=1)
        move += room * _room(sites, triangles, count)
        move[:count] += hold * (1 - step / steps) * (true - sites[:count])
        move[count:] = 0
        far = np.linalg.norm(move, axis=1)[:, None]
        move *= np.minimum(1, 8 / np.maximum(far, 1e-9))
        _move(sites, move, triangles)
    return sites[:count], _carry(carried, before, sites, triangles)


def _carry(carried: Points, before: Points, after: Points, triangles: Indices) -> Points:
    """Return points moved with the triangles in which they lie."""
    found = carried.copy()
    for triangle in triangles:
        (a, b, c), (d, e, f) = before[triangle], after[triangle]
        low, high = before[triangle].min(axis=0), before[triangle].max(axis=0)
        (near,) = np.nonzero(((carried >= low) & (carried <= high)).all(axis=1))
        if np.abs(before[triangle] - after[triangle]).max() < 1e-6 or not len(near):
            continue
        v, w = np.linalg.solve(np.column_stack([b - a, c - a]), (carried[near] - a).T)
        inside = (v >= 0) & (w >= 0) & (v + w <= 1)
        v, w = v[inside, None], w[inside, None]
        found[near[inside]] = d + v * (e - d) + w * (f - d)
    return found


def _room(sites: Points, triangles: Indices, count: int) -> Points:
    """Return the way of each corner that gives room to the regions that have little: they press on their triangles."""
    corners = sites[triangles]
    area, lands = _signed_areas(corners), triangles < count
    parts = area / np.maximum(lands.sum(axis=1), 1)
    share = np.bincount(triangles[lands], np.repeat(parts, lands.sum(axis=1)), minlength=len(sites))
    pressure = np.log(np.maximum(share, 1) / share[:count].mean())
    pressure[count:] = 0
    push = np.where(lands, pressure[triangles], 0).sum(axis=1) / np.maximum(lands.sum(axis=1), 1)
    move = np.zeros_like(sites)
    for k in range(3):
        opposite = corners[:, (k + 2) % 3] - corners[:, (k + 1) % 3]
        outward = np.column_stack([opposite[:, 1], -opposite[:, 0]]) / 2
        np.add.at(move, triangles[:, k], push[:, None] * outward)
    return move


def _signed_areas(corners: Points) -> Points:
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    found: Points = _cross(a, b, c) / 2
    return found


def _cross(a: Points, b: Points, c: Points) -> Points:
    found: Points = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        c[..., 0] - a[..., 0]
    )
    return found


def _move(sites: Points, move: Points, triangles: Indices) -> None:
    """Move the corners, but none so that a triangle would turn over."""
    for _ in range(12):
        tried = sites + move
        turned = triangles[_signed_areas(tried[triangles]) < 0.5 * np.minimum(1, _signed_areas(sites[triangles]))]
        if not len(turned):
            sites += move
            return
        move[turned.ravel()] *= 0.4
    # what still turns over stays


def _flip(sites: Points, triangles: Indices, near: NDArray[np.bool_]) -> Indices:
    """Return the triangles with better ones in place of pairs whose common edge is no adjacency."""
    found = [tuple(map(int, each)) for each in triangles]
    beside = {(each[k], each[(k + 1) % 3]): i for i, each in enumerate(found) for k in range(3)}
    changed: set[int] = set()
    for (a, b), i in sorted(beside.items()):
        j = beside.get((b, a), -1)
        if a > b or j < 0 or near[a, b] or changed & {i, j}:
            continue
        c, d = (next(v for v in found[k] if v not in (a, b)) for k in (i, j))
        new = [(a, d, c), (d, b, c)]
        areas = _signed_areas(sites[np.array(new)])
        if areas.min() > 1 and (near[c, d] or _angles(sites, a, b, c, d) > np.pi + 0.01):
            found[i], found[j] = new
            changed |= {i, j}
    return np.array(found, dtype=np.int64)


def _angles(sites: Points, a: int, b: int, c: int, d: int) -> float:
    """Return the sum of the angles at `c` and `d` in triangles over the edge from `a` to `b`."""
    total = 0.0
    for tip in (c, d):
        u, v = sites[a] - sites[tip], sites[b] - sites[tip]
        total += float(np.arccos(np.clip(u @ v / np.linalg.norm(u) / np.linalg.norm(v), -1, 1)))
    return total


def _choose_edges(sites: Points, wanted: Iterable[list[int]], count: int) -> list[tuple[int, int]]:
    """Return edges that cross no other: of the frame, then adjacencies, then the rest; the shortest first."""
    size = len(sites)
    frame = [(i, i + 1 if i + 1 < size else count) for i in range(count, size)]
    chosen = {(min(pair), max(pair)) for pair in frame}
    first = {(a, b) for a, b in wanted}

    def length(pair: tuple[int, int]) -> float:
        return float(np.linalg.norm(sites[pair[0]] - sites[pair[1]]))

    rest = [
        pair
        for pair in itertools.combinations(range(size), 2)
        if pair not in first and pair not in chosen and pair[0] < count
    ]
    for pair in [*sorted(first, key=length), *sorted(rest, key=length)]:
        if not _crosses(sites, pair, np.array(sorted(chosen))):
            chosen.add(pair)
    return sorted(chosen)


def _crosses(sites: Points, pair: tuple[int, int], edges: Indices) -> bool:
    other = edges[(edges != pair[0]).all(axis=1) & (edges != pair[1]).all(axis=1)]
    a, b, c, d = sites[pair[0]], sites[pair[1]], sites[other[:, 0]], sites[other[:, 1]]
    sides = (_cross(a, b, c) * _cross(a, b, d) < 0) & (_cross(c, d, a) * _cross(c, d, b) < 0)
    return bool(sides.any())


def _list_triangles(sites: Points, edges: list[tuple[int, int]]) -> Indices:
    """Return the faces, all turning the same way, of a triangulation."""
    around: dict[int, list[int]] = {}
    for a, b in edges:
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    found = set()
    for a, others in around.items():
        others.sort(key=lambda b: float(np.arctan2(*(sites[b] - sites[a])[::-1])))
        for b, c in zip(others, others[1:] + others[:1], strict=True):
            if c in around[b] and _cross(sites[a], sites[b], sites[c]) > 0:
                least = min(a, b, c)
                found.add((a, b, c) if a == least else (b, c, a) if b == least else (c, a, b))
    return np.array(sorted(found), dtype=np.int64)


def _frame_points(board: Board, apart: float) -> Points:
    """Return points on the frame about `apart` units from each other, once around."""
    if board.circle:
        middle, radius = board.width / 2, board.width / 2 - MARGIN
        turn = np.linspace(0, 2 * np.pi, round(2 * np.pi * radius / apart), endpoint=False)
        return np.column_stack([middle + radius * np.sin(turn), middle - radius * np.cos(turn)])
    right, bottom = board.width - MARGIN, board.height - MARGIN
    corners = np.array([[MARGIN, MARGIN], [right, MARGIN], [right, bottom], [MARGIN, bottom], [MARGIN, MARGIN]])
    sides = []
    for a, b in itertools.pairwise(corners):
        parts = round(float(np.linalg.norm(b - a)) / apart)
        sides.append(a + (b - a) * np.linspace(0, 1, parts, endpoint=False)[:, None])
    return np.concatenate(sides)


def _keep_inside(board: Board, sites: Points, inset: float) -> None:
    """Move sites that are nearer than `inset` to the frame."""
    low = MARGIN + inset
    if board.circle:
        middle = np.array([board.width, board.height]) / 2
        away = sites - middle
        far = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
        sites[:] = middle + away * np.minimum(1, (board.width / 2 - low) / far)[:, None]
    else:
        np.clip(sites, low, np.array([board.width, board.height]) - low, out=sites)

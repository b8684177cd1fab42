"""Regions grown on the mesh: cells change their region while that lowers an energy.

The energy counts missing borders, false borders, the length of all borders, and areas far from their share. A region
never falls apart, except open sea.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

import numpy as np
from scipy.spatial import KDTree

from maps.board import Board
from maps.furniture import list_boxes
from maps.layout import Points
from maps.mesh import OUTSIDE, Mesh

CROSSING = 6.0
"""Length of a way over cells of another kind, in parts of its length."""
BRIDGE = 4
"""Cells of another kind that a region may cross."""
JOIN = 7
"""Steps between two parts of a region that are joined."""
SPECK = 7
"""Cells of an island that nobody needs."""
MISSING = 120.0
"""Energy of a border that is missing."""
FALSE = 60.0
"""Energy of a false border, and of each unit of its length."""
FALSE_LENGTH = 0.45
LENGTH = 0.16
"""Energy of a unit of any border."""
AREA = 60.0
"""Energy of a region with twice its share, or none."""
CLAIM = 5.0
"""Energy of a cell that a region needs for its label and has not."""
TRUTH = 6.0
"""Energy of a cell of land in a sea, or of sea in a land."""
PRIOR = 1.0
"""Energy of a cell in another region than on the globe."""
LEAST = 30.0
"""Length at which a border counts in full."""


def share_cells(
    board: Board, mesh: Mesh, seeds: Sequence[Points], land: Sequence[bool], seen: Sequence[bool]
) -> list[int]:
    """Return the region of each cell that is seen: the one with the nearest seed by a way over cells of its own kind.

    A way may cross a few cells of the other kind. Parts of a region near each other are joined: Sicily to Italy.
    """
    is_land = [place.kind != "sea" for place in board.places]
    tree, starts = KDTree(mesh.centres), list[tuple[int, int]]()
    for i, spots in enumerate(seeds):
        for n, spot in enumerate(spots):
            cells = [int(cell) for cell in tree.query(spot, 60)[1]]
            own = [cell for cell in cells if land[cell] == is_land[i]]
            if own or not n:
                starts.append(((own or cells)[0], i))
    kinds = _drop_specks(mesh, land, {cell for cell, _ in starts})
    ways = {kind: _walk_ways(mesh, [s for s in starts if is_land[s[1]] == kind], kinds, kind) for kind in (True, False)}
    void = len(board.places)
    if all(is_land):
        ways[False] = [(void, 0)] * len(kinds)
    label = [ways[kind if ways[kind][cell][1] <= BRIDGE else not kind][cell][0] for cell, kind in enumerate(kinds)]
    label = [name if here else void for name, here in zip(label, seen, strict=True)]
    _join_parts(
        mesh, label, seen, {label[cell]: cell for cell, i in reversed(starts) if label[cell] == i}, [*is_land, False]
    )
    return label


def _join_parts(mesh: Mesh, label: list[int], seen: Sequence[bool], homes: dict[int, int], is_land: list[bool]) -> None:
    """Join the parts of a region to the one with its site, over a few cells of another kind."""
    parts: dict[int, list[set[int]]] = {}
    left = set(range(len(label)))
    while left:
        part = _find_piece(mesh, label, min(left))
        left -= part
        parts.setdefault(label[min(part)], []).append(part)
    for name, found in sorted(parts.items()):
        if name not in homes or len(found) < 2:
            continue
        whole = next(part for part in found if homes[name] in part)
        rest = [part for part in found if part is not whole and len(part) >= SPECK]
        while rest:

            def is_free(cell: int, name: int = name) -> bool:
                return seen[cell] and (label[cell] == name or is_land[label[cell]] != is_land[name])

            way = _find_way(mesh, whole, set().union(*rest), is_free)
            if not way:
                break
            joined = next(part for part in rest if way[0] in part)
            rest.remove(joined)
            for cell in way:
                label[cell] = name
            whole |= joined | set(way)


def _find_way(mesh: Mesh, whole: set[int], goals: set[int], is_free: Callable[[int], bool]) -> list[int]:
    """Return the cells of the shortest way from the goals back to the whole, or none if all are far."""
    came, near = dict.fromkeys(sorted(whole), -1), sorted(whole)
    for _ in range(JOIN):
        steps = [(other, cell) for cell in near for other, _ in mesh.around[cell] if other != OUTSIDE]
        near = []
        for other, cell in steps:
            if other not in came and is_free(other):
                came[other] = cell
                near.append(other)
        if end := next((cell for cell in near if cell in goals), 0):
            way = [end]
            while came[way[-1]] >= 0:
                way.append(came[way[-1]])
            return way
    return []


def _find_piece(mesh: Mesh, label: Sequence[int], start: int) -> set[int]:
    """Return the connected cells with the same label."""
    piece, queue = {start}, [start]
    while queue:
        for other, _ in mesh.around[queue.pop()]:
            if other != OUTSIDE and other not in piece and label[other] == label[start]:
                piece.add(other)
                queue.append(other)
    return piece


def _drop_specks(mesh: Mesh, land: Sequence[int], seeded: set[int]) -> list[bool]:
    """Return the kinds of cells, without small islands and lakes that have no place."""
    kinds, left = [bool(each) for each in land], set(range(len(land)))
    while left:
        piece = _find_piece(mesh, land, min(left))
        left -= piece
        if len(piece) < SPECK and not piece & seeded:
            for cell in piece:
                kinds[cell] = not kinds[cell]
    return kinds


def _walk_ways(mesh: Mesh, starts: list[tuple[int, int]], kinds: list[bool], kind: bool) -> list[tuple[int, int]]:
    """Return for each cell the region with the shortest way to it, and the cells of another kind on that."""
    found = [(-1, 10**6)] * len(kinds)
    far = [math.inf] * len(kinds)
    heap = [(0.0, cell, i, 0) for cell, i in starts]
    heapq.heapify(heap)
    while heap:
        gone, cell, i, over = heapq.heappop(heap)
        if gone >= far[cell]:
            continue
        far[cell], found[cell] = gone, (i, over)
        for other, _ in mesh.around[cell]:
            if other != OUTSIDE:
                strange = kinds[other] != kind
                step = math.dist(mesh.centres[cell], mesh.centres[other]) * (CROSSING if strange else 1)
                if gone + step < far[other]:
                    heapq.heappush(heap, (gone + step, other, i, over + strange))
    return found


def _claim_cells(board: Board, mesh: Mesh, sites: Points) -> list[int]:
    """Return for each cell the only region whose label and two pieces would stand there, or -1."""
    found = [-1] * len(mesh.centres)
    for i, place in enumerate(board.places):
        width, height = next(list_boxes(place.names, board.hints.get("claim", 11)))
        away = np.abs(mesh.centres - sites[i])
        for cell in np.nonzero((away[:, 0] < width / 2 + 8) & (away[:, 1] < height / 2 + 15))[0]:
            found[cell] = i if found[cell] == -1 else -2
    return found


class Growth:
    """The region of every cell, the lengths of their contacts, and the energy."""

    def __init__(
        self, board: Board, mesh: Mesh, sites: Points, start: list[int], land: Sequence[bool], core: float
    ) -> None:
        self.board, self.mesh, self.start, self.land = board, mesh, list(start), [bool(each) for each in land]
        self.is_land = [place.kind != "sea" for place in board.places] + [False]
        self.count = len(board.places)
        self.void = self.count
        """The label of open sea, on maps without sea regions."""
        index = {place.id: i for i, place in enumerate(board.places)}
        size = self.count + 1
        self.wanted = [[False] * size for _ in range(size)]
        self.free = [[False] * size for _ in range(size)]
        for pair in board.borders:
            a, b = (index[each] for each in pair)
            self.wanted[a][b] = self.wanted[b][a] = True
        for pair in board.adjacent - board.borders:
            a, b = (index[each] for each in pair)
            self.free[a][b] = self.free[b][a] = True
        for i in range(size):
            self.free[i][i] = self.free[i][self.void] = self.free[self.void][i] = True
        gap = np.linalg.norm(mesh.centres[:, None] - sites[None, : self.count], axis=2)
        nearest, far = gap.argmin(axis=1), gap.min(axis=1)
        self.fixed = [bool(f < core) for f in far]
        self.label = [int(i) if fixed else name for i, fixed, name in zip(nearest, self.fixed, start, strict=True)]
        self.claim = _claim_cells(board, mesh, sites)
        self.home = [int(i) for i in gap.argmin(axis=0)]
        """The cell at the site of each region."""
        self.area = [0.0] * size
        for cell, label in enumerate(self.label):
            self.area[label] += mesh.areas[cell]
        self.length = [[0.0] * size for _ in range(size)]
        for cell, found in enumerate(mesh.around):
            for other, edge in found:
                if other != OUTSIDE and self.label[other] != self.label[cell]:
                    self.length[self.label[cell]][self.label[other]] += edge
        mean = sum(self.area[: self.count]) / self.count
        even = board.hints.get("even", 0.2)
        self.share = [max(a, board.hints["least"]) ** (1 - even) * mean**even for a in self.area]
        self.share[self.void] = math.inf
        self.log: list[tuple[int, int]] | None = None
        self.gather(range(self.count), len(self.label))

    # Energy

    def pair_energy(self, a: int, b: int, length: float) -> float:
        if self.free[a][b]:
            return 0.0
        if self.wanted[a][b]:
            return MISSING * (1 - length / LEAST) * (0.6 if length > 0 else 1.0) if length < LEAST else 0.0
        return FALSE * (0.25 + 0.75 * min(1.0, length / LEAST)) + FALSE_LENGTH * length if length > 1e-6 else 0.0

    def area_energy(self, a: int, area: float) -> float:
        share = self.share[a]
        return 0.0 if share == math.inf else AREA * (area / share - 1) ** 2

    def untruth(self, cell: int, a: int) -> float:
        """Return the energy of a cell in a region: it may be of another kind, or belong to another on the globe."""
        return TRUTH * (self.land[cell] != self.is_land[a]) + PRIOR * (self.start[cell] != a)

    def change(self, cell: int, b: int) -> float:
        """Return the change of energy if the cell goes to region `b`."""
        a, label = self.label[cell], self.label
        found: dict[int, float] = {}
        for other, edge in self.mesh.around[cell]:
            if other != OUTSIDE:
                found[label[other]] = found.get(label[other], 0.0) + edge
        delta = LENGTH * (found.get(a, 0.0) - found.get(b, 0.0))
        row_a, row_b, energy = self.length[a], self.length[b], self.pair_energy
        for name, edge in found.items():
            if name not in (a, b):
                delta += energy(a, name, max(0.0, row_a[name] - edge)) - energy(a, name, row_a[name])
                delta += energy(b, name, row_b[name] + edge) - energy(b, name, row_b[name])
        both = max(0.0, row_a[b] + found.get(a, 0.0) - found.get(b, 0.0))
        delta += energy(a, b, both) - energy(a, b, row_a[b])
        if (claim := self.claim[cell]) >= 0:
            delta += CLAIM * ((claim == a) - (claim == b))
        delta += self.untruth(cell, b) - self.untruth(cell, a)
        size = self.mesh.areas[cell]
        for name, area in ((a, self.area[a] - size), (b, self.area[b] + size)):
            delta += self.area_energy(name, area) - self.area_energy(name, self.area[name])
        return delta

    def put(self, cell: int, b: int) -> None:
        """Give the cell to region `b`."""
        a, label, length = self.label[cell], self.label, self.length
        if a == b:
            return
        if self.log is not None:
            self.log.append((cell, a))
        for other, edge in self.mesh.around[cell]:
            if other == OUTSIDE:
                continue
            name = label[other]
            if name != a:
                length[a][name] -= edge
                length[name][a] -= edge
            if name != b:
                length[b][name] += edge
                length[name][b] += edge
        for name in {label[o] for o, _ in self.mesh.around[cell] if o != OUTSIDE} | {b}:
            if length[a][name] < 1e-6:
                length[a][name] = length[name][a] = 0.0
        label[cell] = b
        self.area[a] -= self.mesh.areas[cell]
        self.area[b] += self.mesh.areas[cell]

    def energy(self) -> float:
        total = sum(self.area_energy(i, self.area[i]) for i in range(self.count))
        total += CLAIM * sum(c >= 0 and c != name for c, name in zip(self.claim, self.label, strict=True))
        total += sum(self.untruth(cell, a) for cell, a in enumerate(self.label))
        for a in range(self.count + 1):
            for b in range(a):
                total += self.pair_energy(a, b, self.length[a][b]) + LENGTH * self.length[a][b]
        return total

    # Moves

    def may_leave(self, cell: int) -> bool:
        """Return whether the cell's region stays in one piece without it: its cells around lie side by side."""
        if self.fixed[cell]:
            return False
        a = self.label[cell]
        if a == self.void:
            return True
        around = self.mesh.around[cell]
        own = [other != OUTSIDE and self.label[other] == a for other, _ in around]
        return sum(own[i] and not own[i - 1] for i in range(len(own))) == 1

    def anneal(self, rng: Random, hot: float, cold: float, sweeps: int, cells: Iterable[int] | None = None) -> None:
        """Let cells at borders change their region, ever less against the energy."""
        chosen = list(range(len(self.label))) if cells is None else sorted(cells)
        label, around = self.label, self.mesh.around
        for sweep in range(sweeps):
            heat = hot * (cold / hot) ** (sweep / max(1, sweeps - 1)) if hot else 0.0
            rng.shuffle(chosen)
            for cell in chosen:
                a = label[cell]
                options = [label[o] for o, _ in around[cell] if o != OUTSIDE and label[o] != a]
                if not options or not self.may_leave(cell):
                    continue
                b = options[int(rng.random() * len(options))]
                delta = self.change(cell, b)
                if delta < 0 or (heat and rng.random() < math.exp(-delta / heat)):
                    self.put(cell, b)

    # Repair

    def faults(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return missing and false borders."""
        missing, false = [], []
        for a in range(self.count):
            for b in range(a):
                if self.wanted[a][b] and self.length[a][b] < 14:
                    missing.append((b, a))
                elif not (self.wanted[a][b] or self.free[a][b]) and self.length[a][b] > 0:
                    false.append((b, a))
        return missing, false

    def repair(self, rng: Random, rounds: int) -> None:
        """Lay corridors for missing borders and strips along false ones; keep those that lower the energy."""
        for _ in range(rounds):
            missing, false = self.faults()
            kept = 0
            kept += sum(self.join(rng, a, b) for a, b in missing)
            kept += sum(self.part(rng, a, b) for a, b in false)
            if not kept:
                break

    def join(self, rng: Random, a: int, b: int) -> bool:
        """Lay a corridor between two regions; return whether that is better."""
        return any(self.attempt(rng, partial(self.lay_corridor, a, b, split)) for split in (0.5, 0.0, 1.0))

    def part(self, rng: Random, a: int, b: int) -> bool:
        """Lay a strip of a third region between two; return whether that is better."""
        for c in range(self.count + (self.area[self.void] > 0)):
            suits = self.suits(c, a) and self.suits(c, b) and self.length[c][a] + self.length[c][b] > 0
            if suits and any(self.attempt(rng, partial(self.lay_strip, *pair, c)) for pair in ((a, b), (b, a))):
                return True
        return False

    def suits(self, a: int, b: int) -> bool:
        return a != b and (self.wanted[a][b] or self.free[a][b])

    def attempt(self, rng: Random, edit: Callable[[], bool]) -> bool:
        """Make an edit and let the cells around it settle; undo both unless the energy falls."""
        before = self.energy()
        self.log = []
        done = edit()
        if done:
            near = {cell for cell, _ in self.log}
            for _ in range(5):
                near |= {o for cell in near for o, _ in self.mesh.around[cell] if o != OUTSIDE}
            self.anneal(rng, 0, 0, 8, near)
        log, self.log = self.log, None
        if done and self.energy() < before - 0.01:
            return True
        for cell, label in reversed(log):
            self.put(cell, label)
        return False

    def lay_corridor(self, a: int, b: int, split: float) -> bool:
        """Join `a` and `b` by the cheapest path of cells; the part `split` of it goes to `a`."""
        label, around = self.label, self.mesh.around
        cost = {cell: 0.0 for cell in range(len(label)) if label[cell] == a}
        heap = [(0.0, cell) for cell in cost]
        came: dict[int, int] = {}
        end = -1
        while heap:
            far, cell = heapq.heappop(heap)
            if far > cost[cell]:
                continue
            if label[cell] == b:
                end = cell
                break
            for other, _ in around[cell]:
                if other == OUTSIDE or (self.fixed[other] and label[other] != b):
                    continue
                step = 1.0 + sum(
                    0.6
                    for o, _ in around[other]
                    if o != OUTSIDE and not (self.suits(label[o], a) or self.suits(label[o], b) or label[o] in (a, b))
                )
                if cost.get(other, math.inf) > far + step:
                    cost[other] = far + step
                    came[other] = cell
                    heapq.heappush(heap, (far + step, other))
        path = []
        while end in came:
            path.append(end)
            end = came[end]
        path = [cell for cell in path[::-1] if label[cell] not in (a, b)]
        if not path or len(path) > 60:
            return False
        for i, cell in enumerate(path):
            self.put(cell, a if i < split * len(path) else b)
        return self.heal()

    def lay_strip(self, a: int, b: int, c: int) -> bool:
        """Give the cells of `a` along its border with `b` to `c`."""
        cells = [
            cell
            for cell, name in enumerate(self.label)
            if name == a and any(o != OUTSIDE and self.label[o] == b for o, _ in self.mesh.around[cell])
        ]
        if any(self.fixed[cell] for cell in cells):
            return False
        for cell in cells:
            self.put(cell, c)
        return self.heal()

    def heal(self) -> bool:
        """Give pieces that lost the rest of their region to a neighbour; return whether all regions keep their site."""
        touched = {label for _, label in self.log or ()} | {self.label[cell] for cell, _ in self.log or ()}
        return self.gather(touched - {self.void}, 40)

    def gather(self, touched: Iterable[int], most: int) -> bool:
        """Do so for some regions; return False also if a piece has more than `most` cells."""
        touched = sorted(touched)
        for a in touched:
            if self.label[self.home[a]] != a:
                return False
        members: dict[int, set[int]] = {a: set() for a in touched}
        for cell, name in enumerate(self.label):
            if name in members:
                members[name].add(cell)
        for a in touched:
            rest = members[a] - _find_piece(self.mesh, self.label, self.home[a])
            while rest:
                piece = _find_piece(self.mesh, self.label, next(iter(sorted(rest))))
                rest -= piece
                beside = self.list_beside(piece)
                if len(piece) > most or not beside:
                    return False
                best = max(sorted(beside), key=lambda name: beside[name] * (2 if self.suits(name, a) else 1))
                for cell in sorted(piece):
                    self.put(cell, best)
        return True

    def list_beside(self, piece: set[int]) -> dict[int, float]:
        """Return the other regions around a piece, with the lengths of their borders."""
        beside: dict[int, float] = {}
        for cell in sorted(piece):
            for other, edge in self.mesh.around[cell]:
                if other != OUTSIDE and self.label[other] != self.label[cell]:
                    beside[self.label[other]] = beside.get(self.label[other], 0.0) + edge
        return beside

    def fill_holes(self) -> None:
        """Give small pieces of open sea to the region that they touch most."""
        left = {cell for cell, name in enumerate(self.label) if name == self.void}
        while left:
            piece = _find_piece(self.mesh, self.label, min(left))
            left -= piece
            beside = self.list_beside(piece)
            if len(piece) < SPECK and beside and not any(self.fixed[cell] for cell in piece):
                for cell in sorted(piece):
                    self.put(cell, max(sorted(beside), key=beside.__getitem__))

"""What stands on a map: labels with room for each language, slots for pieces, harbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import ndimage

GRID = 2
"""Units between two points of a raster."""
CHARACTER = 0.58
"""Width of a character, in parts of the font size."""
LINE = 1.2
"""Height of a line, in parts of the font size."""
SIZES = (10, 11, 12, 13, 14, 16, 18, 20, 22, 26, 30, 34)
"""Sizes of labels."""
FEW = 2
"""How many sizes above the smallest a label is tried at more places."""
PARTS = (0.15, 0.85, 0, 1, 0.3, 0.7)
"""Heights at which a label is tried, in parts of the region's."""
RADII = (22, 18, 15, 13, 11, 9)
"""Sizes of slots."""
GAP = 2
"""Units that remain free around labels and slots."""

Mask = NDArray[np.bool_]
Values = NDArray[np.float64]


@dataclass
class Label:
    """A box around its middle; `leader` is a point of the region if the box lies outside."""

    x: int
    y: int
    width: int
    height: int
    size: int
    leader: tuple[int, int] | None = None


@dataclass
class Furniture:
    """What stands on one region."""

    label: Label | None = None
    slots: list[tuple[int, int, int]] = field(default_factory=list)


def break_name(name: str, width: float, size: int) -> list[str]:
    """Return the lines of a name: one if it fits, else two, the longer as short as possible.

    What stands in brackets is always a line of its own.
    """
    if " (" in name:
        return [name[: name.index(" (")], name[name.index("(") :]]
    if CHARACTER * size * len(name) <= width:
        return [name]
    breaks = [i + 1 for i, c in enumerate(name) if c in " -" and 0 < i < len(name) - 1]
    if not breaks:
        return [name]
    best = min(breaks, key=lambda i: max(len(name[:i].rstrip()), len(name[i:])))
    return [name[:best].rstrip(), name[best:]]


def list_boxes(names: Mapping[str, str], size: int) -> Iterator[tuple[int, int]]:
    """Return widths and heights of boxes for all names, the narrowest first."""
    lengths = {len(name) for name in names.values()}
    lengths |= {len(line) for name in names.values() for line in break_name(name, 0, size)}
    least = math.inf
    for length in sorted(lengths):
        width = math.ceil(CHARACTER * size * length)
        lines = [break_name(name, width, size) for name in names.values()]
        high = max(map(len, lines))
        if max(len(line) for found in lines for line in found) <= length and high < least:
            least = high
            yield 2 * math.ceil(width / 2), 2 * math.ceil(LINE * size * high / 2)


class Room:
    """The room of a region as a raster of points."""

    def __init__(self, shape: shapely.Polygon) -> None:
        self.shape = shape
        left, top, right, bottom = shape.bounds
        self.x0 = GRID * math.floor(left / GRID) - GRID
        self.y0 = GRID * math.floor(top / GRID) - GRID
        columns = np.arange(self.x0, right + 2 * GRID, GRID)
        rows = np.arange(self.y0, bottom + 2 * GRID, GRID)
        self.xs, self.ys = np.meshgrid(columns, rows)
        shapely.prepare(shape)
        self.mask: Mask = shapely.contains_xy(shape, self.xs, self.ys)
        self.depth = ndimage.distance_transform_edt(self.mask) * GRID - GRID
        self.middle = self._find_middle()

    def _find_middle(self) -> tuple[int, int]:
        i = int(self.depth.argmax())
        return int(self.xs.flat[i]), int(self.ys.flat[i])

    def clear_boxes(self, width: float, height: float) -> NDArray[np.float64]:
        """Return for each point how far a box around it stays from the border, negative if it does not fit."""
        reach = (2 * math.ceil(height / 2 / GRID) + 1, 2 * math.ceil(width / 2 / GRID) + 1)
        if reach[0] > self.mask.shape[0] or reach[1] > self.mask.shape[1]:
            return np.full(self.mask.shape, -1.0)
        found: NDArray[np.float64] = ndimage.minimum_filter(self.depth, size=reach, mode="constant", cval=-1)
        return found

    def boxes(self, width: int, height: int, most: int) -> Iterator[tuple[int, int]]:
        """Return a few places of a box: the one nearest to the middle, then others from top to bottom."""
        clear = self.clear_boxes(width, height)
        rows, columns = np.nonzero(clear >= (GAP if (clear >= GAP).any() else 0))
        if not len(rows):
            return
        xs, ys = self.xs[rows, columns], self.ys[rows, columns]
        spread = (xs - self.middle[0]) ** 2 + (ys - self.middle[1]) ** 2
        low, high = ys.min(), ys.max()
        goals = [
            spread * 1.0,
            *(np.abs(ys - (low + part * (high - low))) * 100 + np.sqrt(spread) for part in PARTS[: most - 1]),
        ]
        seen = set()
        for goal in goals:
            i = int(goal.argmin())
            if (spot := (int(xs[i]), int(ys[i]))) not in seen:
                seen.add(spot)
                yield spot

    def box_gap(self, label: Label) -> NDArray[np.float64]:
        """Return the distance of each point from a label."""
        dx = np.maximum(np.abs(self.xs - label.x) - label.width / 2, 0)
        dy = np.maximum(np.abs(self.ys - label.y) - label.height / 2, 0)
        return np.hypot(dx, dy)

    def slots(self, labels: list[Label], most: int, largest: float) -> list[tuple[int, int, int]]:
        """Return circles in the region, apart from labels and from each other."""
        clear = self.depth - 1
        for label in labels:
            clear = np.minimum(clear, self.box_gap(label) - GAP)
        free = clear >= RADII[-1]
        best: list[tuple[int, int, int]] = []
        for radius in (each for each in RADII if each <= largest and free.any()):
            found = self._pack(self.xs[free], self.ys[free], clear[free], radius, most)
            if value_slots(found) > value_slots(best):
                best = found
        return best

    def _pack(self, xs: Values, ys: Values, free: Values, radius: int, most: int) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        keep = free >= radius
        xs, ys, goal = xs[keep], ys[keep], -0.5 * np.minimum(free[keep], 2 * radius)
        goal += np.hypot(xs - self.middle[0], ys - self.middle[1])
        while len(found) < most and len(xs):
            i = int(goal.argmin())
            x, y = int(xs[i]), int(ys[i])
            found.append((x, y, radius))
            keep = np.hypot(xs - x, ys - y) >= 2 * radius + GAP
            xs, ys, goal = xs[keep], ys[keep], goal[keep]
        return found


def value_slots(slots: list[tuple[int, int, int]]) -> float:
    """Return how good slots are: the first ones and large ones count most."""
    return sum(radius / (1 + 0.5 * i) for i, (_, _, radius) in enumerate(slots))


def furnish(room: Room, names: Mapping[str, str], sizes: Sequence[int], radius: int, most: int = 8) -> Furniture:
    """Return the label and the slots of a region, up to a radius; no label if none fits beside a slot."""
    best, value = Furniture(None, room.slots([], most, radius)), -math.inf
    for size in sizes:
        for box in list_boxes(names, size):
            for x, y in room.boxes(*box, len(PARTS) + 1 if size < sizes[0] + FEW else 3):
                label = Label(x, y, *box, size)
                slots = room.slots([label], most, radius)
                if not slots:
                    continue
                worth = 2.2 * size + value_slots(slots) - 0.02 * math.dist((x, y), room.middle)
                if worth > value:
                    best, value = Furniture(label, slots), worth
    return best


def choose_codes(names: Mapping[str, str]) -> dict[str, str]:
    """Return a code of three or four letters for each id, from its name."""
    found: dict[str, str] = {}
    for key, name in sorted(names.items(), key=lambda each: (len(each[1]), each[0])):
        plain = "".join(c if c.isascii() and c.isalpha() else " " for c in name.split("(")[0].replace("'", "")).upper()
        words = plain.split()
        found[key] = next(code for code in _list_codes(words) if code not in found.values())
    return found


def _list_codes(words: list[str]) -> Iterator[str]:
    if len(words) > 1:
        yield "".join(word[0] for word in words[:-1])[:2] + words[-1][: 3 - min(2, len(words) - 1)]
        yield words[0][0] + words[-1][:2]
        yield words[0][:2] + words[-1][:1]
    whole = "".join(words)
    yield whole[:3]
    for i in range(2, len(whole)):
        yield whole[:2] + whole[i]
    for i in range(1, len(whole)):
        for j in range(i + 1, len(whole)):
            yield whole[0] + whole[i] + whole[j]
    for i in range(3, len(whole)):
        yield whole[:3] + whole[i]

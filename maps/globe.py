"""The globe on a board: places and land projected, and room made where places are dense.

A board shows one window of the globe, or several beside each other. In each, a map of density swells crowded parts and
shrinks empty ones, smoothly and without folds: coasts and places move alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import fft, ndimage

from maps.board import Board, Doc
from maps.land import read_outlines
from maps.layout import MARGIN, Points

GRID = 10
"""Units between two points of the map of density."""
FLOW = 40
"""Steps in which density becomes even."""
SEA = 0.7
"""Room that a sea needs, in parts of that of a land."""
SHORT = 0.25
"""Degrees between the points of a coast."""
FINE = 0.8
"""Units by which a coast may differ from the globe's."""
LONG = 12
"""Units between the points of a coast."""
LEAST = 30
"""Square units of the least island."""


@dataclass
class Window:
    """A part of the globe on a rectangle or a circle of the board."""

    hints: Doc
    """`frame`: west, south, east and north; or `rim`, the latitude at the edge of a map around the south pole.

    `without`: frames whose land is left out.
    """
    x: float
    y: float
    width: float
    height: float
    steps: list[Points] = field(default_factory=list)
    """Displacements on the grid, one after another."""

    @property
    def is_polar(self) -> bool:
        return "rim" in self.hints

    @property
    def shape(self) -> shapely.Polygon:
        """Return the edge of the window on the board."""
        if self.is_polar:
            return shapely.Point(self.x + self.width / 2, self.y + self.height / 2).buffer(self.width / 2, quad_segs=90)
        return shapely.box(self.x, self.y, self.x + self.width, self.y + self.height)

    def place(self, degrees: Points) -> Points:
        """Return points of the board for longitudes and latitudes."""
        spots = self._project(degrees)
        for step in self.steps:
            spots = spots + _sample(step, spots)
        return spots + np.array([self.x, self.y])

    def make_room(self, degrees: Points, weights: Points) -> None:
        """Swell the window where places are dense."""
        for blur, power in self.hints["swell"]:
            self.steps.append(self._swell(self.place(degrees) - [self.x, self.y], weights, blur, power))

    def _project(self, degrees: Points) -> Points:
        lon, lat = np.radians(degrees).T
        if self.is_polar:
            radius, rim = self.width / 2, math.radians(self.hints["rim"] + 90)
            far = radius * ((lat + math.pi / 2) / rim) ** self.hints["power"]
            return np.column_stack([radius + far * np.sin(lon), radius - far * np.cos(lon)])
        west, south, east, north = map(math.radians, self.hints["frame"])
        low, high = self._rise(np.array([south, north]))
        x = (lon - west) / (east - west) * self.width
        return np.column_stack([x, (high - self._rise(lat)) / (high - low) * self.height])

    def _rise(self, lat: Points) -> Points:
        """Return the heights of latitudes: with a part of 1 those of Mercator, with 0 evenly."""
        part = self.hints["rise"]
        found: Points = part * np.arcsinh(np.tan(lat)) + (1 - part) * lat
        return found

    def _swell(self, spots: Points, weights: Points, blur: float, power: float) -> Points:
        """Return the displacements that make the density of places even, after Gastner, Seguy and More.

        Density goes evenly to its mean, and all points flow with it.
        """
        size = [int(self.width) // GRID + 1, int(self.height) // GRID + 1]
        density = np.zeros(size[::-1])
        at = np.clip(np.round(spots / GRID).astype(int), 0, [size[0] - 1, size[1] - 1])
        np.add.at(density, (at[:, 1], at[:, 0]), weights)
        density = ndimage.gaussian_filter(density, blur / GRID, mode="nearest")
        density = (density / density.mean() + 0.12) ** power
        if self.is_polar:
            density = self._mirror(density)
        density /= density.mean()
        waves = fft.dctn(density - 1, type=2, norm="ortho")
        square = sum(
            part**2
            for part in np.meshgrid(*(np.pi * np.arange(count) / count for count in density.shape), indexing="ij")
        )
        square[0, 0] = 1
        flow = [-part for part in np.gradient(fft.idctn(waves / square, type=2, norm="ortho"))]
        start = np.indices(density.shape).astype(float)
        now = start.copy()
        for step in range(FLOW):
            held = density + (1 - density) * (step + 0.5) / FLOW
            now += [ndimage.map_coordinates(part / held, now, order=1, mode="nearest") / FLOW for part in flow]
            now = np.clip(now, 0, np.array(density.shape)[:, None, None] - 1)
        moved: Points = np.moveaxis((now - start)[::-1], 0, -1) * GRID
        return self._round_off(moved) if self.is_polar else moved

    def _mirror(self, density: Points) -> Points:
        """Return the density with that beyond the rim as it is within it: little flows over the rim."""
        radius = self.width / 2
        away = np.indices(density.shape) * float(GRID) - radius
        far = np.maximum(np.hypot(*away), 1)
        part = np.where(far > radius, np.maximum(2 * radius - far, 0) / far, 1)
        found: Points = ndimage.map_coordinates(density, (part * away + radius) / GRID, order=1)
        return found

    def _round_off(self, step: Points) -> Points:
        """Return the displacements with the rim in its place."""
        radius, turn = self.width / 2, np.linspace(-np.pi, np.pi, 361)
        rim = radius + radius * np.column_stack([np.cos(turn), np.sin(turn)])
        away = rim + _sample(step, rim) - radius
        turns, far = np.arctan2(away[:, 1], away[:, 0]), np.hypot(*away.T)
        grid = np.moveaxis(np.indices(step.shape[:2])[::-1], 0, -1) * float(GRID)
        spots = grid + step - radius
        ends = np.interp(
            np.arctan2(spots[..., 1], spots[..., 0]),
            *(part[np.argsort(turns)] for part in (turns, far)),
            period=2 * np.pi,
        )
        found: Points = spots * (radius / ends)[..., None] + radius - grid
        return found

    def draw_coasts(self) -> list[shapely.LinearRing]:
        """Return the outlines of land in the window; a point lies on land if it is in an odd number of them."""
        found, edge = list[shapely.LinearRing](), self.shape
        for box in self.hints.get("without", ()):
            corners = shapely.get_coordinates(shapely.segmentize(shapely.box(*box), 1))
            edge = edge.difference(shapely.Polygon(self.place(corners)))
        for outline in read_outlines():
            if not self.is_polar and abs(outline[0, 0] - outline[-1, 0]) > 1:
                continue  # Antarctica has no outline around a pole that is not on the map
            spots = shapely.get_coordinates(shapely.segmentize(shapely.LineString(outline), SHORT))
            for turn in (0,) if self.is_polar else (-360, 0, 360):
                shape = shapely.make_valid(shapely.Polygon(self.place(spots + np.array([turn, 0]))).simplify(FINE))
                for part in shapely.get_parts(shapely.get_parts(shape.intersection(edge))):
                    if isinstance(part, shapely.Polygon) and part.area > LEAST:
                        found += [shapely.segmentize(ring, LONG) for ring in (part.exterior, *part.interiors)]
        return found


class Globe:
    """The windows of a board, and where its places lie in them."""

    def __init__(self, board: Board) -> None:
        whole = [MARGIN, MARGIN, board.width - 2 * MARGIN, board.height - 2 * MARGIN]
        self.windows = [Window(hints, *hints.get("at", whole)) for hints in board.hints["windows"]]
        named = {name: i for i, hints in enumerate(board.hints["windows"]) for name in hints.get("places", ())}
        self.window_of = [named.get(place.id, 0) for place in board.places]
        more = board.hints.get("more", {})
        weights = np.array([more.get(place.id, SEA if place.kind == "sea" else 1.0) for place in board.places])
        for i, window in enumerate(self.windows):
            own = [k for k, found in enumerate(self.window_of) if found == i]
            window.make_room(np.array([board.places[k].degrees[0] for k in own], dtype=float), weights[own])
        self.seeds = [
            self.windows[i].place(np.array(place.degrees, dtype=float))
            for i, place in zip(self.window_of, board.places, strict=True)
        ]
        """Points of each place, its site first."""
        self.coasts = [ring for window in self.windows for ring in window.draw_coasts()]

    def sees(self, spots: Points) -> NDArray[np.bool_]:
        """Return which points lie in a window: all, if there is only one."""
        if len(self.windows) == 1:
            return np.ones(len(spots), dtype=bool)
        found: NDArray[np.bool_] = shapely.contains_xy(
            shapely.union_all([each.shape for each in self.windows]), *spots.T
        )
        return found


def find_land(coasts: Sequence[shapely.LinearRing], spots: Points) -> NDArray[np.bool_]:
    """Return which points lie on land."""
    found = np.zeros(len(spots), dtype=bool)
    for shape in map(shapely.Polygon, coasts):
        shapely.prepare(shape)
        found ^= shapely.contains_xy(shape, *spots.T)
    return found


def _sample(step: Points, spots: Points) -> Points:
    where = spots.T[::-1] / GRID
    return np.column_stack(
        [ndimage.map_coordinates(step[..., axis], where, order=1, mode="nearest") for axis in (0, 1)]
    )

"""The globe on a board: places and land projected, and room made where places are dense.

A map of density swells crowded parts and shrinks empty ones, smoothly and without folds: coasts and places move alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import fft, ndimage

from maps.board import Board
from maps.land import read_outlines
from maps.layout import MARGIN, Points

GRID = 10
"""Units between two points of the map of density."""
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
FRINGE = 40
"""Units around the map where coasts are kept."""


class Globe:
    """The way from longitude and latitude to a board."""

    def __init__(self, board: Board) -> None:
        self.board, self.hints = board, board.hints["globe"]
        self.steps: list[Points] = []
        """Displacements on the grid, one after another."""
        self.sites = np.array([place.degrees[0] for place in board.places], dtype=float)
        for blur, power in self.hints["swell"]:
            self.steps.append(_swell(board, self.place(self.sites), self.weights(), blur, power))

    def weights(self) -> Points:
        """Return how much room places need."""
        more = self.hints.get("more", {})
        return np.array([more.get(place.id, SEA if place.kind == "sea" else 1.0) for place in self.board.places])

    def place(self, degrees: Points) -> Points:
        """Return points of the board for longitudes and latitudes."""
        spots = self.project(degrees)
        for step in self.steps:
            spots = spots + _sample(step, spots)
        return spots

    def project(self, degrees: Points) -> Points:
        lon, lat = np.radians(degrees).T
        width, height = self.board.width, self.board.height
        if self.board.circle:
            rim = math.radians(self.hints["rim"] + 90)
            far = (width / 2 - MARGIN) * ((lat + math.pi / 2) / rim) ** self.hints["power"]
            turn = lon - math.radians(self.hints["up"])
            return np.column_stack([width / 2 + far * np.sin(turn), height / 2 - far * np.cos(turn)])
        west, south, east, north = map(math.radians, self.hints["frame"])
        low, high = _rise(np.array([south, north]), self.hints["rise"])
        x = MARGIN + (lon - west) / (east - west) * (width - 2 * MARGIN)
        y = MARGIN + (high - _rise(lat, self.hints["rise"])) / (high - low) * (height - 2 * MARGIN)
        return np.column_stack([x, y])

    def draw_coasts(self) -> list[shapely.LinearRing]:
        """Return the outlines of land on the board; a point lies on land if it is in an odd number of them."""
        found = []
        frame = shapely.box(-FRINGE, -FRINGE, self.board.width + FRINGE, self.board.height + FRINGE)
        for outline in read_outlines():
            if not self.board.circle and abs(outline[0, 0] - outline[-1, 0]) > 1:
                continue  # Antarctica has no outline around a pole that is not on the map
            spots = shapely.get_coordinates(shapely.segmentize(shapely.LineString(outline), SHORT))
            for turn in (0,) if self.board.circle else (-360, 0, 360):
                shape = shapely.LinearRing(self.place(spots + [turn, 0])).simplify(FINE)
                if shape.intersects(frame) and shapely.Polygon(shape).area > LEAST:
                    found.append(shapely.segmentize(shape, LONG))
        return found


def find_land(coasts: Sequence[shapely.LinearRing], spots: Points) -> NDArray[np.bool_]:
    """Return which points lie on land."""
    found = np.zeros(len(spots), dtype=bool)
    for shape in (shapely.make_valid(shapely.Polygon(ring)) for ring in coasts):
        shapely.prepare(shape)
        found ^= shapely.contains_xy(shape, *spots.T)
    return found


def _rise(lat: Points, part: float) -> Points:
    """Return the heights of latitudes: of Mercator for 1, of even degrees for 0."""
    found: Points = part * np.arcsinh(np.tan(lat)) + (1 - part) * lat
    return found


def _swell(board: Board, spots: Points, weights: Points, blur: float, power: float) -> Points:
    """Return the displacements that make the density of places even."""
    rows, columns = board.height // GRID + 1, board.width // GRID + 1
    density = np.zeros((rows, columns))
    at = np.clip(np.round(spots / GRID).astype(int), 0, [columns - 1, rows - 1])
    np.add.at(density, (at[:, 1], at[:, 0]), weights)
    density = ndimage.gaussian_filter(density, blur / GRID, mode="nearest")
    density = (density / density.mean() + 0.12) ** power
    if board.circle:
        density = _mirror(board, density)
    density /= density.mean()
    # the flow of Gastner, Seguy and More: density goes evenly to its mean while points flow with it
    waves = fft.dctn(density - 1, type=2, norm="ortho")
    ky, kx = np.pi * np.arange(rows)[:, None] / rows, np.pi * np.arange(columns)[None] / columns
    square = kx**2 + ky**2
    square[0, 0] = 1
    potential = fft.idctn(waves / square, type=2, norm="ortho")
    flow_y, flow_x = (-part for part in np.gradient(potential))
    start = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).astype(float)
    spots_now, count = start.copy(), 40
    for step in range(count):
        t = (step + 0.5) / count
        held = density * (1 - t) + t
        speed = np.stack([flow_x / held, flow_y / held])
        where = [spots_now[..., 1], spots_now[..., 0]]
        spots_now += np.stack([ndimage.map_coordinates(part, where, order=1, mode="nearest") for part in speed], -1) / count
        np.clip(spots_now, 0, [columns - 1, rows - 1], out=spots_now)
    found: Points = (spots_now - start) * GRID
    return _round_off(board, found) if board.circle else found


def _mirror(board: Board, density: Points) -> Points:
    """Return the density with that beyond the rim as it is within it: little flows over the rim."""
    ys, xs = np.mgrid[0 : density.shape[0], 0 : density.shape[1]] * float(GRID) - board.width / 2
    far, radius = np.maximum(np.hypot(xs, ys), 1), board.width / 2 - MARGIN
    part = np.where(far > radius, np.maximum(2 * radius - far, 0) / far, 1)
    found: Points = ndimage.map_coordinates(
        density, [(part * ys + board.width / 2) / GRID, (part * xs + board.width / 2) / GRID], order=1
    )
    return found


def _round_off(board: Board, step: Points) -> Points:
    """Return the displacements with the rim in its place."""
    middle, radius = board.width / 2, board.width / 2 - MARGIN
    turn = np.linspace(-np.pi, np.pi, 361)
    rim = middle + radius * np.column_stack([np.cos(turn), np.sin(turn)])
    away = rim + _sample(step, rim) - middle
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]))
    turns, far = np.arctan2(away[:, 1], away[:, 0])[order], np.hypot(*away.T)[order]
    ys, xs = np.mgrid[0 : step.shape[0], 0 : step.shape[1]] * float(GRID)
    spots = np.stack([xs, ys], -1) + step - middle
    scale = radius / np.interp(np.arctan2(spots[..., 1], spots[..., 0]), turns, far, period=2 * np.pi)
    found: Points = spots * scale[..., None] + middle - np.stack([xs, ys], -1)
    return found


def _sample(step: Points, spots: Points) -> Points:
    where = [spots[:, 1] / GRID, spots[:, 0] / GRID]
    return np.column_stack([ndimage.map_coordinates(step[..., axis], where, order=1, mode="nearest") for axis in (0, 1)])

"""Charts of a table: a figure of each seat over the turns, as lines and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flask import Response, request

from api.pages.common.in_process import require
from api.pages.common.labels import Labels
from api.pages.common.owners import TINTS, Owner, Owners
from api.pages.common.presentation import load_map
from api.pages.common.session import render_games_page
from api.pages.table.table_page import load_table_page
from domain.types import Doc, Seat

WIDTH, HEIGHT, LEFT, RIGHT, EDGE = 800, 340, 60, 200, 24
"""Size of a chart, room for its scale and for the names of the lines, and its margin, in its own units."""

LINES_APART = 27
"""Least distance of two names at the ends of lines."""


@dataclass(frozen=True)
class Line:
    """A seat's line."""

    name: str
    tint: int
    points: str
    """For a polyline."""
    end: tuple[float, float]
    """Where its name stands."""
    values: Sequence[int | None]


@dataclass(frozen=True)
class Chart:
    """A figure over the turns."""

    turns: Sequence[str]
    lines: Sequence[Line]
    scale: Sequence[tuple[int, float]]
    """Values with their heights."""


def show_charts(game: str) -> Response:
    """Show a figure of each seat after each turn; `figure` names it, and the first is `points`."""
    page = load_table_page(game)
    turns = require("GET", f"/games/{game}/digest", role=page.role)["turns"] if page.board else []
    turns = [turn for turn in turns if turn.get("figures")]
    names = list(dict.fromkeys(name for turn in turns for figures in turn["figures"] for name in figures))
    asked = request.args.get("figure", "")
    names.sort(key=lambda name: name != "points")
    figure = asked if asked in names else next(iter(names), "")
    return render_games_page(
        "charts",
        wide=True,
        page=page,
        labels=page.labels,
        names=names,
        figure=figure,
        chart=draw_chart(page.labels, page.board, turns, figure) if turns else None,
        size=(WIDTH, HEIGHT, LEFT, RIGHT),
    )


def list_owners(labels: Labels, board: Doc) -> dict[Seat, Owner]:
    """Return the owners on the map by seat: a line has the colour of its owner there."""
    owners = Owners(labels, board, load_map(labels.rules.package).get("owners", ()))
    return {seat: owner for seat in range(len(board.get("seats", ()))) if (owner := owners.find(seat))}


def _list_tints(labels: Labels, board: Doc) -> dict[Seat, int]:
    return {seat: owner.tint for seat, owner in list_owners(labels, board).items()}


def draw_chart(labels: Labels, board: Doc, turns: Sequence[Doc], figure: str) -> Chart:
    """Return a figure over turns as lines."""
    tints = _list_tints(labels, board)
    seats = range(max(len(turn["figures"]) for turn in turns))
    values = [[_value(turn, seat, figure) for turn in turns] for seat in seats]
    known = [value for row in values for value in row if value is not None]
    low, high = min(0, *known), max(1, *known)
    step = (WIDTH - LEFT - RIGHT) / max(1, len(turns) - 1)

    def height(value: int) -> float:
        return round(HEIGHT - EDGE - (value - low) / (high - low) * (HEIGHT - 2 * EDGE), 1)

    ends = spread_names([height(next((v for v in reversed(row) if v is not None), low)) for row in values], HEIGHT)
    lines = []
    for seat, row in zip(seats, values, strict=True):
        points = " ".join(f"{LEFT + n * step:.1f},{height(v)}" for n, v in enumerate(row) if v is not None)
        tint = tints.get(seat, seat % TINTS)
        lines.append(Line(labels.short_seat(seat), tint, points, (WIDTH - RIGHT + 12, ends[seat]), row))
    marks = sorted({low, (low + high) // 2, high})
    return Chart([turn["title"] for turn in turns], lines, [(value, height(value)) for value in marks])


def _value(turn: Doc, seat: int, figure: str) -> int | None:
    figures = turn["figures"]
    return figures[seat].get(figure) if seat < len(figures) else None


def spread_names(heights: Sequence[float], bottom: int) -> list[float]:
    """Return the heights of names, moved down where two would touch, and up again at the edge of the picture."""
    placed, order = list(heights), sorted(range(len(heights)), key=lambda n: heights[n])
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + LINES_APART)
    limit = float(bottom - EDGE // 2)
    for each in reversed(order):
        placed[each] = min(placed[each], limit)
        limit = placed[each] - LINES_APART
    return placed

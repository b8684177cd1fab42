"""Standings of a tournament over its rounds: a line for each entrant, and a table beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.pages.table.charts import EDGE, LEFT, RIGHT, WIDTH, spread_names
from projections.tournament_documents import EntrantPlacesDoc, PlacesByRoundDoc

SHOWN = 12
"""Entrants in the picture unless the reader wants all."""

LEAST_ROUNDS = 2
"""Official standings that a picture takes."""

LEADERS = 3
"""Entrants with a colour and a name among more than SHOWN."""

HEIGHT, TALL = 340, 640
"""Height of the picture in its own units, and with more than SHOWN entrants."""

MAX_NAME = 17
"""Characters of a name in the picture."""


@dataclass(frozen=True)
class EntrantLine:
    """The line of an entrant. `tint` is None for one without a colour and a name."""

    entrant: int
    name: str
    points: str
    """For a polyline."""
    end: float
    """Height of its name."""
    tint: int | None
    is_own: bool

    @property
    def label(self) -> str:
        """Return the name as short as the picture needs it."""
        return self.name if len(self.name) <= MAX_NAME else f"{self.name[: MAX_NAME - 1]}…"


@dataclass(frozen=True)
class ProgressChart:
    """Places of entrants over the rounds."""

    rounds: Sequence[tuple[int, float]]
    """Rounds with their distance from the left."""
    lines: Sequence[EntrantLine]
    scale: Sequence[tuple[int, float]]
    """Places with their heights."""
    rows: Sequence[EntrantPlacesDoc]
    """Entrants of the table: `entrant`, `places`, `ticks`."""
    hidden: int
    """Number of entrants left out."""
    height: int
    size: tuple[int, int, int] = (WIDTH, LEFT, RIGHT)


def draw_progress(doc: PlacesByRoundDoc, own: int | None, name: Callable[[int], str], *, is_all: bool) -> ProgressChart:
    """Return the picture of official standings over two rounds or more.

    `own`: the reader's entrant, always shown.
    """
    rounds = doc["rounds"]
    rows = [row for n, row in enumerate(doc["entrants"]) if is_all or n < SHOWN or row["entrant"] == own]
    is_crowd, height = len(rows) > SHOWN + 1, TALL if len(rows) > SHOWN + 1 else HEIGHT
    last = max((place for row in rows for place in row["places"] if place), default=1)
    step = (WIDTH - LEFT - RIGHT) / (len(rounds) - 1)

    def to_height(place: int) -> float:
        return round(EDGE + (place - 1) / max(1, last - 1) * (height - 2 * EDGE), 1)

    named = [n for n, row in enumerate(rows) if not is_crowd or n < LEADERS or row["entrant"] == own]
    ends = spread_names([to_height(_last_place(rows[n], last)) for n in named], height)
    end_of = dict(zip(named, ends, strict=True))
    lines = []
    for n, row in enumerate(rows):
        points = " ".join(
            f"{LEFT + at * step:.1f},{to_height(place)}" for at, place in enumerate(row["places"]) if place
        )
        tint = n % SHOWN if n in end_of else None
        lines.append(
            EntrantLine(row["entrant"], name(row["entrant"]), points, end_of.get(n, 0), tint, row["entrant"] == own)
        )
    lines.sort(key=lambda line: (line.is_own, line.tint is not None))  # the marked ones lie above the others
    marks = sorted({1, (1 + last) // 2, last})
    return ProgressChart(
        [(number, round(LEFT + at * step, 1)) for at, number in enumerate(rounds)],
        lines,
        [(place, to_height(place)) for place in marks],
        rows,
        len(doc["entrants"]) - len(rows),
        height,
    )


def _last_place(row: EntrantPlacesDoc, last: int) -> int:
    return next((place for place in reversed(row["places"]) if place), last)

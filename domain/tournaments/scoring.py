"""Scoring: ticks of each seat from the result of a table, by a formula with a name.

1 point is 5040 ticks: a shared place of up to ten seats needs no rounding. Other quotients round down, and 0/0
gives every seat an equal share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.errors import TournamentError

POINT = 5040
"""Ticks of a point."""
CDIPLO_PRIZES = (38, 14, 7)
BANGKOK_POT, BANGKOK_ALIVE, BANGKOK_RANGE = 12, 3, 3
CARNAGE_PLACE, CARNAGE_CAP, CARNAGE_SOLO = 1000, 999, 34


class SeatResults(Protocol):
    """Result of a table, by seat: places (shared ones equal), and game points, survivors, a solo where known."""

    @property
    def places(self) -> tuple[int, ...]: ...
    @property
    def points(self) -> tuple[int, ...]: ...
    @property
    def alive(self) -> tuple[bool, ...]: ...
    @property
    def solo(self) -> int | None: ...


@dataclass(frozen=True)
class ScoringParameters:
    """Options of the formulas: game points of one centre, and points by place for each number of seats."""

    unit: int = 1
    lists: Mapping[int, Sequence[int]] = field(default_factory=dict)


Scoring = Callable[[SeatResults, ScoringParameters], list[int]]


@functools.lru_cache(maxsize=4096)
def check_places(places: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of seats at each seat's place; raise TournamentError for impossible places.

    After k seats on place p the next place is p + k.
    """
    expected = tuple(1 + sum(other < place for other in places) for place in places)
    if expected != places:
        raise TournamentError(
            "places_invalid",
            f"places {', '.join(map(str, sorted(places)))}: {', '.join(map(str, sorted(expected)))} are expected",
        )
    return tuple(places.count(place) for place in places)


def rank_points(points: Sequence[int]) -> tuple[int, ...]:
    """Return the places by game points; equal points share a place."""
    return tuple(1 + sum(other > own for other in points) for own in points)


def _share_values(places: tuple[int, ...], values: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each seat the sum of the values of its shared places, and the number of seats on them."""
    return [(sum(values[p - 1 : p - 1 + k]), k) for p, k in zip(places, check_places(places), strict=True)]


def _divide(shares: Sequence[int]) -> list[int]:
    """Return one point divided by shares."""
    total = sum(shares)
    return [POINT * share // total for share in shares] if total else [POINT // len(shares)] * len(shares)


@functools.lru_cache(maxsize=4096)
def _normal(places: tuple[int, ...]) -> list[int]:
    n, sharing = len(places), check_places(places)
    return [POINT * (2 * n - 2 * p - k + 1) // (2 * (n - 1)) for p, k in zip(places, sharing, strict=True)]


def score_normal(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return (n - p)/(n - 1) points, p the mean of the places shared."""
    return _normal(result.places)


def score_table(result: SeatResults, parameters: ScoringParameters) -> list[int]:
    """Return the points of a list by place; shared places have their mean."""
    n = len(result.places)
    values = parameters.lists.get(n, ())
    if len(values) != n:
        raise TournamentError("scoring_invalid", f"the list of points for {n} seats is missing, or has not {n} items")
    return [POINT * total // k for total, k in _share_values(result.places, values)]


def score_share(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return one point divided by game points."""
    return _divide([max(0, s) for s in result.points])


def score_squares(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return one point divided by the squares of the game points."""
    return _divide([max(0, s) ** 2 for s in result.points])


@functools.lru_cache(maxsize=4096)
def count_margins(points: tuple[int, ...]) -> list[int]:
    """Return one point for the most game points, 0 for the fewest, the others between; half a point if all equal."""
    least, span = min(points), max(points) - min(points)
    return [POINT * (s - least) // span if span else POINT // 2 for s in points]


def score_margin(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return the place of the game points between the fewest and the most."""
    return count_margins(result.points)


def score_carnage(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return 1000 for each place from the last, and the game points up to 999, in thousandths; a solo takes all."""
    n = len(result.places)
    if result.solo is not None:
        whole = CARNAGE_PLACE * n * (n + 1) // 2 + CARNAGE_SOLO
        counts = [whole if seat == result.solo else 0 for seat in range(n)]
    else:
        shares = _share_values(result.places, [CARNAGE_PLACE * (n - i) for i in range(n)])
        counts = [total // k + min(CARNAGE_CAP, s) for (total, k), s in zip(shares, result.points, strict=True)]
    return [POINT * count // CARNAGE_PLACE for count in counts]


def score_drawsize(result: SeatResults, _: ScoringParameters) -> list[int]:
    """Return one point divided among the seats in first place."""
    return [POINT // k if p == 1 else 0 for p, k in zip(result.places, check_places(result.places), strict=True)]


def score_bangkok(result: SeatResults, parameters: ScoringParameters) -> list[int]:
    """Return the centres, a share of 12 for those within 3 of the top, and 3 for a survivor."""
    centres = [s // parameters.unit for s in result.points]
    near = [max(0, BANGKOK_RANGE - (max(centres) - u)) for u in centres]
    alive = result.alive or (False,) * len(centres)
    return [
        POINT * (u + BANGKOK_ALIVE * lives) + POINT * BANGKOK_POT * h // sum(near)
        for u, h, lives in zip(centres, near, alive, strict=True)
    ]


def score_cdiplo(result: SeatResults, parameters: ScoringParameters) -> list[int]:
    """Return 38, 14 and 7 points for the first three places, shared ones divided, and one more than the centres."""
    prizes = (*CDIPLO_PRIZES, *[0] * len(result.places))
    shares = _share_values(result.places, prizes)
    return [
        POINT * total // k + POINT * (s // parameters.unit + 1)
        for (total, k), s in zip(shares, result.points, strict=True)
    ]


def score_matchpoints(points: Sequence[int]) -> list[int]:
    """Return the ticks of one seat at several tables of the same set-up: one point for a better result than all."""
    others = len(points) - 1
    if not others:
        return [POINT // 2]
    return [
        POINT * (2 * sum(o < own for o in points) + sum(o == own for o in points) - 1) // (2 * others) for own in points
    ]


SCORINGS: Mapping[str, Scoring] = {
    "normal": score_normal,
    "table": score_table,
    "share": score_share,
    "squares": score_squares,
    "margin": score_margin,
    "carnage": score_carnage,
    "drawsize": score_drawsize,
    "bangkok": score_bangkok,
    "cdiplo": score_cdiplo,
}
"""Formulas for one table. `score_matchpoints` compares several."""
USES_POINTS = frozenset({"share", "squares", "margin", "carnage", "bangkok", "cdiplo"})
"""Formulas that need game points."""


def find_scoring(name: str) -> Scoring:
    """Return the formula of a name."""
    if name not in SCORINGS:
        raise TournamentError("scoring_unknown", f"{name!r} is none of {', '.join(SCORINGS)}")
    return SCORINGS[name]

"""Sizes of pods: tables of nearly equal size for any number of entrants."""

from __future__ import annotations

from typing import NamedTuple

from domain.errors import TournamentError

MAX_SEATS = 10
"""Most seats at a table: ticks and tie-breaks divide by every number up to it."""


class SeatRange(NamedTuple):
    """Legal numbers of seats at a table, and the preferred one."""

    lo: int
    hi: int
    preferred: int


class PodSizes(NamedTuple):
    """Sizes of a round's pods, larger ones first, and the number of entrants left out."""

    sizes: tuple[int, ...]
    byes: int


def check_seats(seats: SeatRange) -> SeatRange:
    """Return the seats; raise TournamentError if they are no range around the preferred size."""
    lo, hi, preferred = seats
    if not 2 <= lo <= preferred <= hi <= MAX_SEATS:
        raise TournamentError(
            "sizes_impossible",
            f"{lo}..{hi} with {preferred} preferred: 2 <= least <= preferred <= most <= {MAX_SEATS} is expected",
        )
    return seats


def split_evenly(entrants: int, tables: int) -> tuple[int, ...]:
    """Return sizes with a difference of at most one, larger ones first."""
    size, larger = divmod(entrants, tables)
    return (size + 1,) * larger + (size,) * (tables - larger)


def find_exact_sizes(entrants: int, seats: SeatRange) -> tuple[int, ...] | None:
    """Return the sizes with a seat for everybody nearest to the preferred one, of equal ones the fewest; or None."""
    lo, hi, preferred = seats
    best: tuple[int, int] | None = None
    for tables in range(max(1, -(-entrants // hi)), entrants // lo + 1):
        size, larger = divmod(entrants, tables)
        cost = larger * abs(size + 1 - preferred) + (tables - larger) * abs(size - preferred)
        best = min(best, (cost, tables)) if best else (cost, tables)
    return split_evenly(entrants, best[1]) if best else None


def find_pod_sizes(entrants: int, seats: SeatRange) -> PodSizes:
    """Return the sizes of a round's pods: the fewest entrants sit out.

    Raise TournamentError if not even one legal table can be made.
    """
    check_seats(seats)
    for byes in range(entrants - seats.lo + 1):
        if sizes := find_exact_sizes(entrants - byes, seats):
            return PodSizes(sizes, byes)
    raise TournamentError("sizes_impossible", f"{entrants} entrants make no table of {seats.lo} to {seats.hi} seats")


def can_avoid_repeats(sizes: tuple[int, ...]) -> bool:
    """Return whether a second round may be free of repeats: the members of a pod need as many tables."""
    return sizes[0] <= len(sizes)

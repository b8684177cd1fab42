"""Byes of a round: forced by the sizes, or wanted by an entrant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from domain.tournaments.sizes import PodSizes, SeatRange, find_exact_sizes, find_pod_sizes


def choose_byes(
    count: int,
    order: Sequence[int],
    rested: Mapping[int, int],
    totals: Mapping[int, int],
    volunteers: Collection[int] = (),
) -> list[int]:
    """Return the entrants with a bye, ascending: volunteers, then those with the fewest byes so far, the lowest total.

    Of equal ones the last in the draw's order. `rested` counts byes, volunteered ones too.
    """
    place = {entrant: i for i, entrant in enumerate(order)}
    ranked = sorted(order, key=lambda e: (e not in volunteers, rested.get(e, 0), totals.get(e, 0), -place[e]))
    return sorted(ranked[:count])


def find_round_sizes(entrants: int, seats: SeatRange, volunteers: int = 0) -> PodSizes:
    """Return a round's sizes: as many volunteers rest as possible without a bye forced on somebody for their sake."""
    forced = find_pod_sizes(entrants, seats)
    for byes in range(volunteers, forced.byes, -1):
        if sizes := find_exact_sizes(entrants - byes, seats):
            return PodSizes(sizes, byes)
    return forced

"""Tables from the queue of a ladder or arena, `queue@1` and `queue@2`.

A table of the preferred size is made as soon as as many wait, else one of the least size once somebody has waited for
the patience. The longest wait comes first. Nobody meets one of the sets of the own last tables again.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations

from domain.tournaments.draw import draw_order
from domain.tournaments.seats import SeatHistory
from domain.tournaments.sizes import SeatRange

Queue = Mapping[int, int]
"""Entrant -> time since the entrant waits, ms; in order of the queue."""

KEPT_SETS = 3
"""Number of an entrant's last tables; their sets of entrants do not come again."""


def find_pod(
    queue: Queue, seats: SeatRange, patience: int, met: Collection[frozenset[int]], now: int
) -> tuple[int, ...] | None:
    """Return the entrants of the next table in order of the queue, or None; `patience` and `now` in ms."""
    if full := _find_first(queue, seats.preferred, met):
        return full
    return _find_first((e for e, since in queue.items() if now - since >= patience), seats.lo, met, queue)


def find_next_time(queue: Queue, seats: SeatRange, patience: int, met: Collection[frozenset[int]]) -> int | None:
    """Return the time of the next table if nobody else comes, ms, or None; 0: at once."""
    if _find_first(queue, seats.preferred, met):
        return 0
    pod = _find_first(queue, seats.lo, met)
    return queue[pod[0]] + patience if pod else None


def _find_first(
    leaders: Iterable[int], size: int, met: Collection[frozenset[int]], queue: Iterable[int] | None = None
) -> tuple[int, ...] | None:
    """Return the first new set of this size, each headed by one of the leaders; the others follow in the queue."""
    first = list(leaders)
    order = first if queue is None else list(queue)
    for leader in first:
        for others in combinations(order[order.index(leader) + 1 :], size - 1):
            if frozenset((leader, *others)) not in met:
                return leader, *others
    return None


def list_met(pods: Sequence[Sequence[int]], entrants: Collection[int]) -> set[frozenset[int]]:
    """Return the sets of the last tables of each of these entrants; `pods` in the order of their making."""
    left = dict.fromkeys(entrants, KEPT_SETS)
    met = set()
    for pod in reversed(pods):
        if own := [entrant for entrant in pod if left.get(entrant)]:
            met.add(frozenset(pod))
            left |= {entrant: left[entrant] - 1 for entrant in own}
    return met


def seat_pod(day_key: bytes, table: str, pod: Sequence[int], before: Sequence[Sequence[int]]) -> list[int]:
    """Return the entrants of a table by seat: the cheapest assignment after the tables before.

    The key of the table is the HMAC-SHA256 of its name under the key of the day: `round.pod`, by `queue@2` with the
    time of its making.
    """
    history, members = SeatHistory(), frozenset(pod)
    for earlier in before:
        if not members.isdisjoint(earlier):
            history.add({entrant: seat for seat, entrant in enumerate(earlier) if entrant in members})
    order = draw_order(hmac.digest(day_key, table.encode(), "sha256"), pod)
    return history.seat_pods([pod], order)[0]

"""Seats and powers of a pod: the cheapest assignment gives everybody each seat equally often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PLACE_COST = 10
"""Cost of each place further down in an entrant's list of preferred seats."""

History = Mapping[int, Mapping[int, int]]
"""Entrant -> seat (or power) -> number of times the entrant had it."""


def assign_cheapest(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return a column for each row, all different: the least sum, of equal ones the lexicographically first.

    `costs` has as many columns as rows, or more.
    """
    rows, columns = len(costs), range(len(costs[0]))
    rest: dict[int, int] = {}  # used columns -> least cost of the rows after as many

    def least(taken: int, row: int) -> int:
        if row == rows:
            return 0
        if taken not in rest:
            rest[taken] = min(
                costs[row][column] + least(taken | 1 << column, row + 1)
                for column in columns
                if not taken >> column & 1
            )
        return rest[taken]

    taken, out = 0, []
    for row in range(rows):
        goal = least(taken, row)
        column = next(
            column
            for column in columns
            if not taken >> column & 1 and costs[row][column] + least(taken | 1 << column, row + 1) == goal
        )
        out.append(column)
        taken |= 1 << column
    return out


def balance_cost(times: int) -> int:
    """Return the cost of a seat after so many times in it."""
    return (2 * times + 1) ** 2


def assign_seats(
    pod: Sequence[int],
    order: Sequence[int],
    history: History,
    seats: Sequence[int] | None = None,
    preferences: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, int]:
    """Return the seat of each entrant of a pod by the cheapest assignment, in the draw's order.

    `order` is the draw's order of at least these entrants, `seats` the ids to give (0..n-1 unless given; powers are
    given the same way, since they are balanced for themselves), and `preferences` lists of them, the best first.
    """
    members = set(pod)
    rows = [entrant for entrant in order if entrant in members]
    ids = list(range(len(rows))) if seats is None else list(seats)
    costs = []
    for entrant in rows:
        wishes = list((preferences or {}).get(entrant, ()))
        had = history.get(entrant, {})
        costs.append(
            [
                balance_cost(had.get(seat, 0))
                + PLACE_COST * ((wishes.index(seat) if seat in wishes else len(wishes)) if wishes else 0)
                for seat in ids
            ]
        )
    return {entrant: ids[column] for entrant, column in zip(rows, assign_cheapest(costs), strict=True)}


def choose_seats(turns: Sequence[int], history: History, lists: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return the seat of each entrant of a pod: in turn, the first free one of the own list.

    Without one it is the free seat that the entrant had least often, of equal ones the first.
    """
    free, seats = list(range(len(turns))), {}
    for entrant in turns:
        had = history.get(entrant, {})
        wanted = [seat for seat in lists.get(entrant, ()) if seat in free]
        seats[entrant] = wanted[0] if wanted else min(free, key=lambda seat: had.get(seat, 0))
        free.remove(seats[entrant])
    return seats


class SeatHistory:
    """Number of times in each seat, by entrant."""

    def __init__(self) -> None:
        self.counts: dict[int, dict[int, int]] = {}

    def add(self, seats: Mapping[int, int]) -> None:
        """Count the seats of a pod."""
        for entrant, seat in seats.items():
            had = self.counts.setdefault(entrant, {})
            had[seat] = had.get(seat, 0) + 1

    def seat_pods(self, pods: Sequence[Sequence[int]], order: Sequence[int]) -> list[list[int]]:
        """Return the entrants of each pod of a round in order of their seats, and count them."""
        seated = [assign_seats(pod, order, self.counts) for pod in pods]
        for seats in seated:
            self.add(seats)
        return [sorted(seats, key=seats.__getitem__) for seats in seated]

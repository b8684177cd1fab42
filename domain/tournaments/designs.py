"""Designs: plans of all rounds. Entrants meet equally often, or never twice.

A design holds labels 0..n-1. A draw gives label i to the i-th entrant of its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.tournaments.finite_fields import field_tables, is_field_order
from domain.tournaments.sizes import SeatRange

MAX_ROUNDS = 100
"""Most rounds of a stage: the largest cyclic design has 91 waves."""

Pod = tuple[int, ...]
Rounds = tuple[tuple[Pod, ...], ...]


@dataclass(frozen=True)
class Design:
    """Rounds of pods of labels; `fixes_seats` if a pod is in order of its seats."""

    name: str
    rounds: Rounds
    fixes_seats: bool = False


DIFFERENCE_SETS: dict[tuple[int, int], tuple[int, ...]] = {
    (7, 3): (0, 1, 3),
    (7, 4): (0, 1, 3, 6),
    (13, 4): (0, 1, 3, 9),
    (11, 5): (0, 1, 2, 4, 7),
    (21, 5): (0, 1, 4, 14, 16),
    (11, 6): (0, 1, 2, 4, 5, 7),
    (31, 6): (0, 1, 3, 8, 12, 18),
    (15, 7): (0, 1, 2, 4, 5, 8, 10),
    (19, 10): (0, 1, 4, 5, 6, 7, 9, 11, 16, 17),
    (91, 10): (0, 1, 3, 9, 27, 49, 56, 61, 77, 81),
}
"""Entrants and seats -> a set whose differences give every number but 0 equally often, modulo the entrants."""

_KIRKMAN = """
0 1 2; 3 7 11; 4 9 14; 5 10 12; 6 8 13 | 0 3 4; 1 7 9; 2 12 13; 5 8 14; 6 10 11 | 0 5 6; 1 8 10; 2 11 14; 3 9 13; 4 7 12
| 0 7 8; 1 11 13; 2 4 5; 3 10 14; 6 9 12 | 0 9 10; 1 12 14; 2 3 6; 4 8 11; 5 7 13 | 0 11 12; 1 3 5; 2 8 9; 4 10 13;
6 7 14 | 0 13 14; 1 4 6; 2 7 10; 3 8 12; 5 9 11
"""


def kirkman_rounds() -> Rounds:
    """Return seven rounds of 15 in threes: everybody meets everybody once."""
    return tuple(
        tuple(tuple(int(label) for label in pod.split()) for pod in line.split(";")) for line in _KIRKMAN.split("|")
    )


def net_rounds(entrants: int, tables: int, most: int = MAX_ROUNDS) -> Rounds:
    """Return at most so many rounds of a net: it has as many as tables, one more for a full square, without repeats.

    Label x*q + y stands in column x; in round m pod c has (x, m*x + c) of every column.
    """
    sums, products = field_tables(tables)
    columns = range(-(-entrants // tables))
    rounds = [
        tuple(
            tuple(label for x in columns if (label := x * tables + sums[products[slope][x]][constant]) < entrants)
            for constant in range(tables)
        )
        for slope in range(min(tables, most))
    ]
    if entrants == tables**2 and most > tables:
        rounds.append(tuple(tuple(range(x * tables, (x + 1) * tables)) for x in columns))
    return tuple(rounds)


def find_difference_set(entrants: int, seats: int) -> tuple[int, ...] | None:
    """Return the base table of a cyclic design, in order of its seats, or None."""
    return tuple(range(seats)) if entrants == seats + 1 else DIFFERENCE_SETS.get((entrants, seats))


def cyclic_tables(entrants: int, seats: int) -> tuple[Pod, ...] | None:
    """Return the tables of a cyclic design in order of seats, or None: each label has every seat once."""
    base = find_difference_set(entrants, seats)
    if base is None:
        return None
    return tuple(tuple((label + shift) % entrants for label in base) for shift in range(entrants))


def pack_waves(tables: Iterable[Pod]) -> Rounds:
    """Return the tables in waves of disjoint ones: each goes into the first wave with room for it."""
    waves: list[list[Pod]] = []
    for table in tables:
        wave = next((wave for wave in waves if all(set(table).isdisjoint(other) for other in wave)), None)
        if wave is None:
            waves.append([table])
        else:
            wave.append(table)
    return tuple(tuple(wave) for wave in waves)


def find_net_order(entrants: int, seats: SeatRange, rounds: int) -> int | None:
    """Return the number of tables of the net with the cheapest legal sizes, of equal ones the smallest, or None."""
    best: tuple[int, int] | None = None
    for order in range(2, entrants // seats.lo + 1):
        size, larger = divmod(entrants, order)
        most = size + bool(larger)
        available = order + (entrants == order**2)
        if most > order or most > seats.hi or available < rounds or not is_field_order(order):
            continue
        cost = larger * abs(size + 1 - seats.preferred) + (order - larger) * abs(size - seats.preferred)
        best = min(best, (cost, order)) if best else (cost, order)
    return best and best[1]


def find_design(entrants: int, seats: SeatRange, rounds: int | None = None) -> Design | None:
    """Return the design of a league: one of exactly these figures, else the cheapest net; None if only a search helps.

    A design fits exactly if it has these entrants, the preferred seats, and as many rounds as asked.
    """
    size = seats.preferred
    if (entrants, size) == (15, 3) and (rounds or 7) <= 7:
        return Design("kirkman15@1", kirkman_rounds()[:rounds])
    if (tables := cyclic_tables(entrants, size)) and rounds in (None, len(waves := pack_waves(tables))):
        return Design("cyclic@1", waves, fixes_seats=True)
    if order := find_net_order(entrants, seats, rounds or 1):
        return Design("net@1", net_rounds(entrants, order, rounds or MAX_ROUNDS))
    return None


def label_rounds(rounds: Rounds, order: Sequence[int]) -> list[list[list[int]]]:
    """Return the rounds with entrants in place of labels."""
    return [[[order[label] for label in pod] for pod in pods] for pods in rounds]


def count_meetings(rounds: Iterable[Iterable[Iterable[int]]]) -> dict[tuple[int, int], int]:
    """Return how often each pair meets, the smaller number first; pairs without a meeting are left out."""
    meetings: dict[tuple[int, int], int] = {}
    for pods in rounds:
        for pod in pods:
            for pair in combinations(sorted(pod), 2):
                meetings[pair] = meetings.get(pair, 0) + 1
    return meetings

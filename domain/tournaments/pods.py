"""Pods of a Swiss round (`pods@1`), and of all rounds of a league without a design (`search@1`).

Both swap two entrants at a time under a falling threshold. Weights are integers, and the steps follow from the key of
the draw, so that everybody can repeat the search.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from domain.tournaments.designs import Rounds, count_meetings

Pair = tuple[int, int]
"""Two entrants, the smaller number first."""

APART, NEAR, REPEAT, SCORE_STEP = 10_000_000, 400, 100, 420
"""Weights of a pair to keep apart, of one with a common club or no common slot, of repeats; ticks of one unit."""
MULTIPLIER = 2685821657736338717
MASK = (1 << 64) - 1
FEW_SWAPS, MANY_ENTRANTS, SWAPS_EACH = 60_000, 200, 1000
STRIDE = 64
"""Steps with the same threshold."""


class PodSearch(NamedTuple):
    """Pods in order of the cut, entrants ascending, with their cost."""

    pods: list[list[int]]
    cost: int


@dataclass(frozen=True)
class PairWeights:
    """Reasons against a pair: to keep apart, a club or no slot in common, and the number of earlier meetings."""

    apart: frozenset[Pair] = frozenset()
    near: frozenset[Pair] = frozenset()
    meetings: Mapping[Pair, int] = field(default_factory=dict)

    def weigh_causes(self, pair: Pair, gap: int) -> dict[str, int]:
        """Return the weight of a pair by cause, given the gap of its scores in ticks."""
        met = self.meetings.get(pair, 0)
        return {
            "apart": APART * (pair in self.apart),
            "near": NEAR * (pair in self.near),
            "repeats": REPEAT * (2 * met + 1) if met else 0,
            "scores": (abs(gap) // SCORE_STEP) ** 2,
        }

    def special_pairs(self) -> Iterable[Pair]:
        """Return the pairs with a reason beyond their scores."""
        return {*self.apart, *self.near, *self.meetings}


def count_swaps(entrants: int) -> int:
    """Return the number of steps of a search."""
    return FEW_SWAPS if entrants < MANY_ENTRANTS else SWAPS_EACH * entrants


def cut_pods(order: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Return the entrants cut into pods of these sizes."""
    pods, start = [], 0
    for size in sizes:
        pods.append(list(order[start : start + size]))
        start += size
    return pods


def weigh_pods(pods: Iterable[Iterable[int]], scores: Mapping[int, int], weights: PairWeights) -> dict[str, int]:
    """Return the cost of pods by cause."""
    causes = {"apart": 0, "near": 0, "repeats": 0, "scores": 0}
    for pod in pods:
        for pair in combinations(sorted(pod), 2):
            for cause, weight in weights.weigh_causes(pair, scores[pair[0]] - scores[pair[1]]).items():
                causes[cause] += weight
    return causes


def draw_swiss_pods(
    key: bytes,
    order: Sequence[int],
    sizes: Sequence[int],
    scores: Mapping[int, int],
    weights: PairWeights,
) -> PodSearch:
    """Return the pods of a Swiss round by `pods@1`.

    `order` is the draw's order of the entrants with a seat, `sizes` puts larger pods first, and `scores` are in ticks.
    """
    ranked = sorted(order, key=lambda entrant: -scores[entrant])
    cost = sum(weigh_pods(cut_pods(ranked, sizes), scores, weights).values())
    if cost:
        ranked, cost = _anneal(key, ranked, sizes, _weight_rows(ranked, scores, weights), cost)
    return PodSearch([sorted(pod) for pod in cut_pods(ranked, sizes)], cost)


def _weight_rows(ranked: Sequence[int], scores: Mapping[int, int], weights: PairWeights) -> list[list[int]]:
    """Return the weights of all pairs, by place in the first cut."""
    gaps = [scores[entrant] for entrant in ranked]
    templates: dict[int, list[int]] = {}
    rows = []
    for own in gaps:
        if own not in templates:
            templates[own] = [(abs(own - other) // SCORE_STEP) ** 2 for other in gaps]
        rows.append(templates[own].copy())
    place = {entrant: i for i, entrant in enumerate(ranked)}
    for pair in weights.special_pairs():
        if pair[0] in place and pair[1] in place:
            i, j = place[pair[0]], place[pair[1]]
            rows[i][j] = rows[j][i] = sum(weights.weigh_causes(pair, gaps[i] - gaps[j]).values())
    return rows


def _generate_swaps(key: bytes, label: str, entrants: int, cost: int) -> Iterator[tuple[int, int]]:
    """Yield the threshold and the random value of each step of a search: 64 bits of xorshift64*."""
    state = int.from_bytes(hmac.digest(key, label.encode(), "sha256")[:8]) | 1
    first, threshold, swaps = max(1, 2 * cost // entrants), 0, count_swaps(entrants)
    for step in range(swaps):
        if not step % STRIDE:
            threshold = first * (swaps - step) ** 2 // swaps**2
        state ^= state >> 12
        state ^= state << 25 & MASK
        state ^= state >> 27
        yield threshold, state * MULTIPLIER & MASK


def _anneal(
    key: bytes, ranked: Sequence[int], sizes: Sequence[int], rows: list[list[int]], cost: int
) -> tuple[list[int], int]:
    """Return the best order found by swaps, and its cost.

    Entrants are numbers of `rows` here. `own` holds the sum of each entrant's weights in its pod.
    """
    n = len(ranked)
    pods = cut_pods(range(n), sizes)
    pod_of = [pod for pod, size in enumerate(sizes) for _ in range(size)]
    start_of = [pods[pod][0] for pod in pod_of]
    weigh = [row.__getitem__ for row in rows]
    own = [sum(map(weigh[i], pods[pod_of[i]])) for i in range(n)]
    slots, best, least = list(range(n)), list(range(n)), cost
    for threshold, value in _generate_swaps(key, "pods", n, cost):
        a, b = (value >> 33) % n, (value & 0x7FFFFFFF) % n
        here, there = pod_of[a], pod_of[b]
        if here == there:
            continue
        one, other = slots[a], slots[b]
        change = sum(map(weigh[one], pods[there])) - own[one] - own[other]
        pair = rows[one][other]
        if change - pair > threshold:  # the other sum is no less than the pair's weight: most steps end here
            continue
        change += sum(map(weigh[other], pods[here])) - 2 * pair
        if change > threshold:
            continue
        slots[a], slots[b] = other, one
        pods[here][a - start_of[a]], pods[there][b - start_of[b]] = other, one
        for pod in (pods[here], pods[there]):
            for entrant in pod:
                own[entrant] = sum(map(weigh[entrant], pod))
        cost += change
        if cost < least:
            least, best = cost, slots.copy()
            if not cost:
                break
    return [ranked[i] for i in best], least


class _Meetings:
    """Number of meetings of each pair of entrants 0..n-1 over all rounds of a search."""

    def __init__(self, entrants: int, rounds: Sequence[Sequence[Sequence[int]]]) -> None:
        self.rows = [[0] * entrants for _ in range(entrants)]
        for (one, other), count in count_meetings(rounds).items():
            self.rows[one][other] = self.rows[other][one] = count

    def measure_change(self, here: Sequence[int], one: int, there: Sequence[int], other: int) -> int:
        """Return the change of the cost if two entrants, one of each pod, change places."""
        count, count_other = self.rows[one].__getitem__, self.rows[other].__getitem__
        gained = sum(map(count, there)) + sum(map(count_other, here)) - 2 * count(other)
        lost = sum(map(count, here)) + sum(map(count_other, there))
        return gained - lost + len(here) + len(there) - 2

    def swap(self, here: list[int], seat: int, there: list[int], place: int) -> None:
        """Let two entrants of different pods change places."""
        one, other, rows = here[seat], there[place], self.rows
        for pod, leaving, coming in ((here, one, other), (there, other, one)):
            for x in pod:
                if x != leaving:
                    rows[leaving][x] = rows[x][leaving] = rows[leaving][x] - 1
                    rows[coming][x] = rows[x][coming] = rows[coming][x] + 1
        here[seat], there[place] = other, one


def search_rounds(key: bytes, cuts: Sequence[Sequence[Sequence[int]]]) -> tuple[Rounds, int]:
    """Return the rounds of a league by `search@1` and their cost: m(m-1)/2 for each pair with m meetings.

    `cuts` holds each round's pods before the first swap; all rounds have the same sizes.
    """
    entrants = sorted({entrant for pods in cuts for pod in pods for entrant in pod})
    number = {entrant: i for i, entrant in enumerate(entrants)}
    rounds = [[[number[entrant] for entrant in pod] for pod in pods] for pods in cuts]
    best, meetings = _copy_rounds(rounds), _Meetings(len(entrants), rounds)
    least = cost = sum(met * (met - 1) // 2 for met in count_meetings(cuts).values())
    places = [(pod, seat) for pod, members in enumerate(cuts[0]) for seat in range(len(members))]
    n = len(places)
    for threshold, value in _generate_swaps(key, "search", n, cost) if cost else ():
        pods = rounds[(value >> 13) % len(rounds)]
        (here, seat), (there, place) = places[(value >> 33) % n], places[(value & 0x7FFFFFFF) % n]
        if here == there:
            continue
        change = meetings.measure_change(pods[here], pods[here][seat], pods[there], pods[there][place])
        if change > threshold:
            continue
        meetings.swap(pods[here], seat, pods[there], place)
        cost += change
        if cost < least:
            least, best = cost, _copy_rounds(rounds)
            if not cost:
                break
    named = (tuple(tuple(sorted(entrants[i] for i in pod)) for pod in pods) for pods in best)
    return tuple(named), least


def _copy_rounds(rounds: list[list[list[int]]]) -> list[list[list[int]]]:
    return [[pod.copy() for pod in pods] for pods in rounds]

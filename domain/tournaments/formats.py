"""Formats: rounds of a league, a design or a Swiss event, and the tables of a knockout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.errors import TournamentError
from domain.tournaments.byes import choose_byes, find_round_sizes
from domain.tournaments.designs import (
    MAX_ROUNDS,
    Design,
    count_meetings,
    cyclic_tables,
    find_design,
    label_rounds,
    net_rounds,
    pack_waves,
)
from domain.tournaments.finite_fields import is_field_order
from domain.tournaments.pods import PairWeights, cut_pods, draw_swiss_pods, search_rounds, weigh_pods
from domain.tournaments.seats import SeatHistory
from domain.tournaments.sizes import SeatRange, check_seats, find_exact_sizes, find_pod_sizes


@dataclass(frozen=True)
class RoundPlan:
    """Pods of a round, entrants in order of their seats, and the entrants with a bye."""

    pods: list[list[int]]
    byes: list[int]


@dataclass(frozen=True)
class LeaguePlan:
    """All rounds of a league, and the name of the design or search behind them."""

    name: str
    rounds: list[RoundPlan]

    def count_repeats(self) -> int:
        """Return the number of meetings beyond the first of each pair."""
        return sum(met - 1 for met in count_meetings(each.pods for each in self.rounds).values())


def default_rounds(entrants: int, size: int) -> int:
    """Return the number of rounds of a Swiss event: ceil(log_size(entrants)) + 2, in whole numbers."""
    rounds, reach = 2, 1
    while reach < entrants:
        rounds, reach = rounds + 1, reach * size
    return rounds


def last_late_round(rounds: int) -> int:
    """Return the last round open to late entrants; they have 0 for the rounds missed."""
    return rounds // 2


def check_rounds(rounds: int) -> int:
    """Return the number of rounds; raise TournamentError unless it is 1 to 100."""
    if not 1 <= rounds <= MAX_ROUNDS:
        raise TournamentError("rounds_invalid", f"1 to {MAX_ROUNDS} rounds are expected")
    return rounds


# --- league and design


def plan_league(key: bytes, order: Sequence[int], seats: SeatRange, rounds: int | None = None) -> LeaguePlan:
    """Return all rounds of a league by a fitting design, or else by a search.

    `order` is the draw's order of the entrants. Without `rounds`, a design has all its rounds, and a search as many as
    a Swiss event.
    """
    find_pod_sizes(len(order), seats)
    if rounds is not None:
        check_rounds(rounds)
    if design := find_design(len(order), seats, rounds):
        return _seat_design(design, order)
    return _search_league(key, order, seats, check_rounds(rounds or default_rounds(len(order), seats.preferred)))


def has_design(entrants: int, size: int) -> bool:
    """Return whether a block design is known for these numbers."""
    exact = find_design(entrants, SeatRange(size, size, size))
    is_kirkman = exact is not None and exact.name == "kirkman15@1"
    is_square = entrants == size**2 and is_field_order(size)
    return is_kirkman or is_square or cyclic_tables(entrants, size) is not None


def plan_design(order: Sequence[int], size: int) -> LeaguePlan:
    """Return the rounds, or waves of disjoint tables, of a block design: everybody meets everybody equally often."""
    entrants = len(order)
    exact = find_design(entrants, SeatRange(size, size, size))
    if exact and exact.name == "kirkman15@1":
        return _seat_design(exact, order)
    if tables := cyclic_tables(entrants, size):
        return _seat_design(Design("cyclic@1", pack_waves(tables), fixes_seats=True), order)
    if entrants == size**2 and is_field_order(size):
        return _seat_design(Design("net@1", net_rounds(entrants, size)), order)
    raise TournamentError("design_unknown", f"no design is known for {entrants} entrants at tables of {size}")


def _seat_design(design: Design, order: Sequence[int]) -> LeaguePlan:
    history, rounds = SeatHistory(), []
    for pods in label_rounds(design.rounds, order):
        seated = pods if design.fixes_seats else history.seat_pods(pods, order)
        playing = {entrant for pod in pods for entrant in pod}
        rounds.append(RoundPlan(seated, sorted(set(order) - playing)))
    return LeaguePlan(design.name, rounds)


def _search_league(key: bytes, order: Sequence[int], seats: SeatRange, rounds: int) -> LeaguePlan:
    sizes, count = find_pod_sizes(len(order), seats)
    rested: Counter[int] = Counter()
    byes, cuts = [], []
    for _ in range(rounds):
        resting = choose_byes(count, order, rested, {})
        rested.update(resting)
        byes.append(resting)
        cuts.append(cut_pods([entrant for entrant in order if entrant not in resting], sizes))
    history, plans = SeatHistory(), []
    for pods, resting in zip(search_rounds(key, cuts)[0], byes, strict=True):
        plans.append(RoundPlan(history.seat_pods(pods, order), resting))
    return LeaguePlan("search@1", plans)


# --- Swiss


@dataclass(frozen=True)
class SwissState:
    """State of a Swiss event before a round: totals in ticks, byes so far, meetings and causes to keep apart, seats."""

    totals: Mapping[int, int] = field(default_factory=dict)
    rested: Mapping[int, int] = field(default_factory=dict)
    weights: PairWeights = field(default_factory=PairWeights)
    history: SeatHistory = field(default_factory=SeatHistory)


@dataclass(frozen=True)
class SwissRound(RoundPlan):
    """A Swiss round with the cost of its pods by cause."""

    costs: dict[str, int]


def draw_swiss_round(
    key: bytes,
    order: Sequence[int],
    seats: SeatRange,
    state: SwissState,
    volunteers: Collection[int] = (),
    ratings: Mapping[int, int] | None = None,
) -> SwissRound:
    """Return the next round of a Swiss event, and count its seats in the state's history.

    `order` is the draw's order of the entrants at the check-in, without the late, absent and withdrawn ones.
    `volunteers` want a bye. With `ratings`, higher ones come first among equal scores, before the draw.
    """
    scores = {entrant: state.totals.get(entrant, 0) for entrant in order}
    sizes, count = find_round_sizes(len(order), seats, len(set(volunteers) & set(order)))
    byes = choose_byes(count, order, state.rested, scores, volunteers)
    playing = [entrant for entrant in order if entrant not in byes]
    if ratings:
        playing.sort(key=lambda entrant: -ratings[entrant])
    pods = draw_swiss_pods(key, playing, sizes, scores, state.weights).pods
    return SwissRound(state.history.seat_pods(pods, order), byes, weigh_pods(pods, scores, state.weights))


# --- knockout and divisions


def seed_tables(seeds: Sequence[int], seats: SeatRange) -> list[list[int]]:
    """Return the tables of a knockout round: seeds, best first, go over them in a snake (1..q, q..1, ...)."""
    sizes = find_exact_sizes(len(seeds), check_seats(seats))
    if sizes is None:
        raise TournamentError(
            "sizes_impossible", f"{len(seeds)} entrants do not fill tables of {seats.lo} to {seats.hi} seats"
        )
    tables: list[list[int]] = [[] for _ in sizes]
    for number, seed in enumerate(seeds):
        row, column = divmod(number, len(tables))
        tables[-1 - column if row % 2 else column].append(seed)
    return tables


def seed_round(seeds: Sequence[int], seats: SeatRange) -> tuple[list[list[int]], list[int]]:
    """Return the tables of a knockout round, and the byes forced by the sizes: the best seeds."""
    for byes in range(len(seeds) - seats.lo + 1):
        if find_exact_sizes(len(seeds) - byes, seats):
            return seed_tables(seeds[byes:], seats), list(seeds[:byes])
    raise TournamentError("sizes_impossible", f"{len(seeds)} entrants make no table of {seats.lo} to {seats.hi} seats")


def find_advancing(
    tables: Iterable[Mapping[int, int]], standing: Sequence[int], first: int, wild_cards: int = 0
) -> list[int]:
    """Return the advancing entrants, in the order of the stage's standing.

    `tables` give the place of each entrant. The first of each table advance, and wild cards by the standing. It also
    parts a shared place.
    """
    rank = {entrant: i for i, entrant in enumerate(standing)}
    advancing: set[int] = set()
    for places in tables:
        ranked = sorted((place, rank[entrant], entrant) for entrant, place in places.items())
        advancing.update(entrant for *_, entrant in ranked[:first])
    rest = [entrant for entrant in standing if entrant not in advancing]
    return sorted(advancing.union(rest[:wild_cards]), key=rank.__getitem__)


def plan_knockout(entrants: int, seats: SeatRange, steps: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return the sizes of each round's tables.

    A step has the number of advancing entrants of a table, and of wild cards.
    """
    rounds = []
    for first, wild_cards in (*steps, (0, 0)):
        tables = seed_tables(range(entrants), seats)
        rounds.append(tuple(sorted(map(len, tables), reverse=True)))
        advancing = sum(min(first, len(table)) for table in tables) + wild_cards
        if advancing >= entrants:
            raise TournamentError("advance_invalid", f"{advancing} of {entrants} entrants advance: fewer are expected")
        entrants = advancing
    return rounds


def exchange_divisions(divisions: Sequence[Sequence[int]], exchange: int) -> list[list[int]]:
    """Return the divisions of the next season: the first `exchange` of each rise, the last ones go down.

    Divisions hold their entrants in order of places, the highest division first.
    """
    if any(len(division) < 2 * exchange for division in divisions):
        raise TournamentError("divisions_invalid", f"{2 * exchange} entrants or more are expected in each division")
    moved = [list(division) for division in divisions]
    for upper in range(len(moved) - 1 if exchange else 0):
        above, below = divisions[upper], divisions[upper + 1]
        moved[upper] = [e for e in moved[upper] if e not in above[-exchange:]] + list(below[:exchange])
        moved[upper + 1] = list(above[-exchange:]) + [e for e in moved[upper + 1] if e not in below[:exchange]]
    return moved

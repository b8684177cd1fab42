"""Section 4 with readings 4 and 6 of section 15: seats by the cheapest assignment, and bids for them."""

from __future__ import annotations

import hmac
import random
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TournamentError
from domain.tournaments.bids import check_bid, fill_bid, find_best_assignments, settle_bids
from domain.tournaments.designs import net_rounds
from domain.tournaments.pods import cut_pods
from domain.tournaments.seats import SeatHistory, assign_cheapest, assign_seats
from domain.tournaments.sizes import SeatRange, find_pod_sizes

KEY = bytes(range(32))
COSTS = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=n, max_size=n)
)


class TestSeats:
    @given(COSTS)
    def test_15_4_cheapest_assignment_and_of_equal_ones_the_first(self, costs: list[list[int]]) -> None:
        n = len(costs)
        best = min(permutations(range(n)), key=lambda seats: (sum(costs[i][s] for i, s in enumerate(seats)), seats))
        assert assign_cheapest(costs) == list(best)

    def test_4_a_seat_had_h_times_costs_the_square_of_2h_and_1(self) -> None:
        """(1 + 25) against (9 + 9): the second is cheaper, though it gives both a seat that they had."""
        history = {0: {0: 0, 1: 1}, 1: {0: 1, 1: 2}}
        assert assign_seats([0, 1], [0, 1], history) == {0: 1, 1: 0}

    def test_4_a_preference_costs_10_for_each_place_in_the_list(self) -> None:
        """20 for the third wish are more than the 8 of a seat had once, and less than the 24 of one had twice."""
        wishes = {0: [2, 1, 0]}
        assert assign_seats([0, 1, 2], [0, 1, 2], {0: {2: 1}}, preferences=wishes)[0] == 2
        assert assign_seats([0, 1, 2], [0, 1, 2], {0: {2: 2}}, preferences=wishes)[0] == 1

    @given(st.permutations(range(5)), st.permutations(range(5)))
    def test_15_4_permuting_entrants_permutes_the_seats(self, order: list[int], names: list[int]) -> None:
        history = {entrant: {entrant % 3: 1} for entrant in range(5)}
        renamed = {names[entrant]: had for entrant, had in history.items()}
        seats = assign_seats(range(5), order, history)
        assert assign_seats(range(5), [names[e] for e in order], renamed) == {names[e]: s for e, s in seats.items()}

    @pytest.mark.parametrize(("order", "columns"), [(5, 4), (7, 5), (4, 3), (9, 7)])
    def test_14_after_k_rounds_of_net_all_has_had_each_seat_once(self, order: int, columns: int) -> None:
        history, draw = SeatHistory(), random.Random(1).sample(range(order * columns), order * columns)
        for pods in net_rounds(order * columns, order, columns):
            history.seat_pods([[draw[label] for label in pod] for pod in pods], draw)
        assert all(had == dict.fromkeys(range(columns), 1) for had in history.counts.values())

    @pytest.mark.parametrize(("entrants", "gap"), [(20, 2), (33, 3)])
    def test_14_seats_stay_balanced_over_five_rounds(self, entrants: int, gap: int) -> None:
        history, chance = SeatHistory(), random.Random(entrants)
        sizes = find_pod_sizes(entrants, SeatRange(4, 5, 4)).sizes
        for _ in range(5):
            order = chance.sample(range(entrants), entrants)
            history.seat_pods(cut_pods(order, sizes), order)
        for had in history.counts.values():
            counts = [had.get(seat, 0) for seat in range(4)]
            assert max(counts) - min(counts) <= gap


def bids_of(n: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Bids of n whole numbers with the sum 100."""
    cuts = st.lists(st.integers(0, 100), min_size=n - 1, max_size=n - 1).map(sorted)
    return cuts.map(lambda at: tuple(b - a for a, b in zip([0, *at], [*at, 100], strict=True)))


class TestBids:
    def test_4_example(self) -> None:
        result = settle_bids(KEY, [0, 1, 2], {0: (60, 30, 10), 1: (50, 40, 10), 2: (34, 33, 33)})
        assert result == ({0: 0, 1: 1, 2: 2}, {0: -198, 1: 54, 2: 142}, 133)

    def test_4_who_files_none_bids_equal_shares(self) -> None:
        assert [fill_bid(n) for n in (3, 6, 7)] == [
            (34, 33, 33),
            (17, 17, 17, 17, 16, 16),
            (15, 15, 14, 14, 14, 14, 14),
        ]

    @pytest.mark.parametrize("bid", [(50, 51), (100,), (101, -1), (50, 49, 1)])
    def test_a_bid_that_does_not_add_up_is_refused(self, bid: tuple[int, ...]) -> None:
        with pytest.raises(TournamentError, match="bid_invalid"):
            check_bid(bid, 2)

    def test_15_6_equal_sums_are_parted_by_a_keyed_hash(self) -> None:
        """The seats as one byte each, in ascending order of entrant."""
        inner = hmac.digest(KEY, b"bids", "sha256")
        first = min(permutations(range(4)), key=lambda seats: hmac.digest(inner, bytes(seats), "sha256"))
        assert settle_bids(KEY, [9, 3, 7, 5], {}).seats == dict(zip([3, 5, 7, 9], first, strict=True))

    @given(st.integers(2, 5).flatmap(lambda n: st.lists(bids_of(n), min_size=n, max_size=n)))
    def test_4_nobody_is_worse_off_than_at_a_random_seat(self, bids: list[tuple[int, ...]]) -> None:
        """By his own bids, up to rounding: a bid of 100 is worth 1260 ticks, a random seat the mean of the bids."""
        n = len(bids)
        seats, handicaps, best = settle_bids(KEY, range(n), dict(enumerate(bids)))
        assert best == max(sum(bids[i][s] for i, s in enumerate(p)) for p in permutations(range(n)))
        assert all(sum(bids[i][s] for i, s in enumerate(chosen)) == best for chosen in find_best_assignments(bids)[1])
        assert -n < sum(handicaps.values()) <= 0
        for entrant, seat in seats.items():
            assert Fraction(1260 * bids[entrant][seat], 100) + handicaps[entrant] > Fraction(1260, n) - 1

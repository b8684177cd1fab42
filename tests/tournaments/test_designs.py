"""Section 4: sizes, and every design checked pair by pair and seat by seat."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TournamentError
from domain.tournaments.designs import (
    DIFFERENCE_SETS,
    count_meetings,
    cyclic_tables,
    find_design,
    kirkman_rounds,
    net_rounds,
    pack_waves,
)
from domain.tournaments.finite_fields import MODULI, field_tables, is_field_order
from domain.tournaments.sizes import SeatRange, can_avoid_repeats, find_pod_sizes


class TestSizes:
    @pytest.mark.parametrize(
        ("entrants", "seats", "sizes", "byes"),
        [
            (32, (4, 5, 5), {5: 4, 4: 3}, 0),
            (200, (6, 7, 7), {7: 26, 6: 3}, 0),
            (37, (10, 10, 10), {10: 3}, 7),
            (5, (3, 4, 4), {4: 1}, 1),
        ],
    )
    def test_4_examples(self, entrants: int, seats: tuple[int, int, int], sizes: dict[int, int], byes: int) -> None:
        plan = find_pod_sizes(entrants, SeatRange(*seats))
        assert (Counter(plan.sizes), plan.byes) == (sizes, byes)

    def test_15_7_only_where_no_table_can_be_made(self) -> None:
        with pytest.raises(TournamentError, match="sizes_impossible"):
            find_pod_sizes(3, SeatRange(4, 5, 5))
        assert find_pod_sizes(4, SeatRange(4, 5, 5)) == ((4,), 0)

    @given(st.integers(1, 50), st.integers(2, 6), st.integers(0, 4), st.integers(0, 4))
    def test_no_other_sizes_are_better(self, entrants: int, lo: int, spread: int, at: int) -> None:
        """Fewest byes, then the least sum of |size - p|, then fewest tables, by trying all."""
        seats = SeatRange(lo, lo + spread, lo + min(at, spread))
        choices = [
            (byes, sum(abs(size - seats.preferred) for size in sizes), len(sizes), sizes)
            for byes in range(entrants)
            for tables in range(1, entrants + 1)
            for sizes in [tuple(-(-(entrants - byes - i) // tables) for i in range(tables))]
            if seats.lo <= min(sizes) and max(sizes) <= seats.hi
        ]
        if not choices:
            with pytest.raises(TournamentError):
                find_pod_sizes(entrants, seats)
        else:
            byes, _, _, sizes = min(choices)
            assert find_pod_sizes(entrants, seats) == (sizes, byes)

    def test_4_a_repeat_free_round_needs_as_many_tables_as_seats(self) -> None:
        assert not can_avoid_repeats(find_pod_sizes(32, SeatRange(6, 7, 7)).sizes)
        assert can_avoid_repeats(find_pod_sizes(32, SeatRange(4, 5, 5)).sizes)


class TestFields:
    @pytest.mark.parametrize("order", [2, 3, 5, 7, *MODULI])
    def test_15_5_sums_and_products_form_a_field(self, order: int) -> None:
        sums, products = field_tables(order)
        everything = set(range(order))
        assert all(set(row) == everything for row in sums)
        assert all(set(row[1:]) == everything - {0} for row in products[1:])
        assert all(
            products[a][sums[b][c]] == sums[products[a][b]][products[a][c]]
            for a in range(order)
            for b in range(order)
            for c in range(0, order, max(1, order // 8))
        )

    def test_15_5_moduli(self) -> None:
        """x^2 = x + 1, x^3 = x + 1, x^2 = -1, x^4 = x + 1, x^2 = -2, x^3 = x + 2, x^5 = x^2 + 1, x^2 = -1."""
        squares = {order: field_tables(order)[1] for order in MODULI}
        assert squares[4][2][2] == 3
        assert squares[8][2][4] == 3
        assert squares[9][3][3] == 2
        assert squares[16][2][8] == 3
        assert squares[25][5][5] == 3
        assert squares[27][3][9] == 3 + 2
        assert squares[32][2][16] == 5
        assert squares[49][7][7] == 6


ORDERS = [order for order in range(2, 54) if is_field_order(order)]


class TestNets:
    @pytest.mark.parametrize("order", ORDERS)
    def test_4_no_pair_meets_twice(self, order: int) -> None:
        """Nets of all n <= 200; those of fewer entrants leave labels out."""
        most = min(200, order**2)
        whole = net_rounds(most, order)
        assert len(whole) == order + (most == order**2)
        assert set(count_meetings(whole).values()) == {1}
        for n in range(2, most):
            fewer = net_rounds(n, order, 2)
            assert fewer == tuple(tuple(tuple(e for e in pod if e < n) for pod in pods) for pods in whole[: len(fewer)])
            sizes = [len(pod) for pod in fewer[-1]]
            assert max(sizes) - min(sizes) <= 1

    @pytest.mark.parametrize("order", [3, 5, 7])
    def test_4_a_full_square_is_an_affine_plane(self, order: int) -> None:
        rounds = net_rounds(order**2, order)
        assert len(rounds) == order + 1
        assert len(count_meetings(rounds)) == order**2 * (order**2 - 1) // 2

    def test_7_the_worked_event_is_the_plane_of_order_3(self) -> None:
        assert [set(pod) for pod in net_rounds(9, 3)[1]] == [{0, 4, 8}, {1, 5, 6}, {2, 3, 7}]


class TestBlocks:
    @pytest.mark.parametrize(("entrants", "seats"), [*DIFFERENCE_SETS, (4, 3), (6, 5), (11, 10)])
    def test_4_all_meets_all_equally_often_and_has_each_seat_once(self, entrants: int, seats: int) -> None:
        tables = cyclic_tables(entrants, seats)
        assert tables is not None
        meetings = count_meetings([tables])
        assert len(meetings) == entrants * (entrants - 1) // 2
        assert set(meetings.values()) == {seats * (seats - 1) // (entrants - 1)}
        assert all({table[seat] for table in tables} == set(range(entrants)) for seat in range(seats))

    def test_4_kirkman_15(self) -> None:
        rounds = kirkman_rounds()
        assert len(rounds) == 7
        assert all(sorted(e for pod in pods for e in pod) == list(range(15)) for pods in rounds)
        assert len(count_meetings(rounds)) == 105

    def test_2_waves_hold_disjoint_tables_and_all_of_them(self) -> None:
        tables = cyclic_tables(91, 10) or ()
        waves = pack_waves(tables)
        assert sorted(table for wave in waves for table in wave) == sorted(tables)
        assert all(len({e for table in wave for e in table}) == 10 * len(wave) for wave in waves)

    @pytest.mark.parametrize(
        ("entrants", "seats", "rounds", "name"),
        [
            (15, (3, 3, 3), None, "kirkman15@1"),
            (7, (3, 3, 3), None, "cyclic@1"),
            (9, (3, 3, 3), 4, "net@1"),
            (32, (4, 5, 5), 7, "net@1"),
            (36, (6, 7, 6), 3, None),
            (32, (6, 7, 7), 2, None),
        ],
    )
    def test_4_league_takes_design_that_fits_else_net_else_a_search(
        self, entrants: int, seats: tuple[int, int, int], rounds: int | None, name: str | None
    ) -> None:
        design = find_design(entrants, SeatRange(*seats), rounds)
        assert (design and design.name) == name

"""Section 2, and byes, late entrants and drop-outs of sections 3 and 4."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import TournamentError
from domain.tournaments.byes import choose_byes, find_round_sizes
from domain.tournaments.designs import count_meetings
from domain.tournaments.draw import draw_order
from domain.tournaments.formats import (
    RoundPlan,
    SwissState,
    default_rounds,
    draw_swiss_round,
    exchange_divisions,
    find_advancing,
    has_design,
    last_late_round,
    plan_design,
    plan_knockout,
    plan_league,
    seed_tables,
)
from domain.tournaments.pods import PairWeights
from domain.tournaments.seats import SeatHistory
from domain.tournaments.sizes import SeatRange, find_pod_sizes

KEY = bytes(range(32))
FOURS = SeatRange(4, 4, 4)


def is_whole(plan: RoundPlan, entrants: list[int], seats: SeatRange) -> bool:
    """Return whether everybody is in one pod or has a bye, and all sizes are legal."""
    seated = [entrant for pod in plan.pods for entrant in pod]
    return sorted([*seated, *plan.byes]) == sorted(entrants) and all(
        seats.lo <= len(pod) <= seats.hi for pod in plan.pods
    )


class TestByes:
    def test_15_7_volunteers_fewest_byes_lowest_total_last_drawn(self) -> None:
        order, rested, totals = [4, 2, 0, 1, 3], {3: 1}, {0: 9, 1: 5, 2: 5, 4: 7}
        assert choose_byes(1, order, rested, totals) == [1]
        assert choose_byes(2, order, rested, totals) == [1, 2]
        assert choose_byes(1, order, rested, totals, volunteers={0}) == [0]
        assert choose_byes(5, order, rested, totals) == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize(
        ("entrants", "seats", "volunteers", "expected"),
        [
            (8, (3, 4, 4), 1, ((4, 3), 1)),
            (9, (4, 4, 4), 1, ((4, 4), 1)),
            (8, (4, 4, 4), 1, ((4, 4), 0)),
            (8, (4, 4, 4), 5, ((4,), 4)),
            (4, (4, 4, 4), 4, ((4,), 0)),
        ],
    )
    def test_4_volunteers_rest_unless_others_must_rest_for_them(
        self, entrants: int, seats: tuple[int, int, int], volunteers: int, expected: tuple[tuple[int, ...], int]
    ) -> None:
        assert find_round_sizes(entrants, SeatRange(*seats), volunteers) == expected

    def test_4_nobody_has_two_before_all_have_had_one(self) -> None:
        rested: dict[int, int] = {}
        for _ in range(5):
            resting = choose_byes(2, draw_order(KEY, range(10)), rested, {})
            rested |= {entrant: rested.get(entrant, 0) + 1 for entrant in resting}
        assert rested == dict.fromkeys(range(10), 1)


class TestLeague:
    @given(st.integers(3, 40), st.integers(2, 5), st.integers(0, 2), st.integers(1, 3))
    @settings(max_examples=25)
    def test_14_everybody_is_in_one_pod_a_round_or_has_a_bye(
        self, entrants: int, lo: int, spread: int, rounds: int
    ) -> None:
        seats, order = SeatRange(lo, lo + spread, lo), draw_order(KEY, range(entrants))
        if entrants < lo:
            return
        plan = plan_league(KEY, order, seats, rounds)
        assert len(plan.rounds) == rounds
        assert all(is_whole(each, order, seats) for each in plan.rounds)
        if plan.name != "cyclic@1":
            byes = find_pod_sizes(entrants, seats).byes
            assert all(len(each.byes) <= byes for each in plan.rounds)

    def test_14_no_repeat_in_five_rounds_where_the_bound_allows_it(self) -> None:
        plan = plan_league(KEY, draw_order(KEY, range(32)), SeatRange(4, 5, 5), 5)
        assert (plan.name, plan.count_repeats()) == ("net@1", 0)

    def test_4_the_draw_permutes_labels(self) -> None:
        order = draw_order(KEY, range(9))
        first = plan_league(KEY, order, SeatRange(3, 3, 3)).rounds[0]
        assert [sorted(pod) for pod in first.pods] == [sorted(order[i::3]) for i in range(3)]

    def test_4_only_cyclic_designs_fix_their_seats(self) -> None:
        plan = plan_design(list(range(7)), 3)
        assert plan.rounds[0].pods == [[0, 1, 3]]
        assert plan.rounds[6].pods == [[6, 0, 2]]

    @pytest.mark.parametrize(
        ("entrants", "size", "name"), [(15, 3, "kirkman15@1"), (16, 4, "net@1"), (13, 4, "cyclic@1")]
    )
    def test_2_a_design_lets_everybody_meet_equally_often(self, entrants: int, size: int, name: str) -> None:
        plan = plan_design(list(range(entrants)), size)
        assert plan.name == name
        meetings = count_meetings(each.pods for each in plan.rounds)
        assert len(meetings) == entrants * (entrants - 1) // 2
        assert len(set(meetings.values())) == 1

    def test_2_no_design_is_invented(self) -> None:
        with pytest.raises(TournamentError, match="design_unknown"):
            plan_design(list(range(20)), 4)

    def test_2_divisions_exchange_their_ends(self) -> None:
        divisions = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
        assert exchange_divisions(divisions, 1) == [[0, 1, 2, 4], [3, 5, 6, 8], [7, 9, 10, 11]]
        assert exchange_divisions(divisions, 0) == divisions
        with pytest.raises(TournamentError, match="divisions_invalid"):
            exchange_divisions(divisions, 3)


class TestSwiss:
    @pytest.mark.parametrize(
        ("entrants", "size", "rounds"), [(125, 5, 5), (126, 5, 6), (32, 4, 5), (200, 7, 5), (4, 4, 3)]
    )
    def test_15_9_rounds_by_default_are_counted_in_whole_numbers(self, entrants: int, size: int, rounds: int) -> None:
        assert default_rounds(entrants, size) == rounds

    def test_3_late_entrants_come_until_half_of_the_rounds(self) -> None:
        assert [last_late_round(rounds) for rounds in (4, 5)] == [2, 2]

    def test_3_who_is_not_at_the_check_in_is_not_drawn(self) -> None:
        """Entrant 3 has withdrawn, 12 is late; a volunteer rests; repeats are avoided, seats balanced."""
        seats, history = SeatRange(3, 4, 4), SeatHistory()
        first = draw_swiss_round(KEY, draw_order(KEY, range(12)), seats, SwissState(history=history))
        assert is_whole(first, list(range(12)), seats)
        present = [entrant for entrant in range(13) if entrant != 3]
        state = SwissState(weights=PairWeights(meetings=count_meetings([first.pods])), history=history)
        second = draw_swiss_round(KEY, draw_order(KEY, present), seats, state, volunteers=[5])
        assert is_whole(second, present, seats)
        assert second.byes == [5]
        assert second.costs["repeats"] <= 600  # old pods of four over three new ones


class TestKnockout:
    def test_2_seeds_go_over_the_tables_in_a_snake(self) -> None:
        assert seed_tables(range(8), FOURS) == [[0, 3, 4, 7], [1, 2, 5, 6]]
        assert seed_tables(range(7), SeatRange(3, 4, 4)) == [[0, 3, 4], [1, 2, 5, 6]]

    def test_2_twenty_in_fours(self) -> None:
        assert plan_knockout(20, FOURS, [(1, 3), (2, 0)]) == [(4, 4, 4, 4, 4), (4, 4), (4,)]

    def test_2_winners_and_the_best_seconds(self) -> None:
        tables = [{4 * t + i: i + 1 for i in range(4)} for t in range(5)]
        standing = [8, 4, 0, 16, 12, 13, 5, 17, 1, 9, *(e for e in range(20) if e % 4 > 1)]
        assert find_advancing(tables, standing, 1, 3) == [8, 4, 0, 16, 12, 13, 5, 17]

    def test_2_the_standing_parts_a_shared_place(self) -> None:
        assert find_advancing([{0: 1, 1: 1, 2: 3}], [1, 2, 0], 1) == [1]

    @pytest.mark.parametrize(("entrants", "steps"), [(21, [(1, 3)]), (20, [(1, 2)]), (20, [(4, 0)])])
    def test_a_knockout_that_does_not_add_up_is_refused(self, entrants: int, steps: list[tuple[int, int]]) -> None:
        with pytest.raises(TournamentError, match=r"sizes_impossible|advance_invalid"):
            plan_knockout(entrants, FOURS, steps)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_design_is_known_where_one_is_planned(size: int) -> None:
    for entrants in range(2, 32):
        try:
            planned = bool(plan_design(range(entrants), size).rounds)
        except TournamentError:
            planned = False
        assert has_design(entrants, size) == planned, entrants

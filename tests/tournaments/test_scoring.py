"""Section 6 and readings 7 and 9 of section 15: formulas, totals, credits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TournamentError
from domain.tournaments.results import TableResult
from domain.tournaments.scoring import (
    SCORINGS,
    ScoringParameters,
    check_places,
    find_scoring,
    rank_points,
    score_matchpoints,
)
from domain.tournaments.totals import add_total, check_total, count_credit

LISTS = ScoringParameters(lists={n: range(n, 0, -1) for n in range(2, 11)} | {4: (5, 3, 2, 1)})


def score(
    name: str,
    points: tuple[int, ...] = (),
    places: tuple[int, ...] = (),
    parameters: ScoringParameters = LISTS,
    alive: tuple[bool, ...] = (),
    solo: int | None = None,
) -> list[int]:
    table = TableResult(1, 1, tuple(range(len(places or points))), places or rank_points(points), points, alive, solo)
    return find_scoring(name)(table, parameters)


BOARD_E = (52, 47, 47, 31, 23)


@pytest.mark.parametrize(
    ("name", "ticks"),
    [
        ("normal", [5040, 3150, 3150, 1260, 0]),
        ("share", [1310, 1184, 1184, 781, 579]),
        ("squares", [1582, 1292, 1292, 562, 309]),
        ("margin", [5040, 4171, 4171, 1390, 0]),
        ("drawsize", [5040, 0, 0, 0, 0]),
        ("carnage", [5040 * c // 1000 for c in (5052, 3547, 3547, 2031, 1023)]),
    ],
)
def test_6_board_e(name: str, ticks: list[int]) -> None:
    assert score(name, BOARD_E) == ticks


def test_6_a_list_shares_the_mean_of_shared_places() -> None:
    assert score("table", places=(1, 2, 2, 4)) == [5 * 5040, 5 * 2520, 5 * 2520, 5040]


def carnage(*counts: int) -> list[int]:
    return [5040 * count // 1000 for count in counts]


def test_6_published_carnage_boards() -> None:
    apart = score("carnage", (14, 7, 6, 4, 3, 0, 0), (1, 2, 3, 4, 5, 6, 7))
    assert apart == carnage(7014, 6007, 5006, 4004, 3003, 2000, 1000)
    assert score("carnage", (14, 7, 6, 4, 3, 0, 0))[-2:] == carnage(1500, 1500)
    assert score("carnage", (8, 8, 7, 6, 4, 1, 0)) == carnage(6508, 6508, 5007, 4006, 3004, 2001, 1000)


def test_6_a_solo_takes_everything() -> None:
    assert score("carnage", (18, 9, 7, 0, 0, 0, 0), solo=0) == carnage(28034, 0, 0, 0, 0, 0, 0)


def test_6_bangkok_divides_twelve_among_those_near_the_top() -> None:
    ticks = score("bangkok", (12, 12, 11))
    assert [own - 5040 * u for own, u in zip(ticks, (12, 12, 11), strict=True)] == [22680, 22680, 15120]
    assert score("bangkok", (6, 2, 0), alive=(True, True, False)) == [5040 * 21, 5040 * 5, 0]


def test_6_the_unit_makes_centres_of_game_points() -> None:
    tens = ScoringParameters(unit=10)
    assert score("bangkok", (129, 120, 115), parameters=tens) == score("bangkok", (12, 12, 11), (1, 2, 3))


def test_6_cdiplo_divides_shared_prizes() -> None:
    """Second and third share (14 + 7)/2; each has one point more than the centres."""
    assert score("cdiplo", (10, 6, 6, 4)) == [5040 * 49, 5040 * 35 // 2, 5040 * 35 // 2, 5040 * 5]


def test_6_matchpoints_compare_one_seat_at_several_tables() -> None:
    assert score_matchpoints((41, 38, 38, 30, 22)) == [5040, 3150, 3150, 1260, 0]
    assert score_matchpoints((7,)) == [2520]


def test_15_9_scores_below_zero_count_as_0() -> None:
    assert score("share", (6, -3, 0)) == [5040, 0, 0]
    assert score("squares", (6, -6, 0)) == [5040, 0, 0]
    assert score("margin", (6, -3, 0)) == [5040, 0, 1680]


def test_1_nothing_divided_by_nothing_gives_equal_shares() -> None:
    assert score("share", (0, 0, 0)) == score("squares", (0, -1, 0)) == [1680, 1680, 1680]
    assert score("margin", (4, 4)) == [2520, 2520]


ALL_BOARDS = st.lists(st.integers(-3, 60), min_size=2, max_size=10).map(tuple)


@given(ALL_BOARDS)
def test_14_normal_adds_up_to_half_a_point_each(points: tuple[int, ...]) -> None:
    assert sum(score("normal", points)) == 2520 * len(points)


@given(ALL_BOARDS, st.sampled_from(sorted(SCORINGS)))
def test_14_scores_do_not_depend_on_the_seat(points: tuple[int, ...], name: str) -> None:
    ticks = score(name, points)
    turned = [*points[1:], points[0]]
    assert score(name, tuple(turned)) == [*ticks[1:], ticks[0]]


@given(ALL_BOARDS, st.sampled_from(sorted(SCORINGS)))
def test_14_a_better_place_never_scores_less(points: tuple[int, ...], name: str) -> None:
    rows = sorted(zip(rank_points(points), score(name, points), strict=True))
    assert all(one[1] >= other[1] for one, other in pairwise(rows))


@pytest.mark.parametrize("places", [(1, 1, 2), (2, 3), (1, 3), (0, 1), (1, 2, 2, 2, 4)])
def test_impossible_places_are_refused(places: tuple[int, ...]) -> None:
    with pytest.raises(TournamentError, match="places_invalid"):
        check_places(places)


class TestTotals:
    @pytest.mark.parametrize(
        ("method", "total"),
        [("sum", 8820), ("mean", 2205), ("best:2", 7560), ("best:9", 8820), ("weights:100,80,40", 7560)],
    )
    def test_6_methods(self, method: str, total: int) -> None:
        """Three tables and a missed round; 5040 + 80 % of 2520 + 40 % of 1260 are 7560."""
        assert add_total(method, [1260, 5040, 2520], missed=1) == total

    def test_6_weights_round_down_once(self) -> None:
        assert add_total("weights:33,33", [101, 101]) == 66

    def test_4_the_credit_for_a_bye(self) -> None:
        credit = count_credit([5040, 2520])
        assert credit == 3780
        assert add_total("sum", [5040, 2520, credit]) == 2.25 * 5040
        assert add_total("mean", [5040, 2520, credit]) == add_total("mean", [5040, 2520])
        assert count_credit([]) == 0

    @given(st.lists(st.integers(0, 5040), max_size=6), st.integers(0, 4))
    def test_14_neither_a_bye_nor_a_return_raises_a_mean(self, values: list[int], missed: int) -> None:
        with_bye = [*values, count_credit(values, missed)]
        assert add_total("mean", with_bye, missed) <= add_total("mean", values, missed)
        assert add_total("mean", values, missed + 1) <= add_total("mean", values, missed)

    @pytest.mark.parametrize("method", ["best:0", "best", "weights:", "median", "sum:1", "weights:1,,2"])
    def test_an_unknown_method_is_refused(self, method: str) -> None:
        with pytest.raises(TournamentError, match="total_invalid"):
            check_total(method)

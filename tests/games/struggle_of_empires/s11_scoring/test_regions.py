"""SOE-11: scoring."""

from __future__ import annotations

import pytest

from domain.games.struggle_of_empires.rules.scoring import region_points
from tests.games.struggle_of_empires.board import army, empire, end_of_war, last_turn, position


@pytest.mark.parametrize(
    ("tokens", "points"),
    [
        ([3, 2, 1], [8, 5, 3]),
        ([2, 2, 1, 1], [8, 8, 5, 5]),
        ([3, 3, 2, 1], [8, 8, 5, 3]),
        ([4, 3, 2, 1], [8, 5, 3, 0]),
        ([1, 0, 0], [8, 0, 0]),
    ],
)
def test_ties_share_a_value_and_use_up_no_lower_place(tokens: list[int], points: list[int]) -> None:
    """SOE-11.1: dense ranking by tokens, German States 8/5/3."""
    holdings = {seat: {"tokens": {"german_states": n} if n else {}} for seat, n in enumerate(tokens)}
    state = position(len(tokens), empires=holdings).state
    assert region_points(state, "german_states") == {seat: vp for seat, vp in enumerate(points) if vp}


def test_units_do_not_count() -> None:
    """SOE-11.1: tokens alone."""
    game = last_turn(empires={0: {"units": army("india", 5)}, 1: {"tokens": {"india": 1}}})
    end_of_war(game)
    assert [empire(game, s)["vp"] for s in (0, 1)] == [0, 5]


def test_colonies_pay_two_places_europe_three() -> None:
    """SOE-11.2: the third seat in a colony gets nothing."""
    holdings = {seat: {"tokens": {"india": 3 - seat, "baltic": 3 - seat}} for seat in range(3)}
    state = position(3, empires=holdings).state
    assert region_points(state, "india") == {0: 5, 1: 3}
    assert region_points(state, "baltic") == {0: 5, 1: 3, 2: 2}

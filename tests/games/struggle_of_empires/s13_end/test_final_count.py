"""SOE-13: the end of the game."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.scoring import penalties, scores
from domain.kernel.schema.declarations import doc
from tests.games.struggle_of_empires.board import move, position
from tests.spec import Given


def over(**seats: Any) -> Given:
    """The end of a game in which seat `s0` .. has these parts; nothing more is earned."""
    empires = {int(name[1:]): {"gold": 0, "population": 0, **parts} for name, parts in seats.items()}
    game = position(len(seats), turn=0, war=3, round=6, empires=empires, to_play=[])
    game.when(0, move("pass"))
    assert game.state.over
    return game


def table(game: Given) -> list[tuple[int, int]]:
    """Place and points by seat."""
    return [(line.place, line.points) for line in RULESET.scores(game.state)]


def test_all_unrest_is_revealed_after_the_last_war() -> None:
    """SOE-13.1: after phase 6 of War 3."""
    game = over(s0={"unrest": 3}, s1={"unrest": 4})
    assert game.sight("public")["unrest"] == [3, 4]
    facts = game.match.records[-1].public["facts"]
    assert [f["unrest"] for f in facts if f["t"] == "unrest_revealed"] == [3, 4]


def test_twenty_unrest_is_a_revolution() -> None:
    """SOE-13.2: a final score of 0."""
    game = over(s0={"vp": 50, "unrest": 20}, s1={"vp": 50, "unrest": 19}, s2={"vp": 10, "unrest": 0})
    assert table(game) == [(3, 0), (1, 43), (2, 10)]
    assert scores(game.state)[0].detail.revolution is True


@pytest.mark.parametrize(
    ("unrest", "lost"),
    [
        ([9, 7, 5], [7, 4, 0]),
        ([9, 9, 5], [7, 7, 4]),
        ([9, 7, 7], [7, 4, 4]),
        ([9, 0, 0], [7, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([25, 7, 5], [0, 7, 4]),
    ],
)
def test_the_highest_unrest_loses_seven_the_next_four(unrest: list[int], lost: list[int]) -> None:
    """SOE-13.3: dense; nobody with 0 loses; revolutions are left out."""
    assert [penalties(dict(enumerate(unrest))).get(seat, 0) for seat in range(3)] == lost


def test_no_score_falls_below_zero() -> None:
    """SOE-13.3: 3 points less 7 are 0."""
    assert table(over(s0={"vp": 3, "unrest": 5}, s1={"vp": 1})) == [(2, 0), (1, 1)]


def test_ties_are_broken_by_unrest_tokens_and_gold() -> None:
    """SOE-13.4: then shared."""
    assert table(over(s0={"vp": 17, "unrest": 5}, s1={"vp": 10})) == [(2, 10), (1, 10)]
    game = over(s0={"vp": 10, "gold": 9}, s1={"vp": 2, "tokens": {"german_states": 1}})
    assert table(game) == [(2, 10), (1, 10)]
    assert table(over(s0={"vp": 10, "gold": 3}, s1={"vp": 10, "gold": 4})) == [(2, 10), (1, 10)]
    assert table(over(s0={"vp": 10}, s1={"vp": 10}, s2={"vp": 4})) == [(1, 10), (1, 10), (3, 4)]


def test_a_revolution_ranks_behind_a_calm_zero() -> None:
    """SOE-13.4: a seat in revolution stands behind every seat that is not."""
    assert table(over(s0={"vp": 90, "unrest": 20, "gold": 9}, s1={"vp": 0, "unrest": 19})) == [(2, 0), (1, 0)]


def test_the_figures_stand_in_the_order_in_which_they_count() -> None:
    """SOE-13.4: points, then the tie-breaks."""
    detail = scores(over(s0={"vp": 20, "unrest": 2}, s1={}).state)[0].detail
    figures = {"points": 13, "vp": 20, "revolution": False, "unrest": 2, "penalty": 7, "tokens": 0, "gold": 0}
    assert list(doc(detail).items()) == list(figures.items())

"""SOE-5: region markers."""

from __future__ import annotations

import pytest

from domain.games.struggle_of_empires.data import MARKERS
from tests.games.struggle_of_empires.board import move, position


def test_ten_more_markers_join_those_that_are_left() -> None:
    """SOE-5.1: in Wars 2 and 3 ten are drawn; markers left from earlier Wars stay."""
    ten = [m.id for m in MARKERS.values() if m.region in ("india", "africa")]
    game = position(2, turn=1, round=6, markers=["gs_hanover"])
    game.when(1, move("pass"), draws=[{"label": "marker", "value": m} for m in ten])
    assert game.at("/markers/german_states") == ["gs_hanover"]
    assert len(game.at("/markers/india")) + len(game.at("/markers/africa")) == 10
    assert not set(ten) & set(game.state.bag)


@pytest.mark.parametrize("seats", range(2, 8))
def test_the_bag_holds_enough(seats: int) -> None:
    """SOE-5.1: 65 - 10 - 5n - 10 - 10 is never negative, and 0 with seven seats."""
    left = 65 - 10 - 5 * seats - 10 - 10
    assert left >= 0
    assert (left == 0) == (seats == 7)


def test_the_last_marker_of_the_bag_is_drawn_too() -> None:
    """SOE-5.1, SOE-17.1: with seven seats the bag is emptied exactly, by ten draws."""
    ten = list(MARKERS)[:10]
    game = position(7, turn=5, war=2, round=5, gone=list(MARKERS)[10:], to_play=[])
    game.when(5, move("pass"), draws=ten)
    assert game.state.bag == ()

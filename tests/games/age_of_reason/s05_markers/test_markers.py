"""AOR-5: phase 1."""

from __future__ import annotations

from tests.games.age_of_reason.board import TEN, last_turn, move


def test_ten_markers_are_laid_and_older_ones_stay() -> None:
    """AOR-5.1: each in its region, behind those that lie there."""
    game = last_turn(markers=["gs_baden"])
    game.when(1, move("pass"), draws=[*TEN, 0])
    assert game.at("/markers/german_states") == ["gs_baden", "gs_hanover", "gs_cologne"]
    assert len(game.state.lying()) == 11
    assert not set(game.state.bag) & set(TEN)

"""AOR-14: end of the game."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.age_of_reason import RULESET
from domain.kernel.schema.canonical_json import canonical
from tests.games.age_of_reason.board import last_turn, move, position


@pytest.mark.parametrize(
    ("first", "second", "places"),
    [
        ({"vp": 9}, {"vp": 8, "gold": 99}, [1, 2]),
        ({"vp": 9, "unrest": 4}, {"vp": 9, "unrest": 3}, [2, 1]),
        ({"vp": 9, "gold": 3}, {"vp": 9, "gold": 4}, [2, 1]),
        ({"vp": 9}, {"vp": 9}, [1, 1]),
    ],
)
def test_the_final_ranking(first: dict[str, int], second: dict[str, int], places: list[int]) -> None:
    """AOR-14.1: points, less unrest, tokens, gold; equal seats share their rank."""
    game = position(2, empires={0: first, 1: second})
    assert [line.place for line in RULESET.scores(game.state)] == places


def test_tokens_break_ties_before_gold_and_ranks_are_1_1_3() -> None:
    """AOR-14.1."""
    empires: dict[int, Any] = {0: {"gold": 50}, 1: {"gold": 5}, 2: {"gold": 5}}
    tokens = {power: {"baltic": n} for power, n in (("prussia", 1), ("austria", 2), ("france", 2))}
    lines = RULESET.scores(position(3, empires=empires, tokens=tokens).state)
    assert [line.place for line in lines] == [3, 1, 1]
    assert lines[0].to_json()["detail"] == {"vp": 0, "unrest": 0, "tokens": 1, "gold": 50}


def test_log_opens_in_the_end_and_unseated_powers_do_not_rank() -> None:
    """AOR-14.2, AOR-10: what was hidden can be read from the records."""
    game = last_turn(3, markers=["ca_cuba"])
    game.when(1, move("convert", marker="ca_cuba", card="austria_1s1n"))
    assert game.state.over
    assert len(RULESET.scores(game.state)) == 2
    assert game.match.close().kind == "closed"
    hidden = [record.packs for record in game.match.records]
    assert "austria_1s1n" in canonical([p for packs in hidden for p in packs.values()]).decode()

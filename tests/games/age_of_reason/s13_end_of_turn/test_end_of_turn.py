"""AOR-13: phase 6."""

from __future__ import annotations

from typing import Any

from tests.games.age_of_reason.board import TEN, asked, figures, last_turn, move
from tests.spec import Given

EVERYTHING: dict[str, Any] = {
    "discards": {0: ["prussia_4s0n"], 1: ["austria_1s1n", "austria_1s0n"]},
    "spaces": {"finance": [0], "reserves": [1, 1]},
    "empires": {0: {"unrest": 5, "vp": 9}, 1: {"unrest": 4, "vp": 7}},
    "tokens": {"prussia": {"baltic": 1}},
    "markers": ["gs_baden"],
}


def ended(game_turn: int = 1) -> Given:
    """Seat 1 has passed: unrest takes a point of each, the Baltic gives 5."""
    game = last_turn(game_turn, **EVERYTHING)
    game.when(1, move("pass"), draws=[5, 4, *(TEN if game_turn < 3 else [])])
    return game


def test_discards_go_back_to_the_hands() -> None:
    """AOR-13.1."""
    game = ended()
    assert [len(game.sight(seat)["hand"]) for seat in (0, 1)] == [11, 11]
    assert [e["discard_size"] for e in game.sight("public")["empires"]] == [0, 0]


def test_tokens_of_the_action_board_go_to_the_reserves() -> None:
    """AOR-13.2."""
    game = ended()
    assert game.at("/spaces") == {}
    assert [game.state.reserve(seat) for seat in (0, 1)] == [21, 22]


def test_unrest_is_halved_and_rounded_up() -> None:
    """AOR-13.3."""
    game = ended()
    assert [figures(game, seat)[1] for seat in (0, 1)] == [3, 2]
    game = last_turn(empires={0: {"unrest": 1, "vp": 2}})
    game.when(1, move("pass"), draws=[1, *TEN])
    assert figures(game, 0)[1] == 1


def test_coalitions_are_dissolved_and_the_map_stays() -> None:
    """AOR-13.4."""
    game = ended()
    assert (game.at("/slots"), game.at("/turn_order")) == ({}, [])
    assert game.at("/tokens/prussia") == {"baltic": 1}
    assert "gs_baden" in game.state.lying()
    assert figures(game, 0)[0] == 11


def test_the_next_game_turn_begins_or_the_game_ends() -> None:
    """AOR-13.5: phase 6 is carried out in game turn 3 as well."""
    game = ended()
    assert (game.state.game_turn, game.state.round, asked(game)) == (2, 0, ("auction_bid", (1,)))
    game = ended(3)
    assert game.state.over
    assert [figures(game, seat)[1] for seat in (0, 1)] == [3, 2]

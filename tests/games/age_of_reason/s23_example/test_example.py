"""AOR-23: a battle step by step."""

from __future__ import annotations

from tests.games.age_of_reason.board import asked, attack, commit, figures, hire, position

TOKENS = {power: {"central_europe": 2 if power == "austria" else 1} for power in ("prussia", "austria", "france")}
TOKENS |= {power: {"central_europe": 1} for power in ("russia", "spain")}
FIGURES = {
    0: {"gold": 3, "unrest": 4},
    1: {"gold": 10, "unrest": 6},
    2: {"gold": 4, "unrest": 4},
    4: {"gold": 0, "unrest": 22},
}


def test_the_battle_of_the_page() -> None:
    """AOR-23: every step with its figures."""
    game = position(5, tokens=TOKENS, empires=FIGURES)
    assert game.state.empires[0].means == 39
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    assert figures(game, 0)[0] == 3
    assert asked(game) == ("commit", (1, 2, 4))
    game.refused(4, commit("russia_alliance"), "insufficient_funds", "AOR-15.3")
    game.when(4, commit("russia_bluff"))
    assert (game.decision.must, game.decision.done) == ((1, 2), (4,))
    game.when(2, commit("france_alliance"))
    game.when(1, commit("austria_2s0n_a"))
    assert game.sight("public")["battle"]["laid"] == [2, 4]
    assert asked(game) == ("hire", (0,))
    game.when(0, hire("spain"), draws=[6, 2, 5, 4])
    assert [figures(game, seat)[0] for seat in (0, 1, 2, 4)] == [0, 8, 3, 0]
    assert [figures(game, seat)[1] for seat in (0, 1, 2, 4)] == [4, 8, 4, 22]
    assert game.at("/tokens/prussia/central_europe") == 2
    assert game.at("/tokens/austria/central_europe") == 1
    assert [game.sight(seat)["discard"] for seat in (0, 1, 2)] == [["prussia_3s0n"], ["austria_2s0n_a"], []]
    assert "russia_bluff" in game.sight(4)["hand"]
    assert game.state.turn is not None
    assert game.state.acting.seat != 0

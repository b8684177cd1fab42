"""AOR-2: players and options."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidTable
from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import ROUNDS
from tests.games.age_of_reason.board import attack, facts_of, move, offers, position
from tests.spec import Given


@pytest.mark.parametrize("seats", range(2, 8))
def test_two_to_seven_seats_have_powers_and_all_seven_play(seats: int) -> None:
    """AOR-2.1: powers without a seat have tokens too."""
    game = Given(RULESET, seats, options={"power_assignment": "random"})
    powers = [empire.power for empire in game.state.empires]
    assert len(set(powers)) == seats
    assert [sum(tokens.values()) for tokens in game.state.tokens.values()] == [5] * 7


def test_rounds_by_the_number_of_seats() -> None:
    """AOR-2.2: six up to four seats, else five."""
    assert ROUNDS == {2: 6, 3: 6, 4: 6, 5: 5, 6: 5, 7: 5}


def test_the_options_and_their_defaults() -> None:
    """AOR-2.3."""
    assert {name: option.default for name, option in RULESET.meta.options.items()} == {
        "power_assignment": "choose",
        "powers": [],
        "first_player": "random",
        "first_alliances": "auction",
        "cossacks_space": True,
        "support_scope": "table",
    }
    game = Given(RULESET, 2, options={"power_assignment": "fixed", "powers": ["spain", "russia"], "first_player": 1})
    assert (game.state.first_player, game.state.power(0), game.state.power(1)) == (1, "spain", "russia")


def test_powers_without_a_seat_have_tokens_and_nothing_else() -> None:
    """AOR-2.4: attacked they defend by themselves; no gold, cards or unrest."""
    tokens = {"prussia": {"central_europe": 1}, "russia": {"central_europe": 1}}
    game = position(2, tokens=tokens, upper=("prussia", "austria", "britain", "france"))
    facts = game.when(0, attack("central_europe", "russia", "prussia_4s0n"), draws=[1, 1, 2, 1])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [4, 5]
    assert [f["seat"] for f in facts_of(facts, "unrest_added")] == [0]
    assert game.sight("public")["npp"] == {"russia": {"central_europe": 1}}


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (1, {}),
        (8, {}),
        (3, {"weather": "fine"}),
        (3, {"support_scope": "wide"}),
        (3, {"cossacks_space": "yes"}),
        (3, {"first_player": 3}),
        (3, {"powers": ["spain", "france", "russia"]}),
        (3, {"power_assignment": "fixed"}),
        (2, {"power_assignment": "fixed", "powers": ["spain", "spain"]}),
        (2, {"power_assignment": "fixed", "powers": ["spain", "poland"]}),
    ],
)
def test_a_table_that_does_not_fit_is_not_created(seats: int, options: Any) -> None:
    """AOR-2.5."""
    with pytest.raises(InvalidTable):
        RULESET.make_table(seats, options)


def test_the_cossacks_are_an_option() -> None:
    """AOR-2.3, AOR-11.3: without it there is no such space."""
    assert "cossacks" in offers(position(2), 0, "place")
    game = position(2, terms={"cossacks_space": False})
    assert "cossacks" not in offers(game, 0, "place")
    assert "cossacks" not in game.sight("public")["action_board"]
    game.refused(0, move("place", space="cossacks"), "unknown_space", "AOR-7.4.6")

"""SOE-2: players and options."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from domain.errors import InvalidTable
from domain.games.struggle_of_empires import RULESET, data
from domain.types import Json
from tests.games.struggle_of_empires.board import POWERS, army, attack, empire, position
from tests.spec import Given


@pytest.mark.parametrize("seats", range(2, 8))
def test_two_to_seven_seats_have_different_powers(seats: int) -> None:
    """SOE-2.1: powers without a seat are not in the game."""
    game = Given(RULESET, seats, options={"power_assignment": "random"})
    powers = [e.power for e in game.state.empires]
    assert len(set(powers)) == seats
    assert set(powers) <= set(data.POWERS)


@pytest.mark.parametrize("seats", [1, 8])
def test_other_seat_counts_are_refused(seats: int) -> None:
    """SOE-2.1: 2 to 7 seats."""
    with pytest.raises(InvalidTable):
        RULESET.make_table(seats)


def test_up_to_four_seats_play_six_rounds_more_seats_five() -> None:
    """SOE-2.2: rounds per War."""
    assert data.ROUNDS == {2: 6, 3: 6, 4: 6, 5: 5, 6: 5, 7: 5}
    assert data.CONSTANTS["wars"] == 3


def test_the_defaults_of_the_options() -> None:
    """SOE-2.3: each seat chooses, the first player is drawn, unrest is hidden."""
    assert dict(RULESET.make_table(3).options) == {
        "power_assignment": "choose",
        "powers": [],
        "first_player": "random",
        "unrest_visibility": "hidden",
    }


def test_fixed_powers_and_named_first_player_draw_nothing() -> None:
    """SOE-2.3: fixed powers by seat; the first player is named."""
    chosen = ["spain", "russia"]
    game = Given(RULESET, 2, options={"power_assignment": "fixed", "powers": chosen, "first_player": 1})
    assert [e.power for e in game.state.empires] == chosen
    assert game.state.first_player == 1
    labels = {draw[1] for draw in game.match.records[-1].public["draws"]}
    assert labels == {"marker"}


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"power_assignment": "auction"}, "/options/power_assignment"),
        ({"power_assignment": "fixed"}, "/options/powers"),
        ({"power_assignment": "fixed", "powers": ["spain"] * 3}, "/options/powers"),
        ({"power_assignment": "fixed", "powers": list(POWERS[:2])}, "/options/powers"),
        ({"power_assignment": "fixed", "powers": ["poland", "spain", "russia"]}, "/options/powers/0"),
        ({"powers": list(POWERS[:3])}, "/options/powers"),
        ({"first_player": 3}, "/options/first_player"),
        ({"first_player": True}, "/options/first_player"),
        ({"unrest_visibility": "secret"}, "/options/unrest_visibility"),
        ({"second_edition": True}, "/options/second_edition"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: Mapping[str, Json], pointer: str) -> None:
    """SOE-2.3: the pointer names the option."""
    with pytest.raises(InvalidTable) as error:
        RULESET.make_table(3, given)
    assert error.value.pointer == pointer


def test_two_seats_fight_without_allies() -> None:
    """SOE-2.4: with 2 seats all rules apply unchanged."""
    game = position(2, empires={0: {"units": army("baltic", 3)}, 1: {"tokens": {"baltic": 1}}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 2, 2])
    assert empire(game, 0)["tokens"] == {"baltic": 1}
    assert game.decision.kind == "turn"

"""SOE-7.1 to SOE-7.3: turns and their end."""

from __future__ import annotations

import pytest

from domain.types import Json
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position


def test_two_actions_in_a_row_then_the_next_seat() -> None:
    """SOE-7.1.1: every seat in turn order, both actions before the next seat plays."""
    game = position(3)
    game.when(0, move("build", unit="army", to="home_prussia"))
    assert asked(game) == ("turn", 0)
    game.when(0, move("build", unit="army", to="home_prussia"))
    assert asked(game) == ("turn", 1)


def test_actions_can_be_repeated_except_buying_and_settling() -> None:
    """SOE-7.1.2: one purchase, and one of colonize or enslave, in a round."""
    game = position(empires={0: {"units": army("africa", 0, navy=1)}}, markers=["na_virginia", "ca_cuba"])
    game.when(0, move("colonize", marker="na_virginia"))
    game.refused(0, move("enslave", marker="ca_cuba"), "already_colonized", "SOE-7.8.3")
    game = position()
    game.when(0, move("buy_tile", tile="banking"))
    game.refused(0, move("buy_tile", tile="banking"), "tile_already_bought", "SOE-7.4.4")


def test_free_actions_cost_nothing_and_come_at_any_time_of_turn() -> None:
    """SOE-7.1.3: before, between and after the actions, and while a move or build action is open."""
    tiles = ["improved_agriculture"] * 4 + ["militia"]
    game = position(empires={0: {"population": 3, "tiles": tiles, "units": army("home_prussia", 3)}})
    use = move("use_tile", tile="improved_agriculture")
    game.when(0, use)
    game.when(0, move("build", unit="army", to="baltic"), use)
    assert game.at("/turn/militia_left") == 1
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"), use)
    assert (game.at("/turn/actions_left"), game.at("/turn/moves_left")) == (0, 1)
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"))
    game.when(0, use)
    assert asked(game) == ("turn", 1)


def test_turn_record_starts_with_two_actions_and_nothing_else() -> None:
    """SOE-7.1.4: visible to all."""
    game = position(3, turn=0)
    game.when(0, move("pass"))
    assert game.sight("public")["turn"] == {
        "seat": 1,
        "actions_left": 2,
        "tile_bought": False,
        "colonized": False,
        "moves_left": 0,
        "moved": [],
        "militia_left": 0,
    }


def test_another_action_closes_what_is_open() -> None:
    """SOE-7.2.1: a move action and a build action are closed by any other action."""
    game = position(empires={0: {"units": army("home_prussia", 3), "tiles": ["militia"]}})
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"))
    assert len(game.at("/turn/moved")) == 1
    game.when(0, move("build", unit="army", to="baltic"))
    turn = game.at("/turn")
    assert (turn["moves_left"], turn["moved"], turn["militia_left"]) == (0, [], 1)
    game.refused(0, move("move_unit", unit="army", from_="baltic", to="home_prussia"), "no_actions_left", "SOE-7.6.6")


ACTIONS = [
    move("buy_tile", tile="banking"),
    move("build", unit="army", to="baltic"),
    move("move_unit", unit="army", from_="home_prussia", to="baltic"),
    move("colonize", marker="na_virginia"),
    move("enslave", marker="ca_cuba"),
    attack("baltic", 1),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a["type"])
def test_without_an_action_left_nothing_is_done(action: Json) -> None:
    """SOE-7.2.1: with no action left each of them is refused."""
    game = position(empires={0: {"tiles": ["mercenaries"]}}, turn_record={"actions_left": 0})
    game.refused(0, action, "no_actions_left")


def test_passing_ends_the_turn_and_forfeits_the_rest() -> None:
    """SOE-7.3.1: remaining actions and open moves are lost; the next round is played as usual."""
    game = position(2, empires={0: {"units": army("home_prussia", 2)}})
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"))
    game.when(0, move("pass"))
    game.when(1, move("pass"))
    assert (asked(game), game.at("/turn/actions_left"), game.at("/turn/moves_left")) == (("turn", 0), 2, 0)


@pytest.mark.parametrize(
    "name",
    [
        "war_office",
        "mercenaries",
        "pressgangs",
        "trained_natives",
        "diplomatic_service",
        "improved_agriculture",
        "blockade",
        "tobacco",
    ],
)
def test_a_tile_with_a_free_action_keeps_the_turn_open(name: str) -> None:
    """SOE-7.3.2: an explicit pass is needed while a free action is left; a turned tile keeps nothing open."""
    game = position(empires={0: {"tiles": [name]}}, turn_record={"actions_left": 1})
    game.when(0, move("build", unit="army", to="home_prussia"))
    assert asked(game) == ("turn", 0)
    if name != "blockade":
        game = position(empires={0: {"tiles": [(name, True)]}}, turn_record={"actions_left": 1})
        game.when(0, move("build", unit="army", to="home_prussia"))
        assert asked(game) == ("turn", 1)


def test_other_tiles_keep_nothing_open() -> None:
    """SOE-7.3.2: tiles without a free action do not count."""
    game = position(empires={0: {"tiles": ["reserve", "surprise_attack", "bavaria"]}}, turn_record={"actions_left": 1})
    game.when(0, move("build", unit="army", to="home_prussia"))
    assert asked(game) == ("turn", 1)


@pytest.mark.parametrize(
    ("population", "armies", "decides"),
    [(3, 0, ("turn", 0)), (1, 0, ("turn", 1)), (3, 13, ("turn", 1))],
)
def test_militia_keep_the_turn_open_while_they_can_build(
    population: int, armies: int, decides: tuple[str, int]
) -> None:
    """SOE-7.3.2: no further Militia build is possible without population or an army in supply."""
    units = army("home_prussia", armies) if armies else {}
    holdings = {"population": population, "units": units, "tiles": ["militia"]}
    game = position(empires={0: holdings}, turn_record={"actions_left": 1})
    game.when(0, move("build", unit="army", to="home_prussia"))
    assert asked(game) == decides


def test_the_last_movement_of_the_last_action_ends_the_turn() -> None:
    """SOE-7.3.2: moves_left must be 0."""
    game = position(empires={0: {"units": army("home_prussia", 2)}}, turn_record={"actions_left": 1})
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"))
    assert asked(game) == ("turn", 0)
    game.when(0, move("move_unit", unit="army", from_="home_prussia", to="baltic"))
    assert asked(game) == ("turn", 1)
    assert empire(game, 0)["units"] == army("baltic", 2)

"""SOE-7.6: moving units."""

from __future__ import annotations

from domain.types import Json
from tests.games.struggle_of_empires.board import army, empire, move, position, unrest


def go(unit: str, start: str, to: str, **more: Json) -> Json:
    return move("move_unit", unit=unit, from_=start, to=to, **more)


def test_two_units_move_and_one_more_for_each_logistics_tile() -> None:
    """SOE-7.6.1: two, plus one for every Logistics tile."""
    game = position(empires={0: {"units": army("home_prussia", 5), "tiles": ["logistics"] * 2}})
    for left in (3, 2, 1, 0):
        game.when(0, go("army", "home_prussia", "baltic"))
        assert (game.at("/turn/moves_left"), game.at("/turn/actions_left")) == (left, 1)


def test_a_navy_that_moves_first_opens_the_way_for_an_army() -> None:
    """SOE-7.6.1: each movement is complete before the next is chosen."""
    game = position(empires={0: {"units": army("home_prussia", 1, navy=1)}})
    game.refused(0, go("army", "home_prussia", "india"), "no_navy_in_colony")
    game.when(0, go("navy", "home_prussia", "india"), draws=[2])
    game.when(0, go("army", "home_prussia", "india"), draws=[6])
    assert empire(game, 0)["units"] == army("india", 1, navy=1)


def test_movement_opens_an_action_if_none_is_open_or_asked() -> None:
    """SOE-7.6.2: `new_action` opens another, and no unit counts as moved."""
    game = position(empires={0: {"units": army("home_prussia", 1)}})
    game.when(0, go("army", "home_prussia", "baltic"))
    game.refused(0, go("army", "baltic", "home_prussia"), "unit_already_moved", "SOE-7.6.4")
    game.when(0, go("army", "baltic", "home_prussia", new_action=True))
    assert (game.at("/turn/actions_left"), game.at("/turn/moves_left")) == (0, 1)
    game.refused(0, go("army", "home_prussia", "baltic", new_action=True), "no_actions_left", "SOE-7.6.6")


def test_a_unit_lost_at_sea_has_used_up_its_movement() -> None:
    """SOE-7.6.2, SOE-7.6.3: straight from one region to the other; lost: supply, no unrest."""
    game = position(empires={0: {"units": army("home_prussia", 0, navy=1)}})
    game.when(0, go("navy", "home_prussia", "east_indies"), draws=[1, 1])
    assert (empire(game, 0)["units"], game.at("/turn/moves_left"), unrest(game, 0)) == ({}, 1, 0)


def test_a_unit_turned_back_stays_and_has_moved() -> None:
    """SOE-7.6.3, SOE-7.6.4: at most once per action, also if it was turned back."""
    game = position(empires={0: {"units": army("home_prussia", 0, navy=1)}})
    game.when(0, go("navy", "home_prussia", "india"), draws=[1, 3])
    assert empire(game, 0)["units"] == army("home_prussia", 0, navy=1)
    assert game.at("/turn/moved") == [{"unit": "navy", "region": "home_prussia"}]
    game.refused(0, go("navy", "home_prussia", "india"), "unit_already_moved", "SOE-7.6.4")


def test_units_that_came_to_rest_in_a_region_stay_there() -> None:
    """SOE-7.6.4: units are anonymous; a lost unit leaves no entry."""
    holdings = {"units": {**army("home_prussia", 2), **army("baltic")}, "tiles": ["logistics"] * 2}
    game = position(empires={0: holdings})
    game.when(0, go("army", "home_prussia", "baltic"))
    game.when(0, go("army", "baltic", "german_states"))
    game.refused(0, go("army", "baltic", "german_states"), "unit_already_moved", "SOE-7.6.4")
    game.when(0, go("army", "home_prussia", "baltic"))
    rests = [m["region"] for m in game.at("/turn/moved")]
    assert rests == ["baltic", "german_states", "baltic"]


def test_units_placed_by_free_actions_have_not_moved() -> None:
    """SOE-7.6.4: units built while the move action is open may still move."""
    game = position(empires={0: {"units": army("home_prussia"), "tiles": ["mercenaries"]}})
    game.when(0, go("army", "home_prussia", "baltic"))
    game.when(0, move("use_tile", tile="mercenaries", to="baltic"))
    game.when(0, go("army", "baltic", "german_states"))
    assert empire(game, 0)["units"] == {**army("baltic"), **army("german_states")}


def test_forts_never_move() -> None:
    """SOE-7.6.5: well formed, and refused."""
    game = position(empires={0: {"units": army("baltic", 0, fort=1)}})
    game.refused(0, go("fort", "baltic", "german_states"), "fort_cannot_move", "SOE-7.6.5")


def test_what_cannot_be_moved() -> None:
    """SOE-7.6.6: the errors, in their order."""
    game = position(empires={0: {"tiles": ["mercenaries"]}}, turn_record={"actions_left": 0})
    game.refused(0, go("fort", "atlantis", "atlantis"), "no_actions_left", "SOE-7.6.6")
    game = position(empires={0: {"units": army("baltic")}})
    game.refused(0, go("fort", "atlantis", "atlantis"), "unknown_region", "SOE-7.6.6")
    game.refused(0, go("fort", "baltic", "baltic"), "fort_cannot_move", "SOE-7.6.5")
    game.refused(0, go("navy", "baltic", "baltic"), "no_such_unit", "SOE-7.6.6")
    game.refused(0, go("army", "baltic", "baltic"), "same_region", "SOE-7.6.6")
    game.refused(0, go("army", "baltic", "home_france"), "foreign_home", "SOE-15.3")

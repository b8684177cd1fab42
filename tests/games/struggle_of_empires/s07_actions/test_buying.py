"""SOE-7.4: buying a tile."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import asked, empire, move, position, unrest


def test_a_tile_is_bought_with_an_action() -> None:
    """SOE-7.4.1: the id of the tile; for Pirates and Slave Revolt also region and target."""
    game = position()
    game.when(0, move("buy_tile", tile="navigation"))
    assert empire(game, 0)["tiles"] == [{"tile": "navigation", "used": False}]
    assert (game.at("/turn/actions_left"), game.at("/turn/tile_bought")) == (1, True)
    assert game.at("/stock/navigation") == 1
    game.refused(1, move("buy_tile", tile="navigation", region="india", target_seat=1), "malformed_move")


def test_the_printed_cost_is_paid_in_gold_population_and_unrest() -> None:
    """SOE-7.4.2: gold with a loan if need be, population, unrest; a free tile still uses the action."""
    game = position(empires={0: {"gold": 1}})
    game.when(0, move("buy_tile", tile="army_training"))
    assert (empire(game, 0)["gold"], empire(game, 0)["population"], unrest(game, 0)) == (1, 4, 1)
    game = position()
    game.when(0, move("buy_tile", tile="industry"))
    assert (empire(game, 0)["gold"], unrest(game, 0)) == (10, 2)
    game = position()
    game.when(0, move("buy_tile", tile="bavaria"))
    assert (empire(game, 0)["gold"], game.at("/turn/actions_left")) == (10, 1)


def test_a_seat_can_own_several_copies() -> None:
    """SOE-7.4.3: the tile leaves the stock."""
    game = position(empires={0: {"tiles": ["militia"]}})
    game.when(0, move("buy_tile", tile="militia"))
    assert (game.state.empires[0].owned("militia"), game.at("/stock/militia")) == (2, 2)


def test_what_cannot_be_bought() -> None:
    """SOE-7.4.4: the errors, in their order."""
    spent = {"actions_left": 0, "tile_bought": True}
    game = position(empires={0: {"tiles": ["mercenaries"]}}, turn_record=spent)
    game.refused(0, move("buy_tile", tile="spy"), "no_actions_left", "SOE-7.4.4")
    taken = {0: {"population": 0, "banned_tiles": ["blockade"]}, 1: {"tiles": ["navigation"] * 2}}
    game = position(empires=taken, turn_record={"tile_bought": True})
    game.refused(0, move("buy_tile", tile="spy"), "unknown_tile", "SOE-7.4.4")
    game.refused(0, move("buy_tile", tile="navigation"), "tile_already_bought", "SOE-7.4.4")
    game = position(empires=taken)
    game.refused(0, move("buy_tile", tile="navigation"), "tile_not_in_stock", "SOE-7.4.4")
    game.refused(0, move("buy_tile", tile="blockade"), "tile_banned_this_round", "SOE-9.2.4")
    game.refused(0, move("buy_tile", tile="army_training"), "insufficient_population", "SOE-7.4.4")


def test_pirates_need_a_region_and_a_target() -> None:
    """SOE-7.4.4: a missing target has a code of its own; unknown ids are invalid."""
    game = position(empires={1: {"tokens": {"india": 1}}})
    for given in ({}, {"region": "india"}, {"target_seat": 1}):
        game.refused(0, move("buy_tile", tile="pirates", **given), "missing_target", "SOE-7.4.4")
    game.refused(0, move("buy_tile", tile="pirates", region="atlantis", target_seat=1), "invalid_region")
    game.refused(0, move("buy_tile", tile="pirates", region="india", target_seat=9), "invalid_target")
    assert asked(game) == ("turn", 0)

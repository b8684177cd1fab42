"""SOE-9.1 to SOE-9.4: classes of tiles, their use, immediate tiles."""

from __future__ import annotations

import pytest

from domain.games.struggle_of_empires.data import TILES
from tests.games.struggle_of_empires.board import (
    army,
    attack,
    empire,
    end_of_war,
    last_turn,
    move,
    offers,
    position,
    unrest,
)


def test_development_tiles_stay_and_alliance_tiles_go_back() -> None:
    """SOE-9.1.1: at the end of every War only the alliance tiles return to the stock."""
    game = last_turn(empires={0: {"tiles": ["militia", "tobacco", "bavaria", "sweden"]}})
    end_of_war(game)
    assert [t["tile"] for t in empire(game, 0)["tiles"]] == ["militia", "tobacco"]
    assert (game.at("/stock/bavaria"), game.at("/stock/sweden")) == (1, 1)


def test_owned_tiles_are_public() -> None:
    """SOE-9.1.2: with whether they are used; no move trades, sells or discards them."""
    game = position(2, empires={1: {"tiles": [("reserve", True)]}})
    assert game.sight("public")["empires"][1]["tiles"] == [{"tile": "reserve", "used": True}]


def test_permanent_tiles_work_without_a_move() -> None:
    """SOE-9.2.1: they have no free action."""
    game = position(empires={0: {"tiles": ["logistics"]}})
    game.refused(0, move("use_tile", tile="logistics"), "tile_not_usable", "SOE-9.3.1")


def test_once_per_war_tiles_are_turned_and_turned_back() -> None:
    """SOE-9.2.2: a tile may be used in the turn in which it was bought."""
    game = position(2, turn=0, round=6, empires={0: {"tiles": ["improved_agriculture"]}})
    use = move("use_tile", tile="improved_agriculture")
    game.when(0, use, move("buy_tile", tile="improved_agriculture"), use)
    assert [t["used"] for t in empire(game, 0)["tiles"]] == [True, True]
    game.refused(0, use, "tile_already_used", "SOE-9.3.1")
    game.when(0, move("pass"))
    end_of_war(game)
    assert [t["used"] for t in empire(game, 0)["tiles"]] == [False, False]


def test_a_boxed_tile_leaves_the_game() -> None:
    """SOE-9.2.3: neither owned nor in the stock."""
    game = position(2, empires={0: {"unrest": 3}})
    game.when(0, move("buy_tile", tile="government_reform"))
    assert (game.at("/boxed"), game.at("/stock/government_reform")) == ({"government_reform": 1}, 9)
    assert empire(game, 0)["tiles"] == []


def test_returned_tile_is_banned_for_its_user_this_round() -> None:
    """SOE-9.2.4: any other seat may buy it."""
    holdings = {"units": army("baltic", 2), "tiles": ["surprise_attack"]}
    game = position(2, empires={0: holdings, 1: {"tokens": {"baltic": 1}}})
    game.when(0, attack("baltic", 1, surprise=True), draws=[1, 1, 1, 1])
    game.refused(0, move("buy_tile", tile="surprise_attack"), "tile_banned_this_round", "SOE-9.2.4")
    game.when(0, move("pass"))
    assert "surprise_attack" in offers(game, 1, "buy_tile")
    game.when(1, move("pass"))
    game.when(0, move("buy_tile", tile="surprise_attack"))


def test_the_general_errors_of_a_free_action() -> None:
    """SOE-9.3.1: in this order; a refused use leaves the tile unused."""
    tiles = ["reserve", ("tobacco", True), "gold_mines"]
    game = position(empires={0: {"tiles": tiles}})
    game.refused(0, move("use_tile", tile="spy"), "unknown_tile", "SOE-9.3.1")
    game.refused(0, move("use_tile", tile="pirates"), "tile_not_owned", "SOE-9.3.1")
    game.refused(0, move("use_tile", tile="reserve"), "tile_not_usable", "SOE-9.3.1")
    game.refused(0, move("use_tile", tile="tobacco"), "tile_already_used", "SOE-9.3.1")
    game.refused(0, move("use_tile", tile="gold_mines"), "no_control_token_in_region", "SOE-9.5.14")
    assert empire(game, 0)["tiles"][2] == {"tile": "gold_mines", "used": False}


@pytest.mark.parametrize(("before", "after"), [(5, 3), (1, 0), (0, 0)])
def test_government_reform_removes_two_unrest(before: int, after: int) -> None:
    """SOE-9.4.1: not below 0."""
    game = position(empires={0: {"unrest": before}})
    game.when(0, move("buy_tile", tile="government_reform"))
    assert unrest(game, 0) == after


def test_industry_costs_unrest_and_brings_victory_points() -> None:
    """SOE-9.4.2: 2 unrest, 3 points, and the tile stays."""
    game = position()
    game.when(0, move("buy_tile", tile="industry"))
    assert (unrest(game, 0), empire(game, 0)["vp"]) == (2, 3)
    assert empire(game, 0)["tiles"] == [{"tile": "industry", "used": False}]


def test_pirates_and_slave_revolt_work_at_once() -> None:
    """SOE-9.4.3: they are never owned."""
    game = position(2, empires={1: {"tokens": {"caribbean": 1}}})
    for name in ("pirates", "slave_revolt"):
        game = position(2, empires={1: {"tokens": {"caribbean": 1}}})
        game.when(0, move("buy_tile", tile=name, region="caribbean", target_seat=1), draws=[1, 1, 1, 1])
        assert empire(game, 0)["tiles"] == []
        assert game.at(f"/{name}") == {"region": "caribbean", "token_of": 1}


def test_every_tile_says_when_it_works() -> None:
    """SOE-9.2: tiles with a free action, and those that are turned."""
    free = {t.id for t in TILES.values() if t.free_action}
    assert free - {t.id for t in TILES.values() if t.once_per_war} == {"blockade"}

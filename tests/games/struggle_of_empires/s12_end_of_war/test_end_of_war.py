"""SOE-12: the end of a War."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import TEN, army, asked, empire, end_of_war, last_turn, move, position


def test_the_last_in_turn_order_opens_the_next_war() -> None:
    """SOE-12.1: remembered as `opener`."""
    game = last_turn(first_player=0)
    end_of_war(game)
    assert (game.at("/opener"), asked(game)) == (1, ("auction_bid", 1))


def test_turned_tiles_are_turned_back() -> None:
    """SOE-12.2: all of them."""
    game = last_turn(empires={0: {"tiles": [("reserve", True), ("tobacco", True)]}})
    end_of_war(game)
    assert [t["used"] for t in empire(game, 0)["tiles"]] == [False, False]


def test_a_blockade_returns_to_the_stock_and_bans_are_cleared() -> None:
    """SOE-12.3: although its navy is still there."""
    holdings = {
        "tiles": [("blockade", True)],
        "units": army("india", 0, navy=1),
        "banned_tiles": ["blockade", "surprise_attack"],
    }
    game = last_turn(empires={0: holdings}, blockade={"seat": 0, "region": "india"})
    end_of_war(game)
    assert (game.state.blockade, game.at("/stock/blockade")) == (None, 1)
    assert (empire(game, 0)["tiles"], empire(game, 0)["banned_tiles"]) == ([], [])


def test_alliance_tiles_return_to_the_stock() -> None:
    """SOE-12.4: all of them, of every seat."""
    game = last_turn(empires={0: {"tiles": ["bavaria", "portugal"]}, 1: {"tiles": ["naples", "militia"]}})
    end_of_war(game)
    assert [[t["tile"] for t in empire(game, s)["tiles"]] for s in (0, 1)] == [[], ["militia"]]


def test_alliances_and_turn_order_are_dissolved() -> None:
    """SOE-12.5: the next War starts with round 1."""
    game = last_turn()
    end_of_war(game)
    assert (game.at("/war"), game.at("/turn_order"), game.at("/alliances")) == (2, [], {"grey": [], "white": []})
    game.when(1, move("bid", amount=0, a=1, b=0))
    game.when(0, move("pass_bid"))
    assert (game.at("/round"), asked(game)) == (1, ("turn", 1))


def test_five_rounds_with_five_seats() -> None:
    """SOE-12.1, SOE-2.2: the War ends after round 5."""
    game = position(5, turn=4, round=5, to_play=[])
    game.when(4, move("pass"), draws=TEN)
    assert (game.at("/war"), game.at("/opener")) == (2, 4)

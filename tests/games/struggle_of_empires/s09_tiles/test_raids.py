"""SOE-9.6, SOE-9.7: Pirates and Slave Revolt sent against a seat."""

from __future__ import annotations

from typing import Any

import pytest

from domain.types import Json
from tests.games.struggle_of_empires.board import (
    army,
    asked,
    attack,
    empire,
    end_of_war,
    last_turn,
    move,
    position,
    unrest,
)


def send(tile: str, region: str, seat: int) -> Json:
    return move("buy_tile", tile=tile, region=region, target_seat=seat)


def test_the_purchase_names_a_colony_and_a_seat() -> None:
    """SOE-9.6.1: paid like any tile."""
    game = position(2, empires={1: {"tokens": {"india": 1}}})
    game.when(0, send("pirates", "india", 1), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["gold"], game.at("/turn/actions_left"), game.at("/turn/tile_bought")) == (8, 1, True)


def test_target_is_another_seat_with_token_there_friend_or_foe() -> None:
    """SOE-9.6.2: not the buyer."""
    tokens = {seat: {"tokens": {"india": 1}} for seat in (0, 2)}
    game = position(3, empires=tokens)
    game.refused(0, send("pirates", "baltic", 2), "invalid_region", "SOE-9.6.2")
    game.refused(0, send("pirates", "india", 0), "invalid_target", "SOE-9.6.2")
    game.refused(0, send("pirates", "india", 1), "invalid_target", "SOE-9.6.2")
    game.when(0, send("pirates", "india", 2), draws=[1, 1, 1, 1])


def test_pirates_fight_navies_tiles_and_training_of_the_target() -> None:
    """SOE-9.6.3: no allies, no refusal; the tile rolls first; the target may use Reserve."""
    target = {
        "tokens": {"india": 1},
        "units": army("india", 5, navy=2),
        "tiles": ["portugal", "indian_nawab", "naval_training", "reserve"],
    }
    buyer = {"tiles": ["naval_training"] * 2 + ["reserve"]}
    game = position(4, empires={0: buyer, 1: target, 3: {"units": army("india", 0, navy=5)}})
    dice = [{"label": "battle.attacker", "value": v} for v in (6, 5)]
    dice += [{"label": "battle.defender", "value": v} for v in (4, 2)]
    game.when(0, send("pirates", "india", 1), draws=dice)
    assert game.at("/combat/totals") == [1 + 1, 2 + 1 + 1 + 2]
    assert asked(game) == ("reserve", 1)
    assert game.at("/combat/attacker/kind") == "pirates"


def test_the_target_may_withdraw() -> None:
    """SOE-9.6.3, SOE-8.10.2: also against Pirates."""
    target = {"tokens": {"india": 1}, "units": army("india", 0, navy=1), "tiles": ["fighting_withdrawal"]}
    game = position(2, empires={1: target})
    game.when(0, send("pirates", "india", 1), draws=[3, 1, 1, 1])
    game.when(1, move("fighting_withdrawal", use=True, save=1))
    assert empire(game, 1)["units"] == army("india", 0, navy=1)
    assert game.at("/pirates") == {"region": "india", "token_of": 1}


@pytest.mark.parametrize(
    ("dice", "navies", "stays", "held"),
    [([2, 1, 1, 1], 1, 0, True), ([1, 1, 1, 1], 1, 0, False), ([1, 1, 3, 1], 1, 1, False), ([1, 1, 6, 1], 2, 1, False)],
)
def test_pirates_that_win_hold_token_otherwise_tile_goes_back(
    dice: list[int], navies: int, stays: int, held: bool
) -> None:
    """SOE-9.6.4: a beaten or tied target loses a navy, and one more for its natural seven."""
    target = {"tokens": {"india": 1}, "units": army("india", 0, navy=navies)}
    game = position(2, empires={1: target})
    game.when(0, send("pirates", "india", 1), draws=dice)
    assert game.state.empires[1].units_in("india", "navy") == stays
    assert (game.state.pirates is not None) is held
    assert (empire(game, 1)["tokens"], game.at("/stock").get("pirates", 0)) == (({}, 0) if held else ({"india": 1}, 1))
    assert unrest(game, 1) == navies - stays


def test_pirates_stay_through_later_wars() -> None:
    """SOE-9.6.4: until beaten; the captured token brings neither income nor points."""
    held = {"region": "india", "token_of": 0}
    game = last_turn(pirates=held)
    end_of_war(game)
    assert game.at("/pirates") == held
    assert (empire(game, 0)["gold"], empire(game, 0)["vp"]) == (10 + 5, 0)


def test_a_captured_token_counts_for_nothing_but_the_limit() -> None:
    """SOE-9.6.5: not as presence for an attack, Trained Natives or a further raid."""
    held = {"region": "india", "token_of": 1}
    game = position(2, empires={0: {"units": army("india", 3)}}, pirates=held)
    game.refused(0, attack("india", 1), "target_absent")
    assert game.state.reserve(1) == 19
    game = position(2, turn=1, empires={1: {"tiles": ["trained_natives"]}}, pirates=held, to_play=[])
    game.refused(1, move("use_tile", tile="trained_natives", region="india"), "not_present_in_region")
    slaves = {"region": "caribbean", "token_of": 1}
    game = position(2, slave_revolt=slaves)
    game.refused(0, send("pirates", "caribbean", 1), "invalid_target")


def test_the_tile_on_the_map_belongs_to_nobody() -> None:
    """SOE-9.6.5: not even to its buyer, who may attack it."""
    game = position(2, empires={0: {"units": army("india", 0, navy=4)}, 1: {"tokens": {"india": 1}}})
    game.when(0, send("pirates", "india", 1), draws=[1, 1, 1, 1])
    game.when(0, attack("india", "pirates"), draws=[1, 1, 1, 1])
    assert (game.state.pirates, empire(game, 0)["tokens"]) == (None, {"india": 1})


def test_slave_revolt_is_in_the_americas_with_strength_three() -> None:
    """SOE-9.7.1: in attack and in defence."""
    target = {"tokens": {"india": 1, "caribbean": 1}}
    game = position(2, empires={1: target})
    game.refused(0, send("slave_revolt", "india", 1), "invalid_region", "SOE-9.7.1")
    facts = game.when(0, send("slave_revolt", "caribbean", 1), draws=[4, 2, 1, 1])
    rolled = next(f for f in facts if f["t"] == "battle_rolled")
    assert (rolled["stage"], rolled["totals"]) == ("land", [3 + 2, 0])


def test_the_target_of_a_slave_revolt_fights_on_land() -> None:
    """SOE-9.7.2: armies, forts, tiles, training, naval support by an own navy, Blockade."""
    tiles = ["gauchos", "portugal", "army_training", "blockade"]
    target: dict[str, Any] = {
        "tokens": {"south_america": 1},
        "units": army("south_america", 1, fort=1, navy=1),
        "tiles": tiles,
    }
    game = position(2, empires={1: target})
    game.when(0, send("slave_revolt", "south_america", 1))
    assert asked(game) == ("use_blockade", 1)
    facts = game.when(1, move("use_blockade", use=True), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [3, 1 + 2 + 2 + 1 + 2]


def test_a_slave_revolt_in_a_tie_takes_no_fort() -> None:
    """SOE-9.7.2: losses are armies or forts; in a tie no fort."""
    target = {"tokens": {"caribbean": 1}, "units": army("caribbean", 0, fort=1)}
    game = position(2, empires={1: target})
    game.when(0, send("slave_revolt", "caribbean", 1), draws=[1, 1, 2, 1])
    assert empire(game, 1)["units"] == army("caribbean", 0, fort=1)


def test_winning_slave_revolt_stays_and_losing_one_goes_back() -> None:
    """SOE-9.7.3: one token of the target goes on the tile."""
    for dice, held in (([1, 1, 1, 1], {"region": "caribbean", "token_of": 1}), ([1, 1, 4, 1], None)):
        game = position(2, empires={1: {"tokens": {"caribbean": 2}}})
        game.when(0, send("slave_revolt", "caribbean", 1), draws=dice)
        assert game.at("/slave_revolt") == held
        assert empire(game, 1)["tokens"] == {"caribbean": 1 if held else 2}

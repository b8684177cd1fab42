"""SOE-9.5: what each development, trade and alliance tile does."""

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


def use(tile: str, **fields: Json) -> Json:
    return move("use_tile", tile=tile, **fields)


def test_only_the_number_of_training_tiles_matters() -> None:
    """SOE-9.5.1: +1 and never more, compared with the opposing principal; tiles of allies are ignored."""
    empires = {
        0: {"units": army("baltic", 2), "tiles": ["army_training"] * 3},
        1: {"units": army("baltic", 2), "tiles": ["army_training"] * 2},
        2: {"units": army("baltic", 1), "tiles": ["army_training"]},
    }
    game = position(3, empires=empires)
    game.when(0, attack("baltic", 1))
    facts = game.when(2, move("support", armies=0, navies=0), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [3, 2]


def test_reserve_can_be_used_once_per_war() -> None:
    """SOE-9.5.2: turned when used."""
    game = position(2, empires={0: {"units": army("baltic", 2), "tiles": ["reserve"]}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    game.when(0, move("reserve", use=True), draws=[1, 1, 1, 1])
    assert empire(game, 0)["tiles"] == [{"tile": "reserve", "used": True}]
    assert asked(game) == ("turn", 0)


@pytest.mark.parametrize(("tile", "unit"), [("mercenaries", "army"), ("pressgangs", "navy")])
def test_a_unit_without_population_or_action(tile: str, unit: str) -> None:
    """SOE-9.5.3: as a build otherwise, with its sea roll; never with Militia."""
    holdings = {"population": 0, "tiles": [tile, "militia"], "units": army("india", 0, navy=1)}
    game = position(empires={0: holdings})
    game.when(0, use(tile, to="india"), draws=[6])
    assert game.state.empires[0].units_in("india", unit) == (1 if unit == "army" else 2)
    assert (game.at("/turn/actions_left"), game.at("/turn/militia_left")) == (2, 0)
    game.refused(0, use(tile, to="india"), "tile_already_used")


def test_what_such_a_unit_cannot_do() -> None:
    """SOE-9.5.3: the errors of a build without the first and the population check."""
    full = {"population": 0, "tiles": ["mercenaries"], "units": army("baltic", 14)}
    game = position(empires={0: full})
    game.refused(0, use("mercenaries", to="atlantis"), "unknown_region", "SOE-7.5.5")
    game.refused(0, use("mercenaries", to="home_france"), "no_unit_available", "SOE-7.5.5")
    game = position(empires={0: {"tiles": ["mercenaries", "pressgangs"]}})
    game.refused(0, use("mercenaries", to="home_france"), "foreign_home", "SOE-15.3")
    game.refused(0, use("pressgangs", to="german_states"), "navy_cannot_enter", "SOE-15.1")


def test_war_office_attacks_without_an_action() -> None:
    """SOE-9.5.4: the 2 gold are paid, and all errors but the first apply."""
    holdings = {"units": army("baltic", 9), "tiles": ["war_office"]}
    game = position(empires={0: holdings}, markers=["ba_norway"], turn_record={"actions_left": 0})
    fields = {k: v for k, v in attack("baltic", "ba_norway").items() if k != "type"}
    game.refused(0, use("war_office", attack={**fields, "region": "atlantis"}), "unknown_region", "SOE-8.1.2")
    game.refused(0, use("war_office", attack={**fields, "ask": [1]}), "invalid_ask", "SOE-8.1.2")
    game.when(0, use("war_office", attack=fields), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["gold"], empire(game, 0)["tokens"]) == (8, {"baltic": 1})
    assert asked(game) == ("turn", 1)


def test_trained_natives_need_no_ship_and_no_sea_roll() -> None:
    """SOE-9.5.5: an army where the owner has a token or any unit; a blockade is ignored."""
    for presence in ({"tokens": {"india": 1}}, {"units": army("india", 0, fort=1)}):
        enemy = {"units": army("india", 0, navy=1), "tiles": [("blockade", True)]}
        empires = {0: {**presence, "tiles": ["trained_natives"]}, 1: enemy}
        game = position(empires=empires, blockade={"seat": 1, "region": "india"})
        game.when(0, use("trained_natives", region="india"))
        assert game.state.empires[0].units_in("india", "army") == 1


@pytest.mark.parametrize(
    ("dice", "units"),
    [([2], army("baltic")), ([1, 3], army("india")), ([1, 1], {})],
)
def test_trained_natives_may_move_on_at_once(dice: list[int], units: Any) -> None:
    """SOE-9.5.5: with a sea roll where due, outside any move action."""
    game = position(empires={0: {"tokens": {"india": 1}, "tiles": ["trained_natives"]}})
    game.when(0, use("trained_natives", region="india", then_to="baltic"), draws=dice)
    assert (empire(game, 0)["units"], game.at("/turn/actions_left")) == (units, 2)
    assert (game.at("/turn/moved"), game.at("/turn/moves_left"), unrest(game, 0)) == ([], 0, 0)


def test_what_trained_natives_cannot_do() -> None:
    """SOE-9.5.5: the errors, in their order; one of `then_to` refuses the whole move."""
    game = position(empires={0: {"tokens": {"india": 1}, "tiles": ["trained_natives"]}})
    for region, code in (
        ("atlantis", "unknown_region"),
        ("baltic", "invalid_region"),
        ("africa", "not_present_in_region"),
    ):
        game.refused(0, use("trained_natives", region=region, then_to="atlantis"), code, "SOE-9.5.5")
    for to, code in (
        ("atlantis", "unknown_region"),
        ("india", "same_region"),
        ("home_france", "foreign_home"),
        ("africa", "no_navy_in_colony"),
        ("mediterranean", "region_not_accessible"),
    ):
        game.refused(0, use("trained_natives", region="india", then_to=to), code)
    full = {"tokens": {"india": 1}, "tiles": ["trained_natives"], "units": army("baltic", 14)}
    position(empires={0: full}).refused(
        0, use("trained_natives", region="india", then_to="atlantis"), "no_unit_available", "SOE-9.5.5"
    )


def test_militia_add_up() -> None:
    """SOE-9.5.6: each tile allows one additional army per build action."""
    game = position(empires={0: {"tiles": ["militia"] * 3}})
    game.when(0, move("build", unit="army", to="baltic"))
    assert game.at("/turn/militia_left") == 3


def test_logistics_add_up() -> None:
    """SOE-9.5.7: one more unit per tile in each move action."""
    game = position(empires={0: {"tiles": ["logistics"] * 4, "units": army("baltic", 2)}})
    game.when(0, move("move_unit", unit="army", from_="baltic", to="german_states"))
    assert game.at("/turn/moves_left") == 5


@pytest.mark.parametrize("copies", [1, 2])
def test_banking_lends_three_gold_for_an_unrest(copies: int) -> None:
    """SOE-9.5.8: a second copy adds nothing."""
    holdings = {"gold": 0, "units": army("baltic", 9), "tiles": ["banking"] * copies}
    game = position(empires={0: holdings}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["gold"], unrest(game, 0)) == (1, 1)


@pytest.mark.parametrize("copies", [1, 2])
def test_navigation_helps_the_second_die(copies: int) -> None:
    """SOE-9.5.9: +2, a second copy adds nothing; a unit is never lost."""
    for second, where in ((1, "home_prussia"), (2, "home_prussia"), (3, "india")):
        game = position(empires={0: {"tiles": ["navigation"] * copies}})
        game.when(0, move("build", unit="navy", to="india"), draws=[1, second])
        assert empire(game, 0)["units"] == army(where, 0, navy=1)


def test_diplomatic_service_takes_an_alliance_tile() -> None:
    """SOE-9.5.10: at its cost, without an action, besides the purchase of the round."""
    game = position(empires={0: {"tiles": ["diplomatic_service"]}, 1: {"tiles": ["denmark"]}})
    for tile, code in (("spy", "unknown_tile"), ("banking", "not_an_alliance_tile"), ("denmark", "tile_not_in_stock")):
        game.refused(0, use("diplomatic_service", alliance_tile=tile), code, "SOE-9.5.10")
    game.when(0, move("buy_tile", tile="bavaria"), use("diplomatic_service", alliance_tile="sweden"))
    assert (empire(game, 0)["gold"], game.at("/turn/actions_left")) == (9, 1)
    assert [t["tile"] for t in empire(game, 0)["tiles"]] == ["diplomatic_service", "bavaria", "sweden"]


def test_improved_agriculture_adds_one_population() -> None:
    """SOE-9.5.11: refused at 9."""
    game = position(empires={0: {"population": 8, "tiles": ["improved_agriculture"] * 2}})
    game.when(0, use("improved_agriculture"))
    assert empire(game, 0)["population"] == 9
    game.refused(0, use("improved_agriculture"), "population_at_max", "SOE-9.5.11")


def test_withdrawal_and_surprise_have_no_free_action() -> None:
    """SOE-9.5.12: they work in combat."""
    game = position(empires={0: {"tiles": ["fighting_withdrawal", "surprise_attack"]}})
    for tile in ("fighting_withdrawal", "surprise_attack"):
        game.refused(0, use(tile), "tile_not_usable", "SOE-9.3.1")


def test_a_blockade_lies_under_an_own_navy() -> None:
    """SOE-9.5.13: it stays in the owner's list, used, and is banned for him this round."""
    game = position(empires={0: {"tiles": ["blockade"], "units": army("india", 0, navy=1)}})
    for region, code in (
        ("atlantis", "unknown_region"),
        ("baltic", "invalid_region"),
        ("africa", "no_navy_in_region"),
    ):
        game.refused(0, use("blockade", region=region), code, "SOE-9.5.13")
    game.when(0, use("blockade", region="india"))
    assert game.at("/blockade") == {"seat": 0, "region": "india"}
    assert empire(game, 0)["tiles"] == [{"tile": "blockade", "used": True}]
    assert empire(game, 0)["banned_tiles"] == ["blockade"]
    game.refused(0, use("blockade", region="india"), "tile_already_used", "SOE-9.3.1")


@pytest.mark.parametrize(
    ("seat", "navies", "enters"),
    [(1, 1, False), (1, 2, False), (1, 3, True), (2, 1, True)],
)
def test_a_blockade_hinders_enemies_without_more_navies(seat: int, navies: int, enters: bool) -> None:
    """SOE-9.5.13: armies and forts, moved or built; not allies, not navies, not Trained Natives."""
    blockader = {"tiles": [("blockade", True)], "units": army("india", 0, navy=2)}
    mine = {"units": {**army("india", 0, navy=navies), **army("baltic")}}
    game = position(turn=seat, empires={0: blockader, seat: mine}, blockade={"seat": 0, "region": "india"})
    steps = [
        move("build", unit="army", to="india"),
        move("build", unit="fort", to="india"),
        move("move_unit", unit="army", from_="baltic", to="india"),
    ]
    for step in steps:
        if not enters:
            game.refused(seat, step, "blockaded", "SOE-9.5.13")
    if enters:
        game.when(seat, steps[1], draws=[6])
    game.when(seat, move("build", unit="navy", to="india"), draws=[6])


def test_a_blockade_returns_when_its_last_navy_is_sunk() -> None:
    """SOE-9.5.13: at once when the blockader has no navy left there for any reason."""
    blockader = {"tiles": [("blockade", True)], "units": army("india", 1, navy=1)}
    game = position(
        2,
        turn=1,
        empires={0: blockader, 1: {"units": army("india", 1, navy=3)}},
        blockade={"seat": 0, "region": "india"},
        to_play=[],
    )
    game.when(1, attack("india", 0))
    game.when(1, move("naval_choice", fight=True))
    game.when(0, move("naval_choice", fight=True), draws=[1, 1, 1, 1, 1, 1, 1, 1])
    assert (game.state.blockade, game.at("/stock/blockade"), empire(game, 0)["tiles"]) == (None, 1, [])


def test_trade_tiles_pay_a_gold_for_each_token() -> None:
    """SOE-9.5.14: with two regions the owner names one; captured tokens do not count."""
    tiles = ["tobacco", "east_indies_company"]
    tokens = {"north_america": 3, "east_indies": 2}
    game = position(empires={0: {"tokens": tokens, "tiles": tiles}}, pirates={"region": "east_indies", "token_of": 0})
    for region in ({}, {"region": "africa"}, {"region": "atlantis"}):
        game.refused(0, use("east_indies_company", **region), "invalid_region", "SOE-9.5.14")
    game.refused(0, use("tobacco", region="india"), "invalid_region", "SOE-9.5.14")
    game.refused(0, use("east_indies_company", region="india"), "no_control_token_in_region", "SOE-9.5.14")
    game.when(0, use("tobacco"))
    game.when(0, use("east_indies_company", region="east_indies"))
    assert empire(game, 0)["gold"] == 10 + 3 + 2


def test_an_unused_trade_tile_pays_nothing_by_itself() -> None:
    """SOE-9.5.14: it is additional to the income and not automatic."""
    game = last_turn(empires={0: {"tokens": {"north_america": 3}, "tiles": ["tobacco"]}})
    end_of_war(game)
    assert empire(game, 0)["gold"] == 10 + 5 + 3


def test_alliance_tiles_add_up_for_their_owner_as_a_principal() -> None:
    """SOE-9.5.15: attacking or defending, never a unit."""
    game = position(
        2,
        empires={
            0: {"units": army("german_states"), "tiles": ["bavaria", "saxony"]},
            1: {"tokens": {"german_states": 1}, "tiles": ["naples"]},
        },
    )
    facts = game.when(0, attack("german_states", 1), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [3, 0]
    game = position(2, empires={0: {"tiles": ["bavaria"]}, 1: {"tokens": {"german_states": 1}}})
    game.refused(0, attack("german_states", 1), "no_army_in_region")

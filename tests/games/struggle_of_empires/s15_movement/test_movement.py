"""SOE-15: where units may go."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.struggle_of_empires.data import COLONIES
from domain.games.struggle_of_empires.rules.movement import needs_sea_roll
from tests.games.struggle_of_empires.board import army, empire, move, offers, position


def test_navies_go_to_colonies_two_seas_and_home() -> None:
    """SOE-15.1: no other condition."""
    offered = offers(position(), 0, "build", "navy")
    assert set(offered) == {*COLONIES, "baltic", "mediterranean", "home_prussia"}


@pytest.mark.parametrize(
    ("power_seat", "holdings", "region", "open_"),
    [
        (0, {}, "german_states", True),
        (3, {}, "german_states", True),
        (0, {}, "mediterranean", False),
        (0, {"tokens": {"mediterranean": 1}}, "mediterranean", True),
        (3, {"tokens": {"german_states": 1}}, "mediterranean", True),
        (3, {"tokens": {"baltic": 1}}, "central_europe", True),
        (3, {}, "baltic", False),
        (3, {"units": army("baltic", 0, navy=1)}, "baltic", True),
        (3, {"units": army("mediterranean", 0, navy=1)}, "ottoman_empire", True),
        (3, {"units": army("mediterranean", 3)}, "ottoman_empire", False),
        (3, {"tokens": {"india": 1}}, "india", False),
        (3, {"units": army("india", 0, navy=1)}, "india", True),
        (3, {}, "home_britain", True),
    ],
)
def test_where_armies_may_go(power_seat: int, holdings: dict[str, Any], region: str, open_: bool) -> None:
    """SOE-15.2: tokens there or beside it, home, a navy; for a colony an own navy in it."""
    game = position(4, turn=power_seat, empires={power_seat: holdings}, to_play=[])
    assert (region in offers(game, power_seat, "build", "army")) is open_


def test_nobody_enters_anothers_home_and_leaving_is_free() -> None:
    """SOE-15.3: home countries of powers that nobody has as well."""
    game = position(2, empires={0: {"units": army("india", 1)}})
    for home in ("home_austria", "home_spain"):
        game.refused(0, move("build", unit="army", to=home), "foreign_home", "SOE-15.3")
    game.when(0, move("move_unit", unit="army", from_="india", to="home_prussia"), draws=[6])


@pytest.mark.parametrize(
    ("start", "to", "due"),
    [
        ("home_prussia", "india", True),
        ("baltic", "africa", True),
        ("india", "baltic", True),
        ("india", "home_prussia", True),
        ("india", "east_indies", True),
        ("north_america", "caribbean", False),
        ("caribbean", "south_america", False),
        ("south_america", "north_america", False),
        ("caribbean", "africa", True),
        ("baltic", "mediterranean", False),
        ("home_prussia", "baltic", False),
    ],
)
def test_when_a_sea_roll_is_due(start: str, to: str, due: bool) -> None:
    """SOE-15.4: to a colony, or from one to Europe or home; not between the three Americas."""
    assert needs_sea_roll(start, to) is due


@pytest.mark.parametrize(
    ("dice", "navigation", "result"),
    [
        ([2], False, "arrives"),
        ([6], True, "arrives"),
        ([1, 1], False, "lost"),
        ([1, 2], False, "lost"),
        ([1, 3], False, "turned_back"),
        ([1, 4], False, "turned_back"),
        ([1, 5], False, "arrives"),
        ([1, 1], True, "turned_back"),
        ([1, 2], True, "turned_back"),
        ([1, 3], True, "arrives"),
    ],
)
def test_the_dice_of_the_sea_roll(dice: list[int], navigation: bool, result: str) -> None:
    """SOE-15.4: the second die only on a 1; with Navigation a unit is never lost."""
    game = position(empires={0: {"tiles": ["navigation"] if navigation else []}})
    labelled = [{"label": label, "value": v} for label, v in zip(("sea", "sea.second"), dice, strict=False)]
    facts = game.when(0, move("build", unit="navy", to="india"), draws=labelled)
    built = next(f for f in facts if f["t"] == "unit_built")
    assert (built["result"], built["dice"]) == (result, dice)


def test_the_errors_of_a_destination() -> None:
    """SOE-15.5: in this order."""
    enemy = {"tiles": [("blockade", True)], "units": army("india", 0, navy=2)}
    mine = {"units": army("india", 0, navy=1)}
    game = position(empires={0: mine, 1: enemy}, blockade={"seat": 1, "region": "india"})
    for unit, to, code in (
        ("fort", "home_france", "foreign_home"),
        ("navy", "home_france", "foreign_home"),
        ("fort", "home_prussia", "fort_needs_scoring_region"),
        ("navy", "central_europe", "navy_cannot_enter"),
        ("army", "africa", "no_navy_in_colony"),
        ("army", "india", "blockaded"),
        ("army", "mediterranean", "region_not_accessible"),
    ):
        game.refused(0, move("build", unit=unit, to=to), code)


@pytest.mark.parametrize(("dice", "lifted"), [([6], True), ([1, 1], True), ([1, 3], False)])
def test_a_blockade_is_lifted_when_its_last_navy_leaves(dice: list[int], lifted: bool) -> None:
    """SOE-15.6: arrived elsewhere or lost, not when it is turned back."""
    holdings = {"tiles": [("blockade", True)], "units": army("india", 0, navy=1)}
    game = position(empires={0: holdings}, blockade={"seat": 0, "region": "india"})
    game.when(0, move("move_unit", unit="navy", from_="india", to="africa"), draws=dice)
    assert (game.state.blockade is None) is lifted
    assert (empire(game, 0)["tiles"] == []) is lifted

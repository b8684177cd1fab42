"""SOE-8.4, SOE-8.5: naval support and naval battle."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position, unrest
from tests.spec import Given


def duel(a: dict[str, Any], b: dict[str, Any]) -> Given:
    """Two seats that can fight in the Baltic."""
    return position(2, empires={0: a, 1: b})


def sea(navies: int, armies: int = 2, **more: Any) -> dict[str, Any]:
    units = army("baltic", armies, navy=navies) if navies else army("baltic", armies)
    return {"units": units, **more}


FIGHT, REFUSE = move("naval_choice", fight=True), move("naval_choice", fight=False)


def test_ships_on_one_side_alone_support_it() -> None:
    """SOE-8.4.1: no decision is asked in these cases."""
    for a, b, totals in ((0, 0, [2, 2]), (1, 0, [3, 2]), (0, 1, [2, 3])):
        game = duel(sea(a), sea(b))
        facts = game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
        assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == totals


def test_allied_ships_count_for_the_naval_stage() -> None:
    """SOE-8.4: A and B are own navies and those of allies, even with no own one."""
    game = position(3, empires={0: sea(0), 1: sea(1), 2: {"units": army("baltic", 0, navy=1)}})
    game.when(0, attack("baltic", 1))
    game.when(2, move("support", armies=0, navies=1))
    assert asked(game) == ("naval_choice", 0)


def test_who_refuses_leaves_support_to_the_other() -> None:
    """SOE-8.4.2: first the attacker, then the defender; two acceptances make a naval battle."""
    game = duel(sea(1), sea(1))
    game.when(0, attack("baltic", 1))
    facts = game.when(0, REFUSE, draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [2, 3]
    game = duel(sea(1), sea(1))
    game.when(0, attack("baltic", 1))
    game.when(0, FIGHT)
    assert asked(game) == ("naval_choice", 1)
    facts = game.when(1, REFUSE, draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [3, 2]


def test_against_a_marker_only_an_own_navy_gives_support() -> None:
    """SOE-8.4.3: neutral markers and Slave Revolt never fight at sea."""
    for navies, total in ((1, 3), (0, 2)):
        game = position(2, empires={0: sea(navies)}, markers=["ba_norway"])
        facts = game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
        assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [total, 5]


def test_pirates_fight_at_sea_only() -> None:
    """SOE-8.4.4: there is no land battle."""
    game = position(2, empires={0: {"units": army("india", 0, navy=2)}}, pirates={"region": "india", "token_of": 1})
    facts = game.when(0, attack("india", "pirates"), draws=[1, 1, 1, 1])
    assert [f["stage"] for f in facts if f["t"] == "battle_rolled"] == ["naval"]


def test_two_symbol_tiles_are_assigned_before_the_naval_dice() -> None:
    """SOE-8.5.1: attacker, then defender, if he owns such a tile; the others count on land."""
    game = duel(sea(2, tiles=["sweden", "denmark", "bavaria"]), sea(1, tiles=["portugal"]))
    game.when(0, attack("baltic", 1))
    game.when(0, FIGHT)
    game.when(1, FIGHT)
    assert asked(game) == ("assign_alliance_tiles", 0)
    for naval, code in (
        (["naples"], "tile_not_owned"),
        (["sweden", "sweden"], "tile_not_owned"),
        (["bavaria"], "tile_not_applicable"),
        (["portugal"], "tile_not_owned"),
    ):
        game.refused(0, move("assign_alliance_tiles", naval=naval), code, "SOE-8.5.1")
    assign = move("assign_alliance_tiles", naval=["sweden"])
    facts = game.when(0, assign, draws=[1, 1, 1, 1, 1, 1, 1, 1])
    totals = [f["totals"] for f in facts if f["t"] == "battle_rolled"]
    assert totals == [[2 + 1, 1], [2 + 1 + 1, 2]]


def test_own_tiles_of_the_wrong_place_are_not_applicable() -> None:
    """SOE-8.5.1: an own tile that is not valid here."""
    game = duel(sea(1, tiles=["sweden", "portugal"]), sea(1))
    game.when(0, attack("baltic", 1))
    game.when(0, FIGHT)
    game.when(1, FIGHT)
    wrong = move("assign_alliance_tiles", naval=["portugal"])
    game.refused(0, wrong, "tile_not_applicable", "SOE-8.5.1")


def test_without_a_naval_battle_two_symbol_tiles_count_on_land() -> None:
    """SOE-8.5.1: automatically; each tile counts in one battle only."""
    game = duel(sea(0, tiles=["sweden"]), sea(0))
    facts = game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [2 + 1, 2]


def test_the_attacker_rolls_first_and_the_difference_counts() -> None:
    """SOE-8.5.2, SOE-8.5.3: own and allied navies, tiles at sea, training, larger minus smaller die."""
    helper = {"units": army("baltic", 0, navy=2)}
    game = position(
        3, empires={0: sea(1, tiles=["naval_training"] * 2), 1: sea(3, tiles=["naval_training"]), 2: helper}
    )
    game.when(0, attack("baltic", 1))
    game.when(2, move("support", armies=0, navies=2))
    game.when(0, FIGHT)
    labels = [{"label": f"battle.{side}", "value": v} for side, v in (("attacker", 2), ("attacker", 6))]
    labels += [{"label": "battle.defender", "value": v} for v in (5, 4)]
    facts = game.when(1, FIGHT, draws=[*labels, 1, 1, 1, 1])
    rolled = [f for f in facts if f["t"] == "battle_rolled"]
    assert (rolled[0]["attacker"], rolled[0]["defender"]) == ([2, 6], [5, 4])
    assert rolled[0]["totals"] == [1 + 2 + 1 + 4, 3 + 1]


def test_training_needs_more_tiles_and_an_own_navy() -> None:
    """SOE-8.5.3, SOE-9.5.1: equal numbers and ships of allies alone give nothing."""
    helper = {"units": army("baltic", 0, navy=2)}
    game = position(3, empires={0: sea(0, tiles=["naval_training"]), 1: sea(3), 2: helper})
    game.when(0, attack("baltic", 1))
    game.when(2, move("support", armies=0, navies=2))
    game.when(0, FIGHT)
    facts = game.when(1, FIGHT, draws=[1, 1, 1, 1, 1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [2, 3]


@pytest.mark.parametrize(
    ("navies", "lost", "land"),
    [((3, 1), [1], [3, 2]), ((1, 3), [0], [2, 3]), ((2, 2), [0, 1], [2, 2])],
)
def test_winner_at_sea_has_support_on_land_and_after_tie_nobody(
    navies: tuple[int, int], lost: list[int], land: list[int]
) -> None:
    """SOE-8.5.4, SOE-8.5.5: navies are lost in the zone; the land battle follows whatever the result."""
    game = duel(sea(navies[0]), sea(navies[1]))
    game.when(0, attack("baltic", 1))
    game.when(0, FIGHT)
    facts = game.when(1, FIGHT, draws=[1, 1, 1, 1, 1, 1, 1, 1])
    assert [f["totals"] for f in facts if f["t"] == "battle_rolled"] == [list(navies), land]
    assert [f["seat"] for f in facts if f["t"] == "unit_lost" and f["unit"] == "navy"] == lost


def test_each_navy_lost_at_sea_brings_unrest_to_its_owner() -> None:
    """SOE-8.5.4, SOE-8.8.6: one unrest for a lost navy."""
    game = duel(sea(3), sea(1))
    game.when(0, attack("baltic", 1))
    game.when(0, FIGHT)
    game.when(1, FIGHT, draws=[1, 1, 1, 1, 1, 1, 6, 2])
    assert (unrest(game, 0), unrest(game, 1)) == (1, 1)
    assert empire(game, 1)["units"] == army("baltic", 2)

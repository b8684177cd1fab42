"""SE7-13: neutral empires."""

from __future__ import annotations

from typing import Any

from domain.games.seven_empires.data import EMPIRES
from tests.games.seven_empires.board import (
    army,
    asked,
    end_decade,
    last_turn,
    move,
    offers,
    position,
    shares,
    ship,
    there,
)
from tests.spec import Given

SLOTS = {"palace": "II", "empire": "III"}


def neutral(units: dict[str, str], action: str = "move_fight", **more: Any) -> Given:
    """Seat 0 acts for France, of which nobody holds a card."""
    monarchs: dict[str, int | None] = {**dict.fromkeys(EMPIRES, 1), "france": None}
    game = position(monarchs=monarchs, hands={0: []}, units=units, markers={"france": SLOTS}, **more)
    game.when(0, move("choose_action", empire="france", action=action))
    return game


def test_neutral_until_monarchs_are_assigned() -> None:
    """SE7-13.1: a card that is taken changes that at the end of the decade."""
    game = last_turn(
        order=["position_1", "position_2", "position_3", "pawn", "worker", "infantry", "two_master"],
        monarchs={"spain": None},
        hands={2: []},
    )
    end_decade(game)
    game.when(0, move("take_influence", empire="spain"))
    assert game.state.monarch("spain") is None
    for seat in (1, 2):
        game.when(seat, move("take_influence", empire="russia"))
    assert game.state.monarch("spain") == 0


def test_armies_of_a_neutral_empire_are_peaceful() -> None:
    """SE7-13.2: no foreign unit or flag is entered, not even in passing, and no foreign city is the end."""
    units = {"strasbourg": "france infantry", "bavaria": "spain infantry", "vienna": "habsburg infantry"}
    game = neutral(units, flags={"palatinate": "prussia", "switzerland": "france"})
    for steps in (["bavaria"], ["palatinate"], ["palatinate", "hanover"], ["switzerland", "vienna"]):
        game.refused(0, army("strasbourg", "infantry", *steps), "neutral_must_be_peaceful", "SE7-13.2")
    assert offers(game, 0, "move_land", "strasbourg", "infantry") == [
        "paris",
        "lyon",
        "southern_netherlands",
        "switzerland",
    ]
    game.when(0, army("strasbourg", "infantry", "switzerland", "piedmont"))


def test_an_empty_foreign_city_may_be_passed() -> None:
    """SE7-13.2: unflagged and without units; it is no end."""
    game = neutral({"bordeaux": "france infantry"})
    game.refused(0, army("bordeaux", "infantry", "bilbao"), "neutral_must_be_peaceful", "SE7-13.2")
    game.when(0, army("bordeaux", "infantry", "bilbao", "portugal"))
    assert there(game, "portugal") == {"france": {"infantry": 1}}


def test_fleets_of_a_neutral_empire_are_peaceful() -> None:
    """SE7-13.2: seas of a transport are not entered by the army."""
    units = {"marseille": "france three_master infantry", "western_mediterranean": "spain two_master"}
    game = neutral(units, flags={"ligurian_sea": "france", "tyrrhenian_sea": "spain"})
    for path in (["ligurian_sea", "western_mediterranean"], ["ligurian_sea", "tyrrhenian_sea", "ionian_sea"]):
        game.refused(0, ship("marseille", "three_master", *path), "neutral_must_be_peaceful", "SE7-13.2")
    assert offers(game, 0, "move_ship", "marseille", "three_master") == ["ligurian_sea"]
    game.when(0, ship("marseille", "three_master", "ligurian_sea"))
    game.when(0, army("marseille", "infantry", "tuscany via ligurian_sea"))
    game = neutral(
        {"ligurian_sea": "france three_master", "marseille": "france infantry"}, flags={"ligurian_sea": "spain"}
    )
    game.when(0, army("marseille", "infantry", "tuscany via ligurian_sea"))


def test_other_actions_are_as_usual() -> None:
    """SE7-13.2: the attack is placed; its units are peaceful."""
    game = neutral({}, "attack")
    units = [{"region": "paris", "unit": "infantry"}, {"region": "marseille", "unit": "two_master"}]
    game.when(0, move("attack_deploy", units=units))
    game.refused(0, army("paris", "infantry", "bordeaux", "bilbao"), "neutral_must_be_peaceful", "SE7-13.2")


def test_others_may_attack_and_pass_it() -> None:
    """SE7-13.3: the attacking actor chooses the defender; armies are always let through."""
    monarchs: dict[str, int | None] = {"france": None, "spain": 0}
    units = {"barcelona": "spain artillery infantry", "marseille": "france infantry infantry two_master"}
    game = position(monarchs=monarchs, units=units, markers={"spain": SLOTS})
    game.when(0, move("choose_action", empire="spain", action="move_fight"))
    game.when(0, army("barcelona", "infantry", "marseille", "piedmont"))
    game.when(0, army("barcelona", "artillery", "marseille", target="infantry"))
    assert asked(game) == ("counterfight", 0)


def test_tiles_bring_it_no_unit_and_its_cities_stay_occupied() -> None:
    """SE7-13.4: it does not free its own cities, for that would be an attack; it is ranked at the end."""
    game = neutral({"paris": "france infantry", "lyon": "spain infantry"})
    game.refused(0, army("paris", "infantry", "lyon"), "neutral_must_be_peaceful", "SE7-13.2")
    tile = last_turn(
        order=["infantry", "position_1", "position_2", "position_3", "pawn", "worker", "two_master"],
        monarchs={"prussia": None},
    )
    end_decade(tile)
    assert tile.decision.context["queue"][0] == "ottomans"
    assert len(shares(tile, 0)) == 7

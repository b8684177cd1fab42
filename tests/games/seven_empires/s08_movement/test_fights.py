"""SE7-8.8 to SE7-8.12: fights."""

from __future__ import annotations

import pytest

from domain.types import Doc
from tests.games.seven_empires.board import army, asked, kinds_of, move, moving, of_kind, offers, ship, there

MARSEILLE = "france infantry infantry two_master"


def attack(mover: str, defence: str, target: str | None) -> tuple[list[Doc], dict[str, dict[str, int]]]:
    """A Spanish unit from Barcelona attacks Marseille."""
    game = moving("spain", {"barcelona": f"spain {mover}", "marseille": f"france {defence}"})
    facts = game.when(0, army("barcelona", mover, "marseille", target=target))
    return facts, there(game, "marseille")


@pytest.mark.parametrize(
    ("mover", "defence", "target", "left"),
    [
        ("infantry", "infantry", None, {}),
        ("infantry", "artillery", "artillery", {}),
        ("infantry", "two_master infantry", "two_master", {"france": {"infantry": 1}}),
        ("artillery", "artillery", None, {}),
        ("artillery", "three_master infantry", "three_master", {"france": {"infantry": 1}}),
        ("artillery", "infantry", "infantry", {"spain": {"artillery": 1}}),
    ],
)
def test_results_of_fights(mover: str, defence: str, target: str | None, left: dict[str, dict[str, int]]) -> None:
    """SE7-8.10: infantry costs both; artillery beats infantry for nothing and meets all others evenly."""
    facts, found = attack(mover, defence, target)
    assert kinds_of(facts) == ["fleets_done", "army_moved", "fought"]
    assert found == left


def test_the_target_must_be_named_where_there_are_two_types() -> None:
    """SE7-8.8: and must stand there; nobody is fought where nobody foreign stands."""
    game = moving("spain", {"barcelona": "spain infantry", "marseille": MARSEILLE})
    game.refused(0, army("barcelona", "infantry", "marseille"), "target_required", "SE7-8.8")
    wrong = army("barcelona", "infantry", "marseille", target="artillery")
    game.refused(0, wrong, "target_not_there", "SE7-8.8")
    nobody = army("barcelona", "infantry", "madrid", target="infantry")
    game.refused(0, nobody, "target_not_there", "SE7-8.8")
    assert offers(game, 0, "move_land", "barcelona", "infantry", "marseille", None) == ["infantry", "two_master"]


def test_a_fight_ends_the_movement() -> None:
    """SE7-8.9: the artillery that has won moves no more."""
    game = moving("spain", {"barcelona": "spain artillery", "marseille": "france infantry"})
    game.when(0, army("barcelona", "artillery", "marseille"))
    game.refused(0, army("marseille", "artillery", "lyon"), "unit_cannot_move", "SE7-0.12")


def test_the_attacked_monarch_chooses_the_counter_fight() -> None:
    """SE7-8.11, SE7-3.4: one of what is left; it and the artillery are both removed."""
    game = moving("spain", {"barcelona": "spain artillery", "marseille": MARSEILLE})
    game.when(0, army("barcelona", "artillery", "marseille", target="infantry"))
    assert asked(game) == ("counterfight", 1)
    assert game.decision.context == {"region": "marseille", "empire": "france", "units": ["infantry", "two_master"]}
    assert there(game, "marseille")["spain"] == {"artillery": 1}
    game.refused(1, move("choose_defender", unit="artillery"), "no_such_unit", "SE7-0.5")
    (fought,) = of_kind(game.when(1, move("choose_defender", unit="two_master")), "fought")
    assert fought["outcome"] == "counter_fight"
    assert there(game, "marseille") == {"france": {"infantry": 1}}


def test_the_counter_fight_is_automatic_with_one_type_left() -> None:
    """SE7-8.11, SE7-3.3."""
    facts, found = attack("artillery", "infantry infantry infantry", "infantry")
    assert kinds_of(facts) == ["fleets_done", "army_moved", "fought", "fought"]
    assert found == {"france": {"infantry": 1}}


def test_the_actor_chooses_for_a_neutral_empire_and_for_his_own() -> None:
    """SE7-8.11: by a move of his, even as the attacked monarch."""
    for monarch in (None, 0):
        game = moving("spain", {"barcelona": "spain artillery", "marseille": MARSEILLE}, monarchs={"france": monarch})
        game.when(0, army("barcelona", "artillery", "marseille", target="infantry"))
        assert asked(game) == ("counterfight", 0)


SPAIN = {"madrid": "france infantry", "bilbao": "france infantry"}
"""Both occupied, so that Barcelona is the last unoccupied city region."""


def test_the_last_unoccupied_city_is_not_entered() -> None:
    """SE7-8.12: neither empty, nor by artillery that would beat the only unit there."""
    game = moving("france", {**SPAIN, "marseille": "france infantry"})
    game.refused(0, army("marseille", "infantry", "barcelona"), "last_city_region", "SE7-8.12")
    game = moving("france", {**SPAIN, "marseille": "france artillery", "barcelona": "spain infantry"})
    game.refused(0, army("marseille", "artillery", "barcelona"), "last_city_region", "SE7-8.12")
    assert "barcelona" in offers(game, 0, "move_land", "marseille", "artillery")
    assert None not in offers(game, 0, "move_land", "marseille", "artillery", "barcelona")


@pytest.mark.parametrize(
    ("mover", "defence", "target"),
    [("infantry", "infantry", None), ("artillery", "two_master", None), ("artillery", "infantry infantry", None)],
)
def test_a_move_that_is_sure_to_cost_the_mover_is_allowed(mover: str, defence: str, target: str | None) -> None:
    """SE7-8.12: the last city may be fought over."""
    game = moving("france", {**SPAIN, "marseille": f"france {mover}", "barcelona": f"spain {defence}"})
    game.when(0, army("marseille", mover, "barcelona", target=target))
    assert "france" not in there(game, "barcelona")


def test_the_moving_unit_is_lifted_first() -> None:
    """SE7-8.12: a lone occupier may shift to the last city; two may not."""
    game = moving("france", SPAIN)
    game.when(0, army("madrid", "infantry", "barcelona"))
    assert there(game, "barcelona") == {"france": {"infantry": 1}}
    game = moving("france", {**SPAIN, "bordeaux": "france infantry"})
    game.when(0, army("bordeaux", "infantry", "bilbao", "madrid"))
    game.refused(0, army("madrid", "infantry", "barcelona"), "last_city_region", "SE7-8.12")
    game.when(0, army("bilbao", "infantry", "bordeaux"))
    game.when(0, army("madrid", "infantry", "barcelona"))


def test_an_occupied_city_may_be_entered_and_fought_over() -> None:
    """SE7-8.12: by whomever it is occupied."""
    units = {"madrid": "france infantry", "barcelona": "prussia infantry", "marseille": "france artillery"}
    game = moving("france", units)
    game.when(0, army("marseille", "artillery", "barcelona"))
    assert there(game, "barcelona") == {"france": {"artillery": 1}}


def test_ships_attack_no_land() -> None:
    """SE7-8.4: a port cannot be entered from the sea."""
    game = moving("spain", {"ligurian_sea": "spain two_master", "marseille": "france two_master"})
    game.refused(0, ship("ligurian_sea", "two_master", "marseille"), "path_invalid", "SE7-8.2")

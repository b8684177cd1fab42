"""SE7-8.13 to SE7-8.16: occupation, stacking and flags."""

from __future__ import annotations

from domain.games.seven_empires.data import LANDS
from tests.games.seven_empires.board import END, army, asked, moving, of_kind, position, ship, there


def test_an_army_in_a_foreign_city_occupies_it() -> None:
    """SE7-8.13, SE7-0.7: nothing is built or deployed there and its crowns do not count, until the last unit leaves."""
    game = position(units={"vienna": "prussia infantry"}, palaces={"prague": 1})
    assert game.state.occupied("vienna")
    assert game.state.crowns("habsburg") == 1
    assert position(palaces={"prague": 1}).state.crowns("habsburg") == 3


def test_limits_on_land_may_be_broken_while_units_move() -> None:
    """SE7-8.14: so that they can change places; what is too much at the end is removed."""
    game = moving("france", {"switzerland": "france infantry", "venice": "france infantry"})
    game.when(0, army("switzerland", "infantry", "venice"))
    assert there(game, "venice") == {"france": {"infantry": 2}}
    game.when(0, army("venice", "infantry", "switzerland"))
    game.when(0, END)
    assert asked(game)[0] == "choose_empire"
    game = moving("france", {"switzerland": "france infantry", "venice": "france infantry"})
    game.when(0, army("switzerland", "infantry", "venice"))
    game.when(0, END)
    assert asked(game) == ("reduction", 0)


def test_flags_at_the_end_of_a_movement() -> None:
    """SE7-8.15: on neutral land and seas that hold a unit; not on cities, nor where a unit has fallen or passed."""
    units = {
        "strasbourg": "france infantry infantry",
        "marseille": "france two_master infantry",
        "venice": "habsburg infantry",
        "bavaria": "france infantry",
    }
    game = moving("france", units, flags={"ligurian_sea": "spain", "bavaria": "france", "venice": "habsburg"})
    game.when(0, ship("marseille", "two_master", "ligurian_sea"))
    game.when(0, army("marseille", "infantry", "piedmont", "venice"))
    game.when(0, army("strasbourg", "infantry", "lyon", "switzerland"))
    assert not of_kind(game.when(0, army("strasbourg", "infantry", "palatinate")), "flag_placed")
    facts = game.when(0, END)
    assert [(f["region"], f.get("replaced")) for f in of_kind(facts, "flag_placed")] == [
        ("palatinate", None),
        ("switzerland", None),
        ("ligurian_sea", "spain"),
    ]
    assert game.state.flags["venice"] == "habsburg"
    assert "piedmont" not in game.state.flags


def test_flags_that_run_out() -> None:
    """SE7-8.16: regions are served in data order; the rest keep what they have."""
    regions = [r for r in LANDS if r not in ("ireland", "syria")][:19]
    flags = {**dict.fromkeys(regions, "france"), "syria": "spain"}
    game = moving("france", {"syria": "france infantry", "ireland": "france infantry"}, flags=flags)
    facts = game.when(0, END)
    assert [f["region"] for f in of_kind(facts, "flag_placed")] == ["ireland"]
    assert game.state.flags["syria"] == "spain"
    assert game.state.flags_left("france") == 0


def test_a_region_that_was_not_served_is_served_later() -> None:
    """SE7-8.16: at the end of a later movement, if a unit is still there and a flag is left."""
    game = moving("france", {"syria": "france infantry"}, flags={"ireland": "france"})
    assert [f["region"] for f in of_kind(game.when(0, END), "flag_placed")] == ["syria"]

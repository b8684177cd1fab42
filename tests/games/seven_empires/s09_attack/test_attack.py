"""SE7-9: the action Attack."""

from __future__ import annotations

from domain.types import Doc
from tests.games.seven_empires.board import END, acting, army, asked, move, of_kind, offers, ship, there


def place(*units: tuple[str, str]) -> Doc:
    return move("attack_deploy", units=[{"region": r, "unit": u} for r, u in units])


def test_two_units_are_placed() -> None:
    """SE7-9.1: from supply, in unoccupied own city regions, ships in ports; whatever level or tile."""
    game = acting("habsburg", "attack", units={"budapest": "prussia infantry"})
    game.refused(0, place(*[("vienna", "infantry")] * 3), "too_many_units", "SE7-9.1")
    game.refused(0, place(("berlin", "infantry")), "not_own_city", "SE7-9.1")
    game.refused(0, place(("budapest", "infantry")), "city_occupied", "SE7-9.1")
    game.refused(0, place(("vienna", "three_master")), "not_a_port", "SE7-9.1")
    game.refused(0, place(("vienna", "infantry")), "deployment_incomplete", "SE7-9.1")
    assert offers(game, 0) == ["vienna", "trieste", "prague"]
    assert offers(game, 0, "prague") == ["infantry", "artillery"]
    game.when(0, place(("prague", "artillery"), ("trieste", "three_master")))
    assert there(game, "prague") == {"habsburg": {"artillery": 1}}
    assert asked(game) == ("movement", 0)


def test_supply_counts_the_entries_before() -> None:
    """SE7-9.1: the last piece is placed once."""
    guns = ["vienna", "prague", "trieste", "bavaria", "saxony", "venice", "bosnia"]
    game = acting("habsburg", "attack", units=dict.fromkeys(guns, "habsburg artillery"))
    two = place(("vienna", "artillery"), ("vienna", "artillery"))
    game.refused(0, two, "supply_exhausted", "SE7-0.10")
    assert offers(game, 0, "vienna", "artillery", "vienna") == ["infantry"]


def test_fewer_units_where_the_supply_is_smaller() -> None:
    """SE7-9.1: ships count where an own port is unoccupied."""
    units = {
        "vienna": "prussia infantry",
        "trieste": "prussia infantry",
        "budapest": "habsburg " + "infantry " * 2 + "artillery",
        "prague": "habsburg " + "infantry " * 2 + "artillery",
    }
    lands = ("bavaria", "saxony", "venice", "bosnia", "serbia", "switzerland", "moldavia", "wallachia", "albania")
    kinds = ["infantry"] * 4 + ["artillery"] * 5
    units |= {land: f"habsburg {unit}" for land, unit in zip(lands, kinds, strict=True)}
    game = acting("habsburg", "attack", units=units)
    assert game.state.supply("habsburg", "artillery") == 1
    game.when(0, place(("prague", "artillery")))
    assert game.state.movement.able == {"prague": {"artillery": 1}}


def test_only_the_two_units_move() -> None:
    """SE7-9.2: under all rules of movement; older ships carry; moving is optional, and what is too much is removed."""
    units = {"vienna": "habsburg infantry infantry infantry", "adriatic_sea": "habsburg two_master"}
    game = acting("habsburg", "attack", units=units)
    game.when(0, place(("trieste", "infantry"), ("vienna", "artillery")))
    game.refused(0, ship("adriatic_sea", "two_master", "ionian_sea"), "unit_cannot_move", "SE7-0.12")
    game.refused(0, army("vienna", "infantry", "bavaria"), "unit_cannot_move", "SE7-0.12")
    game.when(0, army("trieste", "infantry", "albania via adriatic_sea"))
    assert game.state.movement.used == ("adriatic_sea",)
    game.when(0, END)
    assert asked(game) == ("reduction", 0)


def test_flags_after_an_attack() -> None:
    """SE7-9.3: as after any movement."""
    game = acting("habsburg", "attack")
    game.when(0, place(("trieste", "two_master"), ("vienna", "infantry")))
    game.when(0, ship("trieste", "two_master", "adriatic_sea"))
    game.when(0, army("vienna", "infantry", "bavaria"))
    assert [f["region"] for f in of_kind(game.when(0, END), "flag_placed")] == ["bavaria", "adriatic_sea"]

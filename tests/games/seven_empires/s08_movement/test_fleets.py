"""SE7-8.1 to SE7-8.4: ships."""

from __future__ import annotations

from tests.games.seven_empires.board import END, army, kinds_of, moving, offers, ship, there


def test_ships_move_before_armies() -> None:
    """SE7-8.1: after the first army, even one whose passage is refused, no ship moves."""
    game = moving("france", {"marseille": "france two_master infantry", "piedmont": "spain infantry"})
    game.when(0, army("marseille", "infantry", "piedmont", "switzerland"))
    game.when(2, {"type": "answer_passage", "grant": False})
    game.refused(0, ship("marseille", "two_master", "ligurian_sea"), "fleet_moves_over", "SE7-8.1")
    assert offers(game, 0) == ["end_movement", "move_land"]
    assert "ship_moved" not in kinds_of(game.when(0, END))


def test_a_ship_leaves_its_port_by_the_anchor_sea() -> None:
    """SE7-8.2: one border to the anchor sea, whatever other seas the port touches; ships never return to land."""
    game = moving("great_britain", {"london": "great_britain two_master three_master"})
    game.refused(0, ship("london", "two_master", "english_channel"), "not_the_anchor_sea", "SE7-8.2")
    game.refused(0, ship("london", "two_master", "north_sea", "irish_sea"), "not_adjacent", "SE7-8.2")
    game.refused(0, ship("london", "two_master", "north_sea", "york"), "path_invalid", "SE7-8.2")
    game.refused(0, ship("london", "two_master"), "path_invalid", "SE7-8.2")


def test_how_far_ships_go() -> None:
    """SE7-8.2: a two-master crosses two borders, a three-master three."""
    game = moving("great_britain", {"london": "great_britain two_master three_master"})
    far = ["north_sea", "north_atlantic", "irish_sea"]
    game.refused(0, ship("london", "two_master", *far), "too_far", "SE7-8.2")
    game.refused(0, ship("london", "three_master", *far, "atlantic"), "too_far", "SE7-8.2")
    game.when(0, ship("london", "three_master", *far))
    game.when(0, ship("london", "two_master", *far[:2]))
    assert there(game, "irish_sea") == {"great_britain": {"three_master": 1}}
    assert there(game, "north_atlantic") == {"great_britain": {"two_master": 1}}


def test_a_ship_passes_freely_and_ends_beside_no_own_ship() -> None:
    """SE7-8.3: through seas with own or foreign ships; not to an own ship at that moment, nor where it began."""
    units = {
        "london": "great_britain three_master",
        "north_sea": "great_britain two_master",
        "baltic_sea": "prussia three_master",
    }
    game = moving("great_britain", units)
    game.refused(0, ship("london", "three_master", "north_sea"), "own_ship_there", "SE7-8.3")
    circle = ship("north_sea", "two_master", "north_atlantic", "north_sea")
    game.refused(0, circle, "path_invalid", "SE7-8.3")
    game.when(0, ship("london", "three_master", "north_sea", "baltic_sea", "gulf_of_bothnia"))
    assert there(game, "baltic_sea") == {"prussia": {"three_master": 1}}
    game.when(0, ship("north_sea", "two_master", "north_atlantic"))
    game.refused(0, ship("north_atlantic", "two_master", "north_sea"), "unit_cannot_move", "SE7-0.12")


def test_two_ships_that_meet_are_both_removed() -> None:
    """SE7-8.4: whatever their types; a ship in a foreign port is not met at sea."""
    game = moving("great_britain", {"london": "great_britain two_master", "north_sea": "prussia three_master"})
    facts = game.when(0, ship("london", "two_master", "north_sea"))
    assert kinds_of(facts) == ["ship_moved", "fought"]
    assert not game.at("/units")


def test_a_path_may_cross_a_sea_twice() -> None:
    """SE7-8.3: each border counts, and the end is another sea; the move builder offers shorter paths only."""
    game = moving("great_britain", {"north_sea": "great_britain three_master"})
    game.refused(0, ship("north_sea", "three_master", "north_atlantic", "north_sea"), "path_invalid", "SE7-8.3")
    game.when(0, ship("north_sea", "three_master", "north_atlantic", "north_sea", "baltic_sea"))
    assert there(game, "baltic_sea") == {"great_britain": {"three_master": 1}}


def test_the_builder_offers_a_ship_every_sea_it_can_reach() -> None:
    """SE7-8.2, SE7-8.3: border by border; null where it may end."""
    game = moving("great_britain", {"london": "great_britain two_master", "baltic_sea": "great_britain two_master"})
    picks = ["move_ship", "london", "two_master"]
    assert offers(game, 0, *picks) == ["north_sea"]
    assert offers(game, 0, *picks, "north_sea") == [None, "north_atlantic", "english_channel"]
    assert game.offered(0, *picks, "north_sea", None) == ship("london", "two_master", "north_sea")

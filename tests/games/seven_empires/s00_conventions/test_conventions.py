"""SE7-0: words that the rules use."""

from __future__ import annotations

from domain.games.seven_empires.data import EMPIRES, REGIONS, UNITS
from tests.games.seven_empires.board import army, asked, begun, end_decade, last_turn, move, moving, position, there


def test_positions_count_clockwise_from_the_first_seat() -> None:
    """SE7-0.1: for the whole game, wherever the pawn is."""
    game = position(3, pawn=2)
    assert game.state.by_position == [0, 1, 2]
    other = position(3, pawn=2).match.rules
    assert other.player_view(game.state, "public")["first_seat"] == 0


def test_empires_stand_in_flag_order() -> None:
    """SE7-0.2, SE7-0.8: Prussia first, Great Britain last; regions as cities, land, seas."""
    assert EMPIRES == ("prussia", "ottomans", "spain", "habsburg", "russia", "france", "great_britain")
    kinds = list(dict.fromkeys(REGIONS.values()))
    assert kinds == ["city", "land", "sea"]
    assert UNITS == ("infantry", "artillery", "two_master", "three_master")


def test_a_monarch_is_not_changed_in_the_middle_of_a_decade() -> None:
    """SE7-0.3: influence that a tile brings counts at the end of the decade only."""
    game = last_turn(order=["position_1", "position_2", "position_3", "pawn", "worker", "infantry", "two_master"])
    end_decade(game)
    game.when(0, move("take_influence", empire="spain"))
    assert game.at("/empires/spain/monarch") == 2


def test_kinds_of_regions_and_own_cities() -> None:
    """SE7-0.4: city, land or sea; a city region belongs to an empire, occupied or not."""
    game = position(units={"vienna": "prussia infantry"}, monarchs={"habsburg": 0})
    game.when(0, move("choose_action", empire="habsburg", action="palace"))
    game.refused(0, move("build_palace", region="berlin"), "not_own_city", "SE7-6.1")
    game.refused(0, move("build_palace", region="bavaria"), "not_own_city", "SE7-6.1")
    game.refused(0, move("build_palace", region="vienna"), "city_occupied", "SE7-6.1")


def test_units_are_interchangeable_and_counted() -> None:
    """SE7-0.5, SE7-0.12: of two that stand there and one that arrives, two can leave."""
    game = moving("france", {"lyon": "france infantry infantry", "paris": "france infantry"})
    game.when(0, army("paris", "infantry", "lyon"))
    game.when(0, army("lyon", "infantry", "piedmont"))
    game.when(0, army("lyon", "infantry", "switzerland"))
    game.refused(0, army("lyon", "infantry", "bordeaux"), "unit_cannot_move", "SE7-0.12")
    game.refused(0, army("lyon", "artillery", "bordeaux"), "no_such_unit", "SE7-0.5")


def test_empires_of_one_monarch_are_foreign_to_each_other() -> None:
    """SE7-0.6: their units fight."""
    game = moving("france", {"strasbourg": "france infantry", "bavaria": "habsburg infantry"}, monarchs={"habsburg": 0})
    game.when(0, army("strasbourg", "infantry", "bavaria"))
    assert there(game, "bavaria") == {}


def test_a_city_is_occupied_by_any_foreign_unit() -> None:
    """SE7-0.7: own units occupy nothing."""
    game = position(units={"vienna": "habsburg infantry", "prague": "prussia infantry"})
    assert [game.state.occupied(city) for city in ("vienna", "prague", "trieste")] == [False, True, False]


def test_turn_seat_acting_empire_and_actor() -> None:
    """SE7-0.9: the seat in clockwise order, the empire that acts, the seat that decides for it."""
    game = position()
    game.when(0, move("choose_action", empire="prussia", action="build_deploy"))
    turn = game.sight("public")["turn"]
    assert turn == {"seat": 0, "mode": "monarch", "empire": "prussia", "actor": 0, "action": "build_deploy"}


def test_what_is_removed_returns_to_the_supply() -> None:
    """SE7-0.10: pieces in data minus pieces on the board."""
    game = moving("france", {"strasbourg": "france infantry", "bavaria": "habsburg infantry"})
    assert game.state.supply("france", "infantry") == 7
    game.when(0, army("strasbourg", "infantry", "bavaria"))
    assert game.state.supply("france", "infantry") == 8
    assert game.state.supply("habsburg", "infantry") == 8


def test_the_public_sight() -> None:
    """SE7-0.11: everything that lies on the table."""
    board = begun().sight("public")
    assert (board["decade"], board["year"], board["turn_in_decade"], board["pawn"]) == (1, 1700, 1, 0)
    assert board["empires"]["russia"]["markers"]["move_fight"] == "III"
    assert board["empires"]["russia"]["pile"][0] == "russia.bourgeoisie"
    assert board["workers"] == list(EMPIRES)
    assert board["levels"]["london"] == 1
    assert board["palaces"]["london"] == 2
    assert asked(begun()) == ("choose_empire", 0)

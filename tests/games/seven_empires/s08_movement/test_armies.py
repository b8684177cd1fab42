"""SE7-8.5, SE7-8.6: armies over land and by sea."""

from __future__ import annotations

from tests.games.seven_empires.board import army, move, moving, offers, there


def test_an_army_makes_one_or_two_steps_over_land_borders() -> None:
    """SE7-8.5: to a region other than its start."""
    game = moving("france", {"paris": "france infantry infantry artillery"})
    game.refused(0, army("paris", "two_master", "lyon"), "not_an_army", "SE7-8.5")
    game.refused(0, army("paris", "infantry"), "path_invalid", "SE7-8.5")
    game.refused(0, army("paris", "infantry", "marseille"), "not_adjacent", "SE7-8.5")
    game.refused(0, army("paris", "infantry", "lyon", "marseille", "piedmont"), "too_far", "SE7-8.5")
    game.refused(0, army("paris", "infantry", "lyon", "paris"), "path_invalid", "SE7-8.5")
    game.refused(0, army("paris", "infantry", "paris"), "path_invalid", "SE7-8.5")
    game.refused(0, army("paris", "infantry", "english_channel"), "path_invalid", "SE7-8.5")
    game.when(0, army("paris", "infantry", "lyon", "piedmont"))
    game.when(0, army("paris", "artillery", "southern_netherlands"))
    assert there(game, "piedmont") == {"france": {"infantry": 1}}
    game.refused(0, army("piedmont", "infantry", "switzerland"), "unit_cannot_move", "SE7-0.12")
    game.refused(0, army("paris", "artillery", "lyon"), "no_such_unit", "SE7-0.5")


BRITISH = {
    "york": "great_britain infantry infantry",
    "north_sea": "great_britain three_master",
    "north_atlantic": "great_britain two_master",
}


def test_a_transport_is_one_step_over_a_chain_of_own_ships() -> None:
    """SE7-8.6: any coastline at both ends, a ship in every sea, each next to the one before."""
    game = moving("great_britain", BRITISH)
    game.refused(0, army("york", "infantry", "norway via english_channel"), "no_coast", "SE7-8.6")
    game.refused(0, army("york", "infantry", "livonia via north_sea"), "no_coast", "SE7-8.6")
    game.refused(0, army("york", "infantry", "livonia via north_sea baltic_sea"), "no_transport_ship", "SE7-8.6")
    skip = army("york", "infantry", "livonia via north_sea gulf_of_bothnia")
    game.refused(0, skip, "not_adjacent", "SE7-8.6")
    twice = army("york", "infantry", "norway via north_sea north_atlantic north_sea")
    game.refused(0, twice, "path_invalid", "SE7-8.5")
    game.refused(0, army("york", "infantry", "norway via paris"), "path_invalid", "SE7-8.5")
    empty = move("move_land", from_="york", unit="infantry", steps=[{"to": "norway", "via": []}])
    game.refused(0, empty, "path_invalid", "SE7-8.5")
    game.when(0, army("york", "infantry", "ireland via north_sea north_atlantic"))
    assert there(game, "ireland") == {"great_britain": {"infantry": 1}}
    assert game.state.movement.used == ("north_atlantic",)


def test_a_two_master_carries_once_and_a_three_master_always() -> None:
    """SE7-8.6: also as one link of a chain, and also for the second step of the same unit."""
    game = moving("great_britain", BRITISH)
    both = army("york", "infantry", "ireland via north_sea north_atlantic", "edinburgh via north_atlantic")
    game.refused(0, both, "transport_used", "SE7-8.6")
    game.when(0, army("york", "infantry", "edinburgh", "ireland via north_atlantic"))
    game.refused(0, army("york", "infantry", "ireland via north_sea north_atlantic"), "transport_used", "SE7-8.6")
    game.when(0, army("york", "infantry", "norway via north_sea"))
    assert game.state.movement.used == ("north_atlantic",)


def test_ships_in_port_carry_nothing() -> None:
    """SE7-8.6: only ships at sea."""
    game = moving("great_britain", {"york": "great_britain infantry", "london": "great_britain three_master"})
    game.refused(0, army("york", "infantry", "norway via north_sea"), "no_transport_ship", "SE7-8.6")


def test_the_builder_offers_every_chain_of_seas() -> None:
    """SE7-8.6: where a region is reached in several ways, the way is asked for."""
    units = {**BRITISH, "irish_sea": "great_britain three_master"}
    game = moving("great_britain", {**units, "liverpool": "great_britain infantry"})
    picks = ["move_land", "liverpool", "infantry", "ireland"]
    assert offers(game, 0, *picks) == [["irish_sea"], ["irish_sea", "north_atlantic"]]
    assert None in offers(game, 0, *picks, ["irish_sea"])

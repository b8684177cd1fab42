"""SE7-1: components."""

from __future__ import annotations

from domain.games.seven_empires.data import (
    ACTIONS,
    CARDS,
    CITIES,
    COAST,
    FLAGS,
    LAND,
    OWN_CITIES,
    PIECES,
    PILES,
    REGIONS,
    SEA,
    TILES,
    UNITS,
    WORKERS,
)
from domain.games.seven_empires.moves import MOVES
from tests.games.seven_empires.board import begun, position, shares


def test_pieces_are_hard_limits() -> None:
    """SE7-1.1: of units, city and palace tiles, flags."""
    figures = {empire: [supply[unit] for unit in UNITS] for empire, supply in PIECES.items()}
    assert figures["great_britain"] == [6, 6, 8, 8]
    assert figures["france"] == [8, 8, 7, 7]
    assert {empire: len(cities) for empire, cities in OWN_CITIES.items()} == {
        "prussia": 3,
        "ottomans": 3,
        "spain": 3,
        "habsburg": 4,
        "russia": 4,
        "france": 5,
        "great_britain": 4,
    }
    assert set(FLAGS.values()) == {20}


def test_the_map() -> None:
    """SE7-1.2: 26 cities, 32 lands, 16 seas; borders, seas and coasts."""
    assert [list(REGIONS.values()).count(kind) for kind in ("city", "land", "sea")] == [26, 32, 16]
    assert "edinburgh" in LAND["york"]
    assert "baltic_sea" in SEA["north_sea"]
    assert COAST["constantinople"] == ("aegean_sea",)


def test_what_cities_make() -> None:
    """SE7-1.3: land cities armies, ports ships; each port has one anchor sea."""
    for city in CITIES.values():
        assert city.makes == (("two_master", "three_master") if city.anchor else ("infantry", "artillery"))
    assert CITIES["salonica"].anchor == "aegean_sea"


def test_dotted_cities_start_without_a_tile() -> None:
    """SE7-1.4: one for each empire; own city regions otherwise."""
    levels = begun().state.levels
    dotted = [region for region in CITIES if region not in levels]
    assert sorted(CITIES[region].empire for region in dotted) == sorted(PIECES)
    assert "edinburgh" in dotted


def test_crowns_of_cities_and_palaces() -> None:
    """SE7-1.5: 0 on level 1, 1 on level 2; palaces 1 and 2, the capital's 2 and 3."""
    assert position().state.crowns("habsburg") == 2
    assert position(levels={"trieste": 2}).state.crowns("habsburg") == 3
    assert position(palaces={"vienna": 3, "trieste": 1}).state.crowns("habsburg") == 4
    assert [CITIES[r].most_crowns for r in ("vienna", "trieste")] == [3, 2]


def test_influence_cards() -> None:
    """SE7-1.6: 7, 6, 5, 4, 3, 3, 3 from the top, and a worker of 1."""
    assert [CARDS[card].value for card in PILES["spain"]] == [7, 6, 5, 4, 3, 3, 3]
    assert [CARDS[card].letter for card in PILES["spain"]] == ["A", "B", "C", None, None, None, None]
    assert CARDS[WORKERS["spain"]].value == 1


def test_influence_is_the_sum_of_the_values() -> None:
    """SE7-1.7: workers included."""
    game = position(hands={1: ["spain.nobility", "spain.peasant_1", "spain.worker", "russia.clergy"], 2: []})
    assert game.state.influence(1, "spain") == 11
    assert game.state.influence(2, "spain") == 0


def test_five_markers_for_each_empire() -> None:
    """SE7-1.8: on the tray or on a slot."""
    shown = position().sight("public")["empires"]["spain"]["markers"]
    assert list(shown) == list(ACTIONS)
    assert shown == dict.fromkeys(ACTIONS, "tray") | {"move_fight": "III", "empire": "II"}


def test_faces_of_hourglass_tiles() -> None:
    """SE7-1.9."""
    positions = [f"position_{p}" for p in range(1, 7)]
    assert list(TILES) == [*positions, "pawn", "worker", "infantry", "two_master", "laurel"]


def test_scores_have_no_limit() -> None:
    """SE7-1.10: power is a plain number."""
    game = position(power={"russia": 1000})
    assert (shares(game, 1)[0]["empire"], shares(game, 1)[0]["factor"]) == ("russia", 7)


def test_deals_are_no_moves() -> None:
    """SE7-1.11: the game has no move for them."""
    assert not [name for name in MOVES if "deal" in name or "promise" in name]

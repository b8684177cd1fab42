"""AOR-11: what the spaces of the action board do."""

from __future__ import annotations

import pytest

from domain.games.age_of_reason.data import BONUSES, REGIONS, SCORING, SPACES
from domain.games.age_of_reason.rules.battle.dice import bonus
from tests.games.age_of_reason.board import facts_of, figures, move, offers, position


def test_finance_brings_five_gold() -> None:
    """AOR-11.1.1."""
    game = position(2)
    game.when(0, move("place", space="finance"))
    assert figures(game, 0) == (15, 0, 0)


def test_military_training_counts_twice_with_two_tokens() -> None:
    """AOR-11.1.2: for its owner alone."""
    game = position(5, spaces={"military_training": [0, 0]})
    assert {bonus(game.state, 0, region) for region in SCORING} == {2}
    assert {bonus(game.state, 1, region) for region in SCORING} == {0}


def test_naval_training_counts_in_naval_regions() -> None:
    """AOR-11.1.3: and adds to Military Training."""
    game = position(5, spaces={"military_training": [0], "naval_training": [0]})
    found = {region: bonus(game.state, 0, region) for region in SCORING}
    assert found == {region: 1 + REGIONS[region].naval for region in SCORING}


SPENT = ["prussia_3s0n", "prussia_1s1n", "prussia_0s1n"]


def test_militia_takes_back_soldiers_and_pressgangs_ships() -> None:
    """AOR-11.1.4: a soldier card without ship, a ship card; null only if there is none."""
    game = position(2, discards={0: SPENT})
    assert offers(game, 0, "place", "militia") == ["prussia_3s0n"]
    assert offers(game, 0, "place", "pressgangs") == ["prussia_1s1n", "prussia_0s1n"]
    game.when(0, move("place", space="pressgangs", card="prussia_0s1n"))
    assert game.sight(0)["discard"] == ["prussia_3s0n", "prussia_1s1n"]
    assert game.sight("public")["empires"][0]["discard_size"] == 2
    assert offers(position(2), 0, "place", "militia") == [None]


def test_ministry_of_war_allows_two_attacks() -> None:
    """AOR-11.1.5: as AOR-7.2.3 says."""
    game = position(2)
    game.when(0, move("place", space="ministry_of_war"))
    assert game.state.acting.attacks_allowed == 2


def test_government_reform_takes_two_points_of_unrest() -> None:
    """AOR-11.1.6."""
    game = position(2, empires={0: {"unrest": 7}})
    game.when(0, move("place", space="government_reform"))
    assert figures(game, 0)[1] == 5


@pytest.mark.parametrize("seats", [2, 7])
def test_reserves_have_two_places_at_every_table(seats: int) -> None:
    """AOR-11.1.7."""
    assert position(seats).state.places("reserves") == 2


SUPPORTS = {
    "native_americans": {"north_america": 1},
    "bavaria": {"german_states": 1},
    "indian_nawab": {"india": 1},
    "denmark": {"baltic": 2},
    "gauchos": {"south_america": 1},
    "naples": {"mediterranean": 1},
    "ottomans": {"ottoman_empire": 2, "mediterranean": 2},
    "portugal": {"south_america": 2, "india": 2, "east_indies": 2},
    "saxony": {"german_states": 1},
    "sweden": {"baltic": 2},
    "cossacks": {"central_europe": 1},
}


@pytest.mark.parametrize("space", SUPPORTS)
def test_each_support_counts_in_its_regions(space: str) -> None:
    """AOR-11.2, AOR-11.3: those that give 2 cost 1 gold."""
    game = position(2, spaces={space: [0]})
    found = {region: n for region in SCORING if (n := bonus(game.state, 0, region))}
    assert found == SUPPORTS[space]
    assert SPACES[space].cost == (max(found.values()) == 2)
    assert len(SUPPORTS) + 2 == len(BONUSES)


def test_several_supports_add_up() -> None:
    """AOR-11.2."""
    game = position(2, spaces={"bavaria": [0], "saxony": [0], "military_training": [0]})
    assert bonus(game.state, 0, "german_states") == 3


@pytest.mark.parametrize("space", ["bavaria", "saxony"])
def test_bavaria_and_saxony_count_wider_as_in_the_examples(space: str) -> None:
    """AOR-11.4: by option."""
    game = position(2, spaces={space: [0]}, terms={"support_scope": "examples"})
    found = {region for region in SCORING if bonus(game.state, 0, region)}
    assert found == {"german_states", "central_europe", "baltic"}


@pytest.mark.parametrize(
    ("space", "region", "named"),
    [
        ("baltic_company", "baltic", False),
        ("east_indies_company", "india", True),
        ("east_indies_company", "east_indies", True),
        ("levant_company", "ottoman_empire", True),
        ("levant_company", "mediterranean", True),
        ("slave_trade", "africa", False),
        ("gold_mines", "south_america", False),
        ("sugar_plantations", "caribbean", False),
        ("tobacco", "north_america", False),
    ],
)
def test_trade_brings_two_gold_for_each_token_in_the_region(space: str, region: str, named: bool) -> None:
    """AOR-11.5: one region, where there are two."""
    game = position(2, tokens={"prussia": {region: 3}})
    fields = {"region": region} if named else {}
    (placed,) = facts_of(game.when(0, move("place", space=space, **fields)), "space_placed")
    assert figures(game, 0) == (16, 0, 0)
    assert placed.get("region") == (region if named else None)

"""AOR-12: income and victory points."""

from __future__ import annotations

import pytest

from domain.games.age_of_reason.rules.scoring import region_points
from domain.types import Doc
from tests.games.age_of_reason.board import TEN, facts_of, figures, last_turn, move, position
from tests.spec import Given


def end(game: Given, *dice: int, opener: bool = True) -> list[Doc]:
    """Seat 1 passes; the seats are equal at the end, or not."""
    return game.when(1, move("pass"), draws=[*dice, *TEN, *([0] if opener else [])])


def test_a_gold_for_each_token_on_the_map() -> None:
    """AOR-12.1: not on the action board."""
    game = last_turn(tokens={"prussia": {"baltic": 2, "india": 1}}, spaces={"finance": [0]})
    end(game, opener=False)
    assert (figures(game, 0)[0], figures(game, 1)[0]) == (13, 10)


def test_regions_are_ranked_densely_with_all_powers() -> None:
    """AOR-12.2: ties do not use up lower places; powers without seat hold places and score nothing."""
    game = last_turn(tokens={"prussia": {"baltic": 1}, "austria": {"baltic": 1}, "spain": {"baltic": 2}})
    facts = end(game)
    scored = facts_of(facts, "region_scored")
    assert [(f["region"], f["seat"], f["vp"]) for f in scored] == [("baltic", 1, 3), ("baltic", 0, 3)]
    assert (figures(game, 0)[2], figures(game, 1)[2]) == (3, 3)


def test_points_of_all_regions_are_added_in_order_of_the_data() -> None:
    """AOR-12.2: colonies pay two places, Europe three."""
    tokens = {"prussia": {"india": 1, "german_states": 1}, "austria": {"india": 2, "german_states": 3}}
    tokens |= {"spain": {"india": 3, "german_states": 2}}
    game = last_turn(tokens=tokens)
    facts = end(game, opener=False)
    scored = [(f["region"], f["seat"], f["vp"], f["total"]) for f in facts_of(facts, "region_scored")]
    assert scored == [("german_states", 1, 8, 8), ("german_states", 0, 3, 3), ("india", 1, 3, 11)]


def test_unrest_costs_a_point_for_each_die() -> None:
    """AOR-12.3: in turn order, until the sum reaches the unrest; nothing at 0; unrest itself stays."""
    game = last_turn(empires={0: {"unrest": 1, "vp": 9}, 1: {"unrest": 13, "vp": 9}})
    facts = end(game, 1, 6, 6, 1, opener=False)
    rolled = [(f["seat"], f["dice"], f["lost"], f["total"]) for f in facts_of(facts, "unrest_rolled")]
    assert rolled == [(0, [1], 1, 8), (1, [6, 6, 1], 3, 6)]
    game = last_turn(empires={0: {"vp": 9}})
    assert not facts_of(end(game, opener=False), "unrest_rolled")


@pytest.mark.parametrize(("dice", "lost"), [([3, 2, 5], 3), ([3, 4], 2)])
def test_the_example_of_unrest_7(dice: list[int], lost: int) -> None:
    """AOR-12.4."""
    game = last_turn(empires={0: {"unrest": 7, "vp": 9}})
    end(game, *dice, opener=False)
    assert figures(game, 0)[2] == 9 - lost


def test_the_examples_of_two_regions() -> None:
    """AOR-12.5: German States 3, 2, 2, 1; Africa 2 of a power without seat, 1, 1."""
    german = {"austria": 3, "prussia": 2, "france": 2, "united_provinces": 1}
    african = {"britain": 2, "france": 1, "united_provinces": 1}
    powers = {*german, *african}
    tokens = {p: {r: n[p] for r, n in (("german_states", german), ("africa", african)) if p in n} for p in powers}
    s = position(3, tokens=tokens).state
    points = {"austria": 8, "prussia": 5, "france": 5, "united_provinces": 3}
    assert region_points(s, "german_states") == points
    assert region_points(s, "africa") == {"britain": 3, "france": 2, "united_provinces": 2}

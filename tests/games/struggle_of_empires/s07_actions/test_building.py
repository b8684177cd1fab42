"""SOE-7.5: building units."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import army, empire, move, position, unrest


def test_unit_costs_one_population_and_leaves_from_home() -> None:
    """SOE-7.5.1: also to the home country itself, then without movement."""
    game = position()
    game.when(0, move("build", unit="army", to="german_states"))
    game.when(0, move("build", unit="navy", to="home_prussia"))
    assert empire(game, 0)["units"] == {**army("german_states"), **army("home_prussia", 0, navy=1)}
    assert empire(game, 0)["population"] == 3


def test_destination_must_be_accessible_and_fort_goes_as_army() -> None:
    """SOE-7.5.2: a fort may stand only in a scoring region."""
    game = position(empires={0: {"units": army("india", 0, navy=1)}})
    game.refused(0, move("build", unit="fort", to="mediterranean"), "region_not_accessible", "SOE-15.2")
    game.refused(0, move("build", unit="fort", to="home_prussia"), "fort_needs_scoring_region", "SOE-7.5.2")
    game.refused(0, move("build", unit="fort", to="africa"), "no_navy_in_colony", "SOE-15.2")
    game.when(0, move("build", unit="fort", to="india"), draws=[6])
    assert empire(game, 0)["units"] == army("india", 0, navy=1, fort=1)


def test_a_sea_roll_may_lose_a_new_unit_or_turn_it_back() -> None:
    """SOE-7.5.3: lost: supply, no unrest; turned back: at home, a fort in the supply; population is spent."""
    for unit, dice, where in (
        ("army", [2], army("india", 1, navy=1)),
        ("army", [1, 2], army("india", 0, navy=1)),
        ("army", [1, 3], {**army("india", 0, navy=1), **army("home_prussia")}),
        ("fort", [1, 4], army("india", 0, navy=1)),
        ("army", [1, 5], army("india", 1, navy=1)),
    ):
        game = position(empires={0: {"units": army("india", 0, navy=1)}})
        game.when(0, move("build", unit=unit, to="india"), draws=dice)
        assert empire(game, 0)["units"] == where, (unit, dice)
        assert (empire(game, 0)["population"], unrest(game, 0)) == (4, 0)


def test_each_militia_tile_builds_one_more_army_in_same_action() -> None:
    """SOE-7.5.4: own population, destination and sea roll; no further action."""
    holdings = {"tiles": ["militia"] * 2, "units": army("india", 0, navy=1), "population": 9}
    game = position(empires={0: holdings})
    game.refused(0, move("build_militia", to="baltic"), "no_militia_build", "SOE-7.5.5")
    game.when(0, move("build", unit="navy", to="africa"), draws=[1, 1])
    game.when(0, move("build_militia", to="baltic"))
    game.when(0, move("build_militia", to="india"), draws=[4])
    game.refused(0, move("build_militia", to="baltic"), "no_militia_build", "SOE-7.5.5")
    assert (empire(game, 0)["population"], game.at("/turn/actions_left")) == (6, 1)
    assert empire(game, 0)["units"] == {**army("india", 1, navy=1), **army("baltic")}


def test_what_cannot_be_built() -> None:
    """SOE-7.5.5: the errors, in their order, for both moves."""
    empty = {"population": 0, "units": army("baltic", 14), "tiles": ["militia"]}
    game = position(empires={0: empty}, turn_record={"militia_left": 1})
    for to_build in (move("build", unit="army"), move("build_militia")):
        game.refused(0, {**to_build, "to": "atlantis"}, "unknown_region", "SOE-7.5.5")
        game.refused(0, {**to_build, "to": "home_france"}, "insufficient_population", "SOE-7.5.5")
    full = {**empty, "population": 1}
    game = position(empires={0: full}, turn_record={"militia_left": 1})
    for to_build in (move("build", unit="army"), move("build_militia")):
        game.refused(0, {**to_build, "to": "home_france"}, "no_unit_available", "SOE-7.5.5")
    game = position(empires={0: {"tiles": ["militia"]}}, turn_record={"militia_left": 1})
    for to_build in (move("build", unit="army"), move("build_militia")):
        game.refused(0, {**to_build, "to": "home_france"}, "foreign_home", "SOE-15.3")

"""SOE-7.8: the two actions that take a marker without a battle."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import army, empire, move, position


def test_a_population_marker_is_replaced_for_one_population() -> None:
    """SOE-7.8.1, SOE-7.8.3: no unit, token or ship is needed; the marker leaves the game."""
    game = position(markers=["na_virginia", "na_louisiana"])
    game.when(0, move("colonize", marker="na_virginia"))
    assert (empire(game, 0)["population"], empire(game, 0)["tokens"]) == (4, {"north_america": 1})
    assert (game.at("/markers/north_america"), game.at("/gone")) == (["na_louisiana"], ["na_virginia"])
    assert game.at("/turn/colonized") is True


def test_other_kind_needs_a_navy_in_africa_and_no_population() -> None:
    """SOE-7.8.2: an own navy in Africa."""
    game = position(markers=["ca_cuba"])
    game.refused(0, move("enslave", marker="ca_cuba"), "no_navy_in_africa", "SOE-7.8.2")
    game = position(empires={0: {"units": army("africa", 0, navy=1)}}, markers=["ca_cuba"])
    game.when(0, move("enslave", marker="ca_cuba"))
    assert (empire(game, 0)["population"], empire(game, 0)["tokens"]) == (5, {"caribbean": 1})


def test_one_of_the_two_once_a_round() -> None:
    """SOE-7.8.3: the turn record remembers it."""
    game = position(2, markers=["na_virginia", "na_louisiana"])
    game.when(0, move("colonize", marker="na_virginia"))
    game.refused(0, move("colonize", marker="na_louisiana"), "already_colonized", "SOE-7.8.3")
    game.when(0, move("pass"))
    game.when(1, move("pass"))
    game.when(0, move("colonize", marker="na_louisiana"))


def test_what_cannot_be_settled() -> None:
    """SOE-7.8.4: the errors, in their order."""
    game = position(empires={0: {"population": 0}}, markers=["in_oudh", "na_virginia", "ca_cuba"])
    game.refused(0, move("colonize", marker="atlantis"), "unknown_marker", "SOE-7.8.4")
    game.refused(0, move("colonize", marker="na_louisiana"), "unknown_marker", "SOE-7.8.4")
    game.refused(0, move("colonize", marker="in_oudh"), "wrong_marker_kind", "SOE-7.8.4")
    game.refused(0, move("colonize", marker="ca_cuba"), "wrong_marker_kind", "SOE-7.8.4")
    game.refused(0, move("enslave", marker="na_virginia"), "wrong_marker_kind", "SOE-7.8.4")
    game.refused(0, move("colonize", marker="na_virginia"), "insufficient_population", "SOE-7.8.1")
    full = {"population": 0, "tokens": {"baltic": 20}}
    game = position(empires={0: full}, markers=["na_virginia"])
    game.refused(0, move("colonize", marker="na_virginia"), "no_control_token", "SOE-1.2")

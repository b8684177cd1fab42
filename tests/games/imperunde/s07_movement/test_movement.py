"""IMP-7: movement."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.imperunde.board import (
    attack,
    colony,
    country,
    deciding,
    dice,
    group,
    move,
    moves_left,
    named,
    position,
    standing,
    zone,
)
from tests.spec import Given


def pacific() -> Given:
    """The worked example: 0 red, 1 blue, 2 yellow; red and blue at war."""
    return position(
        wars=[(0, 1)],
        zones={
            "bering_sea": zone({0: {"frigate": 1, "infantry": 3}}),
            "western_pacific": zone({1: {"frigate": 1}}),
            "gulf_of_alaska": zone({2: {"frigate": 1}, 1: {"infantry": 1}}),
            "central_pacific": zone({1: {"infantry": 1}}),
            "gulf_of_california": zone({2: {"frigate": 1}}),
        },
    )


def test_the_worked_example_of_movement() -> None:
    """IMP-7.2, IMP-7.4: red passes yellow's zone, sinks nothing there, and sinks blue where it arrives."""
    game = pacific()
    game.refused(0, move("bering_sea", "gulf_of_alaska", frigate=1), "friendly_warships_present", "IMP-7.2")
    game.refused(0, move("bering_sea", "western_pacific", infantry=1), "enemy_warships_present", "IMP-7.2")
    facts = game.when(0, move("bering_sea", "gulf_of_alaska", "central_pacific", frigate=1))
    assert [f["region"] for f in named(facts, "transports_sunk")] == ["central_pacific"]
    assert standing(game, "gulf_of_alaska", 1) == {"infantry": 1}
    assert game.state.controller("central_pacific") == 0


def test_the_worked_example_of_transports() -> None:
    """IMP-7.2, IMP-7.5: they may end among friends, and land from there with the second move."""
    game = pacific()
    game.when(0, move("bering_sea", "gulf_of_alaska", infantry=3))
    assert standing(game, "gulf_of_alaska", 0) == {"infantry": 3}
    game.when(0, attack(group("gulf_of_alaska", "california", infantry=3)), draws=dice("w6 w6 w6 w1 w1"))
    assert country(game, "california").owner == 0


def test_what_happens_in_phase_6() -> None:
    """IMP-7.1: armies march, ships sail, embarked armies land; nobody embarks."""
    game = position(countries={"france": colony(0, infantry=1)})
    game.refused(0, move("france", "north_sea", infantry=1), "cannot_embark_now", "IMP-7.2")
    game.refused(0, {"type": "embark", "from": "france", "zone": "north_sea", "units": []}, "wrong_phase")


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (move("north_sea", frigate=1), "malformed_move"),
        (move("north_sea", "baltic_sea", frigate=3), "not_enough_units"),
        (move("france", "portugal", infantry=1), "not_adjacent"),
        (move("france", "italy", infantry=1), "not_your_country"),
        (move("north_sea", "arabian_sea", frigate=1), "not_adjacent"),
        (move("north_sea", "netherlands", frigate=1), "wrong_unit_for_target"),
        (move("north_sea", "spain", infantry=1), "not_adjacent"),
        (move("north_sea", "prussia", infantry=1), "not_your_country"),
        (move("france", "spain", "france", infantry=1), "not_enough_moves"),
        (move("north_sea", "baltic_sea", "north_sea", "baltic_sea", frigate=1), "not_enough_moves"),
    ],
)
def test_refused_moves(order: Any, code: str) -> None:
    """IMP-7.2: units, then the path step by step, then the moves."""
    game = position(
        countries={
            "france": colony(0, infantry=1, posts=1),
            "spain": colony(0, posts=1),
            "prussia": colony(1, posts=1),
        },
        zones={"north_sea": zone({0: {"frigate": 1, "infantry": 1}})},
    )
    game.refused(0, order, code)


def test_a_mixed_column_goes_as_far_as_its_slowest() -> None:
    """IMP-7.2: all named units go the whole path."""
    countries = {c: colony(0, posts=1) for c in ("spain", "portugal")}
    game = position(countries={"france": colony(0, cavalry=1, infantry=1, posts=1), **countries})
    game.refused(0, move("france", "spain", "portugal", cavalry=1, infantry=1), "not_enough_moves", "IMP-7.2")
    game.when(0, move("france", "spain", "portugal", cavalry=1))
    assert moves_left(game, "portugal", 0) == {"cavalry": 0}


def test_a_country_left_empty_is_no_way_back() -> None:
    """IMP-7.2, IMP-3.4: it is free once the units have left it."""
    game = position(countries={"france": colony(0, cavalry=1), "spain": colony(0, posts=1)})
    game.refused(0, move("france", "spain", "france", cavalry=1), "not_your_country", "IMP-7.2")


def test_landing() -> None:
    """IMP-7.3: one ship move; then cavalry may go on one country, the others stop."""
    armies = {"infantry": 1, "cavalry": 1}
    game = position(
        countries={"west_india": colony(0, posts=1), "afghanistan": colony(0, posts=1)},
        zones={"bay_of_bengal": zone({0: armies})},
    )
    ashore = ("bay_of_bengal", "arabian_sea", "west_india")
    game.when(0, move(*ashore, "afghanistan", cavalry=1))
    game.refused(0, move(*ashore, "afghanistan", infantry=1), "not_enough_moves")
    game.when(0, move(*ashore, infantry=1))
    assert moves_left(game, "afghanistan", 0) == {"cavalry": 0}
    assert moves_left(game, "west_india", 0) == {"infantry": 0}


def test_cavalry_keeps_one_move_after_landing() -> None:
    """IMP-7.3: whether it sailed a zone before or landed at once."""
    game = position(countries={"west_india": colony(0, posts=1)}, zones={"arabian_sea": zone({0: {"cavalry": 1}})})
    game.when(0, move("arabian_sea", "west_india", cavalry=1))
    assert moves_left(game, "west_india", 0) == {"cavalry": 1}


def test_transports_and_enemies() -> None:
    """IMP-7.5: they share zones with enemies' transports; they neither enter nor pass a hostile zone."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"infantry": 1}}),
            "baltic_sea": zone({1: {"infantry": 1}}),
            "norwegian_sea": zone({1: {"frigate": 1}}),
        },
    )
    game.refused(0, move("north_sea", "norwegian_sea", "barents_sea", infantry=1), "enemy_warships_present")
    game.when(0, move("north_sea", "baltic_sea", infantry=1))
    assert standing(game, "baltic_sea", 1) == {"infantry": 1}


def test_calm() -> None:
    """IMP-7.6: no way out, no way on, no landing; fighting in it is possible."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, posts=1)},
        zones={
            "north_sea": zone({0: {"frigate": 1, "infantry": 1}}, marker="calm"),
            "north_atlantic": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone({1: {"frigate": 1}}, marker="calm"),
        },
    )
    game.refused(0, move("north_sea", "baltic_sea", frigate=1), "becalmed", "IMP-7.6")
    game.refused(0, move("north_sea", "france", infantry=1), "becalmed")
    game.refused(0, move("north_atlantic", "north_sea", "baltic_sea", frigate=1), "becalmed")
    game.when(0, attack(group("north_atlantic", "norwegian_sea", frigate=1)), draws=dice("w6 w1"))
    game.refused(0, move("norwegian_sea", "barents_sea", frigate=1), "becalmed")


def test_storm() -> None:
    """IMP-7.7: every ship that enters rolls, also when passing; odd is lost, survivors go on."""
    fleet = {"frigate": 2, "ship_of_the_line": 1, "infantry": 1, "artillery": 1}
    game = position(zones={"north_sea": zone({0: fleet}), "norwegian_sea": zone(marker="storm")})
    order = move("north_sea", "norwegian_sea", "barents_sea", **fleet)
    facts = game.when(0, order, draws=dice("w2 w1 w4 w6 w3"))
    lost = named(facts, "units_lost")[0]
    assert lost["units"] == [
        {"unit": "frigate", "count": 1, "moves_left": 1},
        {"unit": "infantry", "count": 1, "moves_left": 1},
    ]
    assert standing(game, "barents_sea", 0) == {"frigate": 1, "ship_of_the_line": 1, "artillery": 1}


def test_nobody_survives_a_storm() -> None:
    """IMP-7.7: the path ends there; who was there before does not roll."""
    game = position(
        zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone({0: {"frigate": 1}}, marker="storm")}
    )
    game.when(0, move("north_sea", "norwegian_sea", "barents_sea", frigate=1), draws=dice("w5"))
    assert standing(game, "norwegian_sea", 0) == {"frigate": 1}
    game.when(0, move("norwegian_sea", "barents_sea", frigate=1))


def test_moves_that_are_left_can_be_used_after_a_conquest() -> None:
    """IMP-7.8: cavalry goes on, and so does a fleet that has won."""
    game = position(
        countries={"france": colony(0, cavalry=1, posts=1)},
        zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone(pirates=1)},
    )
    game.when(0, attack(group("france", "netherlands", cavalry=1)), draws=dice("y7 w1 w2 y7 w1"))
    assert moves_left(game, "netherlands", 0) == {"cavalry": 1}
    game.when(0, move("netherlands", "france", cavalry=1))
    game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)), draws=dice("w6 w1"))
    game.when(0, move("norwegian_sea", "barents_sea", frigate=1))
    assert country(game, "netherlands").owner is None


def test_pieces_cannot_be_given_away() -> None:
    """IMP-7.9: there is no such move; a colony can be left empty."""
    game = position(countries={"france": colony(0, infantry=1), "spain": colony(0, posts=1)})
    game.refused(0, {"type": "disband", "country": "france"}, "unknown_move")
    game.when(0, move("france", "spain", infantry=1))
    assert (country(game, "france").owner, deciding(game)) == (None, ("movement", [0]))

"""IMP-8.1: attacks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.imperunde.board import (
    PASS,
    attack,
    card,
    colony,
    country,
    deciding,
    dice,
    group,
    moves_left,
    named,
    position,
    standing,
    zone,
)


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"type": "attack", "target": "spain", "groups": [group("france", "italy", infantry=1)]}, "malformed_move"),
        (attack(group("france", "atlantis", infantry=1)), "unknown_region"),
        (attack(group("france", "italy", dragon=1)), "unknown_item"),
        (attack(group("france", "italy", infantry=0)), "no_units"),
        (attack(group("france", "italy", infantry=4)), "too_many_units"),
        (attack(group("north_sea", "netherlands", frigate=1)), "wrong_unit_for_target"),
        (attack(group("north_sea", "baltic_sea", infantry=1)), "wrong_unit_for_target"),
        (attack(group("north_sea", "great_britain", infantry=1)), "own_territory"),
        (attack(group("france", "spain", infantry=1)), "own_territory"),
        (attack(group("france", "prussia", infantry=1)), "not_at_war"),
        (attack(group("north_sea", "baltic_sea", frigate=1)), "nothing_to_attack"),
        (attack(group("north_sea", "norwegian_sea", frigate=1)), "friendly_warships_present"),
        (attack(group("france", "italy", infantry=3)), "not_enough_units"),
        (attack(group("france", "spain", "portugal", infantry=1)), "not_enough_moves"),
        (attack(group("france", "netherlands", "scandinavia", infantry=1)), "not_your_country"),
        (attack(group("france", "russia", infantry=1)), "not_adjacent"),
        (attack(group("north_atlantic", "portugal", infantry=1)), "becalmed"),
    ],
)
def test_refused_attacks(order: Any, code: str) -> None:
    """IMP-8.1.1: target and number, fit, relation, then each group."""
    game = position(
        countries={
            "france": colony(0, infantry=2, posts=1),
            "spain": colony(0, posts=1),
            "prussia": colony(1, posts=1),
        },
        zones={
            "north_sea": zone({0: {"frigate": 1, "infantry": 1}}),
            "norwegian_sea": zone({1: {"frigate": 1}}, pirates=1),
            "north_atlantic": zone({0: {"infantry": 1}}, marker="calm"),
        },
    )
    game.refused(0, order, code)


def test_a_home_of_another_seat() -> None:
    """IMP-8.1.1, IMP-3.2: never, war or not."""
    game = position(wars=[(0, 2)], zones={"china_sea": zone({0: {"infantry": 1}})})
    game.refused(0, attack(group("china_sea", "japan", infantry=1)), "target_is_home_country", "IMP-8.1.1")


def test_the_sequence() -> None:
    """IMP-8.1.2: earlier steps with storms, then the window, then the last step; free when all are in place."""
    game = position(
        wars=[(0, 1)],
        countries={
            "france": colony(0, cavalry=1),
            "spain": colony(0, posts=1),
            "portugal": colony(1, posts=1, forts=1),
        },
        zones={"north_sea": zone({0: {"infantry": 1}}), "north_atlantic": zone(marker="storm")},
        hands={2: ["treason"]},
    )
    order = attack(
        group("france", "spain", "portugal", cavalry=1), group("north_sea", "north_atlantic", "portugal", infantry=1)
    )
    game.when(0, order, draws=dice("w2"))
    assert country(game, "france").owner is None
    assert deciding(game) == ("combat_window", [2])
    assert standing(game, "spain", 0) == {"cavalry": 1}
    assert standing(game, "north_atlantic", 0) == {"infantry": 1}
    game.when(2, PASS, draws=dice("y2 w1 r9 w6 r4"))
    assert country(game, "portugal").owner == 0
    assert moves_left(game, "portugal", 0) == {"infantry": 0}


def test_an_attack_can_be_over_before_it_begins() -> None:
    """IMP-8.1.2: if the storm leaves nobody; such losses are none of the combat."""
    game = position(
        zones={
            "north_sea": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone(marker="storm"),
            "barents_sea": zone(pirates=1),
        }
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", "barents_sea", frigate=1)), draws=dice("w1"))
    assert (deciding(game), game.state.combat) == (("movement", [0]), None)


def test_a_stormy_target() -> None:
    """IMP-8.1.2: the last step rolls all together; nobody left ends the attack."""
    game = position(zones={"north_sea": zone({0: {"frigate": 2}}), "norwegian_sea": zone(pirates=1, marker="storm")})
    facts = game.when(0, attack(group("north_sea", "norwegian_sea", frigate=2)), draws=dice("w1 w3"))
    assert named(facts, "combat_ended")[0]["outcome"] == "lost_in_storm"
    assert game.state.zone("norwegian_sea").pirates == {"frigate": 1}


def test_an_armistice_in_the_window_calls_it_off() -> None:
    """IMP-8.1.3: units stay staged, the last step costs nothing; ships among friends go back with 0 moves."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone({2: {"frigate": 1}}),
            "barents_sea": zone({1: {"frigate": 1}}),
        },
        hands={1: ["armistice"]},
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", "barents_sea", frigate=1)))
    facts = game.when(1, card("armistice", target_seat=0))
    assert named(facts, "combat_ended")[0]["outcome"] == "called_off"
    assert moves_left(game, "north_sea", 0) == {"frigate": 0}
    assert game.state.relation(0, 1) == "peace"


def test_ships_that_go_back_do_not_enter_the_storm_again() -> None:
    """IMP-7.7, IMP-8.1.3: they undo their approach; no die is drawn."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"frigate": 1}}, marker="storm"),
            "norwegian_sea": zone({2: {"frigate": 1}}),
            "barents_sea": zone({1: {"frigate": 1}}),
        },
        hands={1: ["armistice"]},
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", "barents_sea", frigate=1)))
    facts = game.when(1, card("armistice", target_seat=0))
    assert named(facts, "units_lost") == []
    assert standing(game, "north_sea", 0) == {"frigate": 1}


def test_a_prize_fights_on_alone() -> None:
    """IMP-8.1.2, IMP-9.4.18: it is an attacker when the storm has taken every ship that sailed."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone({1: {"frigate": 1, "ship_of_the_line": 1}}, marker="storm"),
        },
        hands={0: ["capture"]},
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)))
    facts = game.when(0, card("capture"), draws=dice("w1 w1 g8"))
    assert [f["cause"] for f in named(facts, "units_lost")][:1] == ["storm"]
    assert named(facts, "round_fought")


def test_staged_units_stay_when_it_is_called_off() -> None:
    """IMP-8.1.3: with the move that the last step would have cost."""
    game = position(
        wars=[(0, 1)],
        countries={
            "france": colony(0, cavalry=1, posts=1),
            "spain": colony(0, posts=1),
            "portugal": colony(1, posts=1),
        },
        hands={1: ["armistice"]},
    )
    game.when(0, attack(group("france", "spain", "portugal", cavalry=1)))
    game.when(1, card("armistice", target_seat=0))
    assert moves_left(game, "spain", 0) == {"cavalry": 1}


def test_posts_without_defence() -> None:
    """IMP-8.1.4: fall after the window, without dice."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=2)},
        hands={2: ["unmask_spies"]},
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    assert deciding(game) == ("combat_window", [2])
    game.when(2, PASS)
    assert country(game, "spain").owner == 0


def test_several_enemies() -> None:
    """IMP-8.1.5: one after the other in turn order, pirates last; one window, losses counted anew."""
    game = position(
        wars=[(0, 1), (0, 2)],
        zones={
            "north_sea": zone({0: {"ship_of_the_line": 2}}),
            "norwegian_sea": zone({1: {"frigate": 1}, 2: {"frigate": 1}}, pirates=1),
        },
        hands={1: ["capture"]},
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", ship_of_the_line=2)))
    assert deciding(game) == ("combat_window", [1])
    facts = game.when(1, PASS, draws=dice("g8 g8 w1 g8 g8 w1 g8 g8 w1"))
    assert [f["defender"] for f in named(facts, "next_enemy")] == [2, "pirates"]
    assert standing(game, "norwegian_sea", 0) == {"ship_of_the_line": 2}

"""SE7-15: moves and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.seven_empires import RULESET
from domain.types import Doc
from tests.games.seven_empires.board import acting, army, end_decade, last_turn, move, moving, position

CHOICE: Doc = {"type": "choose_action", "empire": "prussia", "action": "palace"}


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"empire": "prussia"}, "malformed_move"),
        ({"type": "surrender"}, "unknown_move"),
        ({"type": "choose_action", "empire": "prussia"}, "malformed_move"),
        ({**CHOICE, "extra": 1}, "malformed_move"),
        ({**CHOICE, "empire": 1}, "malformed_move"),
        ({"type": "deploy", "mode": "everywhere", "units": []}, "malformed_move"),
        ({"type": "deploy", "mode": "palace", "units": []}, "malformed_move"),
        ({"type": "deploy", "mode": "each_city", "units": []}, "wrong_phase"),
        ({**CHOICE, "empire": "poland"}, "unknown_empire"),
        ({**CHOICE, "empire": "poland", "action": "sleep"}, "unknown_empire"),
        ({**CHOICE, "action": "sleep"}, "unknown_action"),
        ({"type": "delegate", "empire": "prussia", "deploy": {"region": "x", "unit": "y"}}, "unknown_region"),
        ({"type": "delegate", "empire": "prussia", "deploy": {"region": "paris", "unit": "y"}}, "unknown_unit"),
        ({"type": "delegate", "empire": "prussia", "deploy": {"region": "paris"}}, "malformed_move"),
        ({"type": "delegate", "empire": "prussia"}, "delegation_not_allowed"),
        ({"type": "delegate", "empire": "prussia", "deploy": None}, "delegation_not_allowed"),
    ],
)
def test_the_order_of_the_common_checks(bad: Doc, code: str) -> None:
    """SE7-15.1: shape, seat, phase, identifiers, then the move's own."""
    position().refused(0, bad, code)


def test_what_comes_before_identifiers() -> None:
    """SE7-15.1: another seat, another phase, the end."""
    game = position()
    game.refused(1, {**CHOICE, "empire": "poland"}, "not_your_decision")
    game.refused(0, move("build_city", region="atlantis"), "wrong_phase")
    done = last_turn(8)
    end_decade(done)
    done.refused(0, CHOICE, "game_over")


def test_null_is_the_same_as_absent() -> None:
    """SE7-15.1: for `via`, `target` and `deploy`."""
    game = moving("france", {"paris": "france infantry"})
    steps = [{"to": "lyon", "via": None}, {"to": "piedmont"}]
    game.when(0, move("move_land", from_="paris", unit="infantry", steps=steps, target=None))


@pytest.mark.parametrize(
    ("kind", "action", "bad", "code"),
    [
        ("build", "build_deploy", move("build_city", region="atlantis"), "unknown_region"),
        ("palace", "palace", move("build_palace", region="atlantis"), "unknown_region"),
        ("attack", "attack", move("attack_deploy", units=[{"region": "atlantis", "unit": "x"}]), "unknown_region"),
        ("attack", "attack", move("attack_deploy", units=[{"region": "paris", "unit": "x"}]), "unknown_unit"),
        ("ship", "move_fight", move("move_ship", from_="paris", unit="x", path=["atlantis"]), "unknown_region"),
        ("ship", "move_fight", move("move_ship", from_="paris", unit="infantry", path=[]), "not_a_ship"),
        ("army", "move_fight", army("paris", "infantry", "lyon via atlantis"), "unknown_region"),
        ("army", "move_fight", army("paris", "infantry", "lyon", target="x"), "unknown_unit"),
    ],
)
def test_unknown_identifiers_in_actions(kind: str, action: str, bad: Doc, code: str) -> None:
    """SE7-15.5, SE7-15.7, SE7-15.8, SE7-15.9, SE7-15.10: before the checks of the move."""
    acting("france", action).refused(0, bad, code)


RULES = {
    "draft_influence": "SE7-15.2",
    "choose_action": "SE7-15.3",
    "delegate": "SE7-15.4",
    "build_city": "SE7-15.5",
    "deploy": "SE7-15.6",
    "build_palace": "SE7-15.7",
    "attack_deploy": "SE7-15.8",
    "move_ship": "SE7-15.9",
    "move_land": "SE7-15.10",
    "end_movement": "SE7-15.11",
    "answer_passage": "SE7-15.12",
    "choose_defender": "SE7-15.13",
    "reduce_region": "SE7-15.14",
    "take_influence": "SE7-15.15",
    "take_worker": "SE7-15.16",
    "place_event_unit": "SE7-15.17",
}


def test_every_move_has_its_rule() -> None:
    """SE7-15.2 to SE7-15.4, SE7-15.6, SE7-15.11, SE7-15.12, SE7-15.13, SE7-15.14, SE7-15.15, SE7-15.16, SE7-15.17.

    SE7-15.3, SE7-15.18: and every code is in the table.
    """
    assert {name: kind.admission.rule for name, kind in RULESET.moves.items()} == RULES
    assert len(RULESET.meta.codes) == 50


@pytest.mark.parametrize(
    ("move_", "code"),
    [
        ({"type": "take_influence", "empire": "poland"}, "unknown_empire"),
        ({"type": "take_worker", "empire": "spain"}, "wrong_phase"),
    ],
)
def test_tile_moves(move_: Any, code: str) -> None:
    """SE7-15.15, SE7-15.16: in their phases alone."""
    order = ["position_1", "position_2", "position_3", "pawn", "worker", "infantry", "two_master"]
    game = last_turn(order=order)
    end_decade(game)
    game.refused(0, move_, code)

"""SE7-3: the state machine."""

from __future__ import annotations

import pytest

from tests.games.seven_empires.board import acting, asked, kinds_of, last_turn, move, moving, of_kind, offers, position


def test_one_seat_decides() -> None:
    """SE7-3.1: until the game is finished."""
    game = position()
    assert game.decision.must == (0,)
    game.refused(1, move("choose_action", empire="russia", action="palace"), "not_your_decision")
    game.refused(0, move("build_city", region="berlin"), "wrong_phase")


def test_what_is_skipped() -> None:
    """SE7-3.2: the action Empire has no decision; a palace or city that cannot be built is passed over."""
    game = acting("spain", "palace", palaces={"madrid": 3, "barcelona": 2, "bilbao": 2})
    assert asked(game)[0] == "choose_empire"
    full = {"madrid": 2, "barcelona": 2, "bilbao": 2}
    assert asked(acting("spain", "build_deploy", levels=full))[0] == "deploy"
    assert asked(acting("spain", "empire"))[0] == "choose_empire"


def test_a_decision_with_one_answer_is_asked_all_the_same() -> None:
    """SE7-3.3: a single region to build in, and a single marker."""
    game = acting("spain", "build_deploy", levels={"madrid": 2, "barcelona": 2, "bilbao": None})
    assert asked(game) == ("build", 0)
    assert offers(game, 0) == ["bilbao"]


@pytest.mark.parametrize(
    ("action", "kind"),
    [("build_deploy", "build"), ("palace", "palace"), ("attack", "attack_deploy"), ("move_fight", "movement")],
)
def test_the_context_of_an_action(action: str, kind: str) -> None:
    """SE7-3.4: turn seat, mode, acting empire and action."""
    decision = acting("spain", action).decision
    assert (decision.kind, decision.context) == (
        kind,
        {"turn_seat": 0, "mode": "monarch", "empire": "spain", "action": action},
    )


def test_the_context_of_the_choice() -> None:
    """SE7-3.4: mode and legal empires."""
    assert position().decision.context == {"mode": "monarch", "empires": ["prussia", "ottomans"]}


def test_the_log_of_a_turn() -> None:
    """SE7-3.5: each thing that happens is a fact of its own."""
    game = acting("spain", "palace")
    facts = game.when(0, move("build_palace", region="barcelona"))
    assert kinds_of(facts) == ["palace_built", "power_scored", "turn_ended", "turn_begun"]
    last = last_turn()
    last.when(0, move("choose_action", empire="great_britain", action="palace"))
    facts = last.when(0, move("build_palace", region="york"))
    assert kinds_of(facts)[2:] == ["turn_ended", "pawn_passed", "tile_revealed"]
    (scored,) = of_kind(facts, "power_scored")
    assert scored == {"t": "power_scored", "empire": "great_britain", "points": 3, "why": "palace", "power": 3}


def test_a_refused_move_changes_nothing() -> None:
    """SE7-3.6: no state, no clock, no draw."""
    game = moving("spain", {"madrid": "spain infantry"})
    before = game.match.game
    game.refused(0, move("move_land", from_="madrid", unit="infantry", steps=[{"to": "paris"}]), "not_adjacent")
    assert game.match.game is before

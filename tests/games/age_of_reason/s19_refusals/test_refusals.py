"""AOR-19: refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import SPACES
from domain.types import Json
from tests.games.age_of_reason.board import attack, commit, last_turn, move, position

PACKAGE = Path(__file__).parents[4] / "domain/games/age_of_reason"
SHARED = [PACKAGE.parent / "common" / f"{name}.py" for name in ("auction", "powers")]
"""Modules that check rules of this game for it."""
PAGE = Path(__file__).parents[4] / "docs/rules/age_of_reason.md"


def test_the_common_checks_come_first() -> None:
    """AOR-19.1: a refused move changes nothing; form, type, turn and phase are checked before the rules."""
    game = position(3)
    game.refused(1, {"type": "place"}, "malformed_move")
    game.refused(1, move("resign"), "unknown_move")
    game.refused(1, move("place", space="harem"), "not_your_decision")
    game.refused(0, move("pass_bid"), "wrong_phase")
    game.refused(0, move("place", space="harem"), "unknown_space")


def test_an_answer_that_was_given_is_not_given_again() -> None:
    """AOR-19.1: `already_answered` before `wrong_phase`."""
    tokens = {key: {"central_europe": 1} for key in ("prussia", "austria", "france")}
    game = position(3, tokens=tokens)
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(2, commit(None))
    game.refused(2, commit(None), "already_answered")
    game.refused(2, move("pass"), "wrong_phase")
    game.refused(0, commit("prussia_bluff"), "not_your_decision")


def test_after_the_end_the_game_is_over() -> None:
    """AOR-19.1: every well-formed move is refused."""
    game = last_turn(3)
    game.when(1, move("pass"))
    game.refused(0, move("pass"), "game_over")


def test_every_code_raised_is_listed_and_other_way_round() -> None:
    """AOR-19.2: the list of codes of the page, of Meta, and of the source agree."""
    source = "\n".join(path.read_text() for path in [*(PACKAGE / "rules").rglob("*.py"), *SHARED])
    page = re.search(r"\*\*AOR-19\.2\*\* .*?: (.*)\.$", PAGE.read_text(), re.MULTILINE)
    assert page is not None
    assert page[1].split(", ") == sorted(RULESET.meta.codes)
    raised = set(re.findall(r'"([a-z_]+)",\s*(?:"AOR-|rule\b)', source))
    assert raised == set(RULESET.meta.codes)


BAD: list[Json] = [
    {},
    [],
    {"type": 5},
    move("place"),
    move("place", space=7),
    move("place", space="finance", card=None),
    move("place", space="finance", region="india"),
    move("place", space="militia", card=3),
    move("place", space="levant_company", card=None),
    move("place", space="finance", extra=1),
    move("place", space="harem", card=None),
    move("convert", marker="ca_cuba"),
    move("convert", marker="ca_cuba", card=None),
    move("attack", region="baltic", target="austria", card="x"),
    move("attack", region="baltic", target={"kind": "marker", "power": "austria"}, card="x"),
    move("attack", region="baltic", target={}, card="x"),
    move("attack", region="baltic", target={"kind": "power", "power": None}, card="x"),
    move("commit"),
    move("commit", card=1),
    move("hire", powers="spain"),
    move("hire", powers=[1]),
    move("bid", amount="1", a="spain", b="russia"),
    move("bid", amount=1, a="spain"),
    move("reserves", use=1),
    move("take_back", card="x"),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_malformed_move_is_refused_as_such(bad: Json) -> None:
    """AOR-19.3: unknown, foreign or missing fields, nulls, wrong types."""
    position(3).refused(0, bad, "malformed_move")


def test_every_space_can_be_named() -> None:
    """AOR-19.3: a space without fields of its own takes none."""
    game = position(3)
    for space in SPACES:
        game.refused(0, move("place", space=space, nothing=1), "malformed_move")

"""Whole games, sheet by sheet; at marked turns the figures were derived by hand from the rules.

A file has `setup` (count turns and tie order; every neutral army has morale 5, training 4 and rank 10, and nothing is
built), `turns` from turn zero on (`sheets` by empire, `draws` of the resolution, `then` moves after it) and `notes`:
after which turn, by which rules, the derivation in words, and then values of the state by JSON pointer, of a seat's
sight by empire and pointer, members of facts of the turn's record, and at the end [place, points] by seat. In turn zero
who files nothing takes 1800 points in each technology.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domain.games.egc.data import ALLOCATION, SEAT
from domain.kernel.schema.json_codec import resolve
from domain.types import Doc
from tests.games.egc.board import Board, plain_draws, set_up
from tests.games.egc.registered import RULESET

GOLDEN = Path(__file__).with_name("golden")
GAMES = [path.stem for path in sorted(GOLDEN.glob("*.json"))]
PAGE = Path(__file__).parents[3] / "docs/rules/egc.md"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", GAMES)
def test_a_game_replays_with_the_figures_of_its_notes(name: str) -> None:
    """EGC-0.6, EGC-5.1: the sheets and draws alone bring every figure that was derived by hand."""
    doc = read(name)
    notes: dict[int, list[dict[str, Any]]] = {}
    for note in doc["notes"]:
        notes.setdefault(note["turn"], []).append(note)
    game = set_up(plain_draws(doc["setup"]["counts"], doc["setup"]["tie_order"]))
    for number, turn in enumerate(doc["turns"]):
        facts = play(game, number, turn)
        for note in notes.pop(number, ()):
            compare(game, facts, note)
    assert not notes
    assert game.state.over


def play(game: Board, number: int, turn: dict[str, Any]) -> list[Doc]:
    """The sheets of a turn and its resolution; returns the facts of that record."""
    for empire, moves in turn.get("sheets", {}).items():
        game.file(SEAT[empire], *moves)
    if not number:
        for seat in game.state.top.owing if not game.state.turn else ():
            game.file(seat, {"type": "allocate_turn_zero", "points": dict(ALLOCATION)}, {"type": "submit_orders"})
        return game.facts()
    facts = game.resolve(draws=turn.get("draws", ()))
    for empire, moves in turn.get("then", {}).items():
        game.file(SEAT[empire], *moves)
    return facts


def compare(game: Board, facts: list[Doc], note: dict[str, Any]) -> None:
    """The game after a turn against a note."""
    where = f"turn {note['turn']}: {note['why']}"
    for pointer, value in note.get("state", {}).items():
        assert game.at(pointer) == value, f"{pointer} at {where}"
    for empire, seen in note.get("sight", {}).items():
        for pointer, value in seen.items():
            assert resolve(game.sight(SEAT[empire]), pointer) == value, f"{empire} {pointer} at {where}"
    for members in note.get("facts", ()):
        assert any(all(k in f and f[k] == v for k, v in members.items()) for f in facts), f"{members} at {where}"
    if "scores" in note:
        assert [[line.place, line.points] for line in RULESET.scores(game.state)] == note["scores"], where


def test_every_file_has_notes_that_name_rules_which_exist() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(GAMES) == 3
    for name in GAMES:
        notes = read(name)["notes"]
        assert len(notes) >= 8
        assert all(f"**{rule}**" in page for note in notes for rule in note["rules"])

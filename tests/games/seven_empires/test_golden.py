"""Whole games, move by move with their draws; at chosen steps the figures were derived by hand from the rules.

A file has `seats`, `options`, `setup` (the draws of the set-up), `steps` (`seat`, `move`) and `notes`: after which
step, by which rules, the derivation in words, values of the state by JSON pointer (null: nothing is there), and at the
end [place, points] by seat. A second reading of the rules (`oracle`) goes along and is compared at every turn.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from domain.errors import FormError
from domain.games.seven_empires import RULESET
from domain.kernel.schema.json_codec import to_json
from domain.types import Json
from tests.games.seven_empires.oracle import Oracle, shown
from tests.games.seven_empires.registered import conserved
from tests.spec import Given

GOLDEN = Path(__file__).with_name("golden")
GAMES = [path.stem for path in sorted(GOLDEN.glob("*.json"))]


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", GAMES)
def test_a_game_replays_with_the_figures_of_its_notes(name: str) -> None:
    """SE7-14.3: the moves and the draws of the set-up alone bring every figure that was derived by hand."""
    doc = read(name)
    notes = {note["step"]: note for note in doc["notes"]}
    game = Given(RULESET, doc["seats"], options=doc["options"], draws=doc["setup"])
    pieces = conserved(to_json(game.state))
    told = Oracle(doc["seats"], doc["options"], doc["setup"][0], game.state.card, list(game.state.hourglass))
    for number, step in enumerate(doc["steps"], 1):
        game.when(step["seat"], step["move"])
        told.play(step["seat"], step["move"])
        if note := notes.pop(number, None):
            compare(game, note)
            assert conserved(to_json(game.state)) == pieces
        if game.state.over or game.state.top.kind == "choose_empire":
            told.settle()
            assert told.board() == shown(game.state), number
    assert not notes
    assert game.state.over


def value(game: Given, pointer: str) -> Json:
    """What stands there; None where nothing does."""
    try:
        return game.at(pointer)
    except FormError:
        return None


def compare(game: Given, note: dict[str, Json]) -> None:
    """The state after a step against its note."""
    where = f"step {note['step']}: {note['why']}"
    for pointer, want in note.get("state", {}).items():
        assert value(game, pointer) == want, f"{pointer} at {where}"
    if "scores" in note:
        assert [[line.place, line.points] for line in RULESET.scores(game.state)] == note["scores"], where


def test_every_file_has_ten_notes_and_names_rules_that_exist() -> None:
    page = (Path(__file__).parents[3] / "docs/rules/seven_empires.md").read_text(encoding="utf-8")
    assert {read(name)["seats"] for name in GAMES} == {2, 3, 4, 5, 6}
    for name in GAMES:
        notes = read(name)["notes"]
        assert len(notes) >= 10
        assert all(re.search(rf"\*\*{re.escape(rule)}\*\*", page) for note in notes for rule in note["rules"])

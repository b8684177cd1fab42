"""Whole games, move by move with their draws; at chosen steps the figures were derived by hand from the rules.

A file has `seats`, `setup` (the draws of the set-up), `steps` (`seat`, `move`, `draws`) and `notes`: after which step,
by which rules, the derivation in words, the totals of the battle in that step, values of the state by JSON pointer,
and at the end [place, points] by seat. Powers are chosen, the first player is drawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domain.games.struggle_of_empires import RULESET
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json
from tests.games.struggle_of_empires.registered import conserved
from tests.spec import Given

GOLDEN = Path(__file__).with_name("golden")
GAMES = [path.stem for path in sorted(GOLDEN.glob("*.json"))]


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", GAMES)
def test_a_game_replays_with_the_figures_of_its_notes(name: str) -> None:
    """SOE-17.2: the moves and draws alone bring every figure that was derived by hand."""
    doc = read(name)
    notes = {note["step"]: note for note in doc["notes"]}
    game = Given(RULESET, doc["seats"], draws=doc["setup"])
    pieces = conserved(to_json(game.state))
    for number, step in enumerate(doc["steps"], 1):
        facts = game.when(step["seat"], step["move"], draws=step.get("draws", ()))
        if note := notes.pop(number, None):
            compare(game, facts, note)
            assert conserved(to_json(game.state)) == pieces
    assert not notes
    assert game.state.over


def compare(game: Given, facts: list[Doc], note: dict[str, Json]) -> None:
    """The state after a step against its note."""
    where = f"step {note['step']}: {note['why']}"
    if "totals" in note:
        assert [f["totals"] for f in facts if f["t"] == "battle_rolled"] == note["totals"], where
    for pointer, value in note.get("state", {}).items():
        assert game.at(pointer) == value, f"{pointer} at {where}"
    if "scores" in note:
        assert [[line.place, line.points] for line in RULESET.scores(game.state)] == note["scores"], where


def test_every_file_has_ten_notes_and_names_rules_that_exist() -> None:
    page = (Path(__file__).parents[3] / "docs/rules/struggle_of_empires.md").read_text(encoding="utf-8")
    assert len(GAMES) >= 3
    assert {read(name)["seats"] for name in GAMES} == {2, 3, 5}
    for name in GAMES:
        notes = read(name)["notes"]
        assert len(notes) >= 10
        assert all(f"**{rule}**" in page for note in notes for rule in note["rules"])

"""Scenario documents: faults are named with their place, and the documentation's examples hold."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from domain.errors import ScenarioError
from domain.games.struggle_of_empires import state as soe
from domain.games.struggle_of_empires.rules.combat import STEPS
from domain.kernel import scenario
from domain.kernel.rules.flow import Frame
from domain.ruleset_registry import load_shipped
from domain.types import Json
from tests.kernel.scenarios import (
    ATTACK,
    COMBAT,
    fails,
)

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"

FAULTS: list[tuple[Any, str]] = [
    ([], "/: an object is expected"),
    ({**COMBAT, "colour": 1}, "/colour: no such member"),
    ({k: v for k, v in COMBAT.items() if k != "table"}, "/table: a field that is required is expected"),
    ({**COMBAT, "ruleset": "chess@1"}, "/ruleset: there is no ruleset chess@1"),
    ({**COMBAT, "table": {"seats": 4, "colour": 1}}, "/table/colour: no such member"),
    ({**COMBAT, "table": {"seats": 7}}, "/table/seats: 3, 4 are possible"),
    ({**COMBAT, "table": {"seats": 4, "options": {"fog": 1}}}, "/table/options/fog: no such option"),
    ({**COMBAT, "table": {"seats": 4, "options": {"turns": "x"}}}, "/table/options/turns: an integer"),
    ({**COMBAT, "seed": "x"}, "/seed: an integer"),
    (
        {**COMBAT, "patch": {"units": json.loads("[" * 200 + "]" * 200)}},
        "/: at most 100 levels",
    ),
    ({**COMBAT, "steps": [{**ATTACK, "expect": {"absent": ["gold"]}}]}, "/expect/absent/0: a JSON pointer"),
    (
        {**COMBAT, "steps": [{**ATTACK, "expect": {"scores": {"x": {}}}}]},
        "/expect/scores/x: a seat's number is expected",
    ),
    (
        {**COMBAT, "steps": [{**ATTACK, "expect": {"offers": [{"seat": 0, "range": [1]}]}}]},
        "/offers/0/range: a list of 2",
    ),
    ({**COMBAT, "expect": {"refused": "x"}}, "/expect/refused: no such member"),
    ({**COMBAT, "patch": [1]}, "/patch: an object is expected"),
    ({**COMBAT, "steps": {}}, "/steps: a list"),
    (
        {**COMBAT, "steps": [{}]},
        "/steps/0: an object with one of move, moves, deadline, engine, rewind, join, leave, end, withdraw, pause",
    ),
    ({**COMBAT, "steps": [{**ATTACK, "deadline": True}]}, "/steps/0: an object with one of"),
    ({**COMBAT, "steps": [{"deadline": False}]}, "/steps/0/deadline: true is expected"),
    ({**COMBAT, "steps": [{"rewind": "x"}]}, "/steps/0/rewind: an integer"),
    ({**COMBAT, "steps": [{"seat": 0, "moves": []}]}, "/steps/0/moves: a list of 1 to"),
    ({**COMBAT, "steps": [{"move": {}}]}, "/steps/0/seat: a field that is required"),
    ({**COMBAT, "steps": [{**ATTACK, "seat": 4}]}, "step 1: the seats are 0 to 3, not 4"),
    ({**COMBAT, "steps": [{**ATTACK, "tag": 1}]}, "/steps/0/tag: no such member"),
    ({**COMBAT, "steps": [{**ATTACK, "draws": [{"value": 1}]}]}, "/steps/0/draws/0/label: a field that is required"),
    ({**COMBAT, "steps": [{**ATTACK, "draws": [{"label": "x", "value": 1, "n": 1}]}]}, "/steps/0/draws/0/n: no such"),
    ({**COMBAT, "steps": [{**ATTACK, "expect": {"gold": 1}}]}, "/steps/0/expect/gold: no such member"),
    ({**COMBAT, "steps": [{**ATTACK, "expect": {"refused": "x", "state": {}}}]}, "/steps/0/expect/state: no such"),
    ({**COMBAT, "steps": [{**ATTACK, "expect": {"state": {"gold": 1}}}]}, "/expect/state/gold: a JSON pointer"),
    ({**COMBAT, "steps": [{**ATTACK, "expect": {"facts": [1]}}]}, "/steps/0/expect/facts/0: an object is expected"),
]


@pytest.mark.parametrize(("doc", "told"), FAULTS, ids=[told for _, told in FAULTS])
def test_a_fault_of_the_document_names_its_pointer(doc: Json, told: str) -> None:
    assert fails(doc).startswith(told) or told in fails(doc)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ('{"a": 1, "a": 2}', "a key comes twice among a, a"),
        ('{"a": 1.5}', "1.5: scenarios hold integers only"),
        ('{"a": NaN}', "NaN: scenarios hold integers only"),
        ("[" * 100_000, "not JSON"),
        ('{"a": "\\ud800"}', "not JSON"),
    ],
)
def test_a_text_that_is_no_scenario(text: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(told)):
        scenario.parse(text)


def test_a_scenario_is_read_from_its_file() -> None:
    assert scenario.parse(json.dumps(COMBAT).encode()) == COMBAT


def examples() -> list[Json]:
    blocks = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return [doc for block in blocks if "ruleset" in (doc := scenario.parse(block))]


def test_the_examples_of_the_documentation_are_scenarios() -> None:
    assert examples()
    for doc in examples():
        scenario.check(doc)


def test_the_worked_examples_of_the_documentation_hold() -> None:
    """One begins in the middle of a round, one in the middle of a combat."""
    worked = [doc for doc in examples() if doc["ruleset"] != "GAME@1"]
    tops = [doc["patch"]["frames"][-1]["kind"] for doc in worked]
    assert tops == ["turn", "reserve"]
    for doc in worked:
        scenario.run(load_shipped().get, doc)


def test_documentation_names_members_of_frame_and_combat() -> None:
    text = DOCS.read_text(encoding="utf-8")
    of = [Frame, soe.Combat, soe.Party, soe.Loss]
    names = [f"`{f.name}`" for kind in of for f in fields(kind)] + [f'`["{step}"' for step in STEPS]
    assert [name for name in names if name not in text] == []

"""Scenarios of the skirmish game: the documents and helpers of the scenario tests."""

from __future__ import annotations

import copy

import pytest

from domain.errors import ScenarioError
from domain.kernel import scenario
from domain.kernel.schema.json_codec import merge_patch
from domain.ruleset_registry import RulesetRegistry
from domain.types import Json
from tests.rulesets import FLOWS

CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)

ATTACK: Json = {"seat": 0, "move": {"type": "attack", "target": 1, "offer": 3}}
HELP: Json = {"seat": 2, "move": {"type": "support", "army": 1}}
NO_HELP: Json = {"seat": 3, "move": {"type": "support", "army": 0}}
DICE: Json = [{"label": "battle.army", "value": 6}, 1, 1, {"label": "battle.army", "value": 2}]
ROLL: Json = {"seat": 0, "move": {"type": "answer", "yes": False}, "draws": DICE}

COMBAT: Json = {
    "about": "An attack with help beats the defender, who loses an army by default.",
    "ruleset": "skirmish@1",
    "table": {"seats": 4, "options": {"turns": 9}},
    "setup_draws": [],
    "patch": {"gold": {"0": 6}, "reserve": {"0": 0, "1": 0}},
    "steps": [
        {
            **ATTACK,
            "expect": {
                "state": {"/gold/0": 4, "/turns": 9, "/units/1": {"army": 2, "navy": 1, "fort": 1}},
                "decisions": [{"kind": "support", "must": [2], "context": {"offer": 3}}],
                "facts": [{"t": "gold_set", "seat": 0}, {"t": "asked", "kind": "support"}],
            },
        },
        {**HELP, "expect": {"state": {"/gold": {"0": 1, "1": 8, "2": 11, "3": 8}}}},
        NO_HELP,
        {**ROLL, "expect": {"decisions": [{"kind": "choose_loss", "must": [1]}]}},
        {
            "seat": 1,
            "move": {"type": "choose_loss", "kind": "navy"},
            "expect": {"refused": "invalid_choice", "rule": "SK-4"},
        },
        {"deadline": True, "expect": {"facts": [{"t": "unit_lost", "seat": 1, "unit": "army", "left": 1}]}},
    ],
}


SEEDED: Json = {**{k: v for k, v in COMBAT.items() if k != "setup_draws"}, "seed": 7}


def played(doc: Json, **change: Json) -> scenario.Result:
    return scenario.run(CATALOGUE.get, {**doc, **change})


def with_step(at: int, **change: Json) -> Json:
    """COMBAT with members of one step changed; None takes a member away."""
    doc = copy.deepcopy(COMBAT)
    doc["steps"][at] = merge_patch(doc["steps"][at], change)
    return doc


def fails(doc: Json, *told: str) -> str:
    """The scenario fails, and the message holds all this."""
    with pytest.raises(ScenarioError) as caught:
        scenario.run(CATALOGUE.get, doc)
    for text in told:
        assert text in str(caught.value), f"{text!r} is not in {caught.value}"
    return str(caught.value)


def after(expect: Json, move: Json = ATTACK, **change: Json) -> Json:
    """A scenario of one step that expects this."""
    return {**COMBAT, "steps": [{**move, "expect": expect}], **change}

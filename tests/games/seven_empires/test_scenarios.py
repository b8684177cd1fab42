"""Disputes as scenarios: blank boards on which another seat than the turn's decides."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel import scenario
from domain.ruleset_registry import load_shipped
from domain.types import Json

HANDS = {
    "0": ["france.nobility"],
    "1": ["habsburg.nobility", "russia.nobility"],
    "2": ["spain.nobility", "ottomans.nobility", "prussia.nobility", "great_britain.nobility"],
}
BOARD: dict[str, Json] = {"first_seat": 0, "pawn": 0, "decade": 1, "hands": HANDS}
TURN = [{"n": 1, "kind": "decade", "data": {"todo": ["turn"]}}]
FREE = {"markers": {"palace": "II", "empire": "III", "move_fight": None}}


def move(kind: str, **fields: Json) -> Json:
    """A move; `from_` stands for the field `from`."""
    return {"type": kind, **{name.rstrip("_"): value for name, value in fields.items()}}


FIGHT = move("choose_action", empire="france", action="move_fight")

PASSAGE: Json = {
    "about": "A monarch refuses passage; the unit stays, may fight there, and no other may ask again.",
    "patch": {
        "empires": {"france": FREE},
        "units": {"strasbourg": {"france": {"infantry": 2}}, "bavaria": {"habsburg": {"infantry": 1}}},
    },
    "steps": [
        {"seat": 0, "move": FIGHT},
        {
            "seat": 0,
            "move": move("move_land", from_="strasbourg", unit="infantry", steps=[{"to": "bavaria"}, {"to": "vienna"}]),
            "expect": {"decisions": [{"id": "0-4", "kind": "passage", "must": [1]}]},
        },
        {
            "seat": 1,
            "move": move("answer_passage", grant=False),
            "expect": {"state": {"/units/strasbourg/france/infantry": 2, "/movement/refused": ["bavaria"]}},
        },
        {
            "seat": 0,
            "move": move("move_land", from_="strasbourg", unit="infantry", steps=[{"to": "bavaria"}, {"to": "saxony"}]),
            "expect": {"refused": "passage_refused"},
        },
        {
            "seat": 0,
            "move": move("move_land", from_="strasbourg", unit="infantry", steps=[{"to": "bavaria"}]),
            "expect": {"absent": ["/units/bavaria"]},
        },
    ],
}

COUNTERFIGHT: Json = {
    "about": "Artillery beats one infantry; the defender chooses the ship in port to strike back.",
    "patch": {
        "empires": {"france": FREE},
        "units": {
            "marseille": {"france": {"artillery": 1}},
            "barcelona": {"spain": {"infantry": 2, "two_master": 1}},
        },
    },
    "steps": [
        {"seat": 0, "move": FIGHT},
        {
            "seat": 0,
            "move": move(
                "move_land", from_="marseille", unit="artillery", steps=[{"to": "barcelona"}], target="infantry"
            ),
            "expect": {"decisions": [{"id": "0-4", "kind": "counterfight", "must": [2]}]},
        },
        {
            "seat": 2,
            "move": move("choose_defender", unit="two_master"),
            "expect": {"state": {"/units/barcelona": {"spain": {"infantry": 1}}}, "absent": ["/units/marseille"]},
        },
    ],
}

COMPENSATION: Json = {
    "about": "A compensation unit in a third empire's full city: its monarch removes one, after the delegated action.",
    "patch": {
        "empires": {"france": {"markers": {"empire": "II", "move_fight": "III", "attack": "I"}}},
        "units": {"berlin": {"prussia": {"infantry": 3}}},
    },
    "steps": [
        {
            "seat": 0,
            "move": move("delegate", empire="russia", deploy={"region": "berlin", "unit": "infantry"}),
            "expect": {"decisions": [{"id": "0-3", "kind": "choose_delegated_action", "must": [1]}]},
        },
        {"seat": 1, "move": move("choose_action", empire="russia", action="palace")},
        {
            "seat": 1,
            "move": move("build_palace", region="moscow"),
            "expect": {"decisions": [{"id": "0-5", "kind": "reduction", "must": [2]}]},
        },
        {
            "seat": 2,
            "move": move("reduce_region", region="berlin", remove=["infantry"]),
            "expect": {"decisions": [{"id": "0-6", "kind": "choose_empire", "must": [1]}]},
        },
    ],
}


@pytest.mark.parametrize("doc", [PASSAGE, COUNTERFIGHT, COMPENSATION], ids=["passage", "counterfight", "compensation"])
def test_a_scenario_ends_as_it_expects(doc: Any) -> None:
    """SE7-8.7, SE7-8.11, SE7-4.6, SE7-10.2: monarchs follow from the hands on a blank board."""
    whole = {
        "ruleset": "seven_empires@1",
        "table": {"seats": 3},
        "blank": True,
        **doc,
        "patch": {**BOARD, "frames": TURN, **doc["patch"]},
    }
    assert scenario.run(load_shipped().get, whole).steps == len(doc["steps"])

"""SE7-17: what must hold after every move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import LANDS, OWN_CITIES
from domain.kernel.schema.json_codec import from_json, merge_patch, to_json
from tests.games.seven_empires.board import position, stand


def broken(**change: Any) -> list[str]:
    """What is wrong with a position after a change."""
    doc = merge_patch(to_json(position().state), change)
    return RULESET.check(from_json(RULESET.state, doc))


def test_a_sound_state() -> None:
    """SE7-17.1 to SE7-17.8."""
    assert not broken()


@pytest.mark.parametrize(
    ("region", "text", "word"),
    [
        ("atlantic", "spain infantry", "at sea"),
        ("atlantic", "spain two_master two_master", "at sea"),
        ("madrid", "spain two_master", "no own port"),
        ("marseille", "spain two_master", "no own port"),
    ],
)
def test_where_units_stand(region: str, text: str, word: str) -> None:
    """SE7-17.1: seas hold one ship; ships on land stand in own ports only."""
    assert any(word in line for line in broken(units={region: stand(text)}))


def test_units_of_two_empires() -> None:
    """SE7-17.1: never in one region."""
    both = {**stand("spain infantry"), **stand("france infantry")}
    assert any("2 empires" in line for line in broken(units={"bavaria": both}))


def test_supplies_and_flags() -> None:
    """SE7-17.2: no more pieces than there are, no flag on a city."""
    assert any("too many" in line for line in broken(units={r: stand("spain infantry") for r in LANDS[:7]}))
    assert any("flags too many" in line for line in broken(flags=dict.fromkeys(LANDS[:21], "spain")))
    assert any("flag on a city" in line for line in broken(flags={"madrid": "spain"}))


def test_every_empire_keeps_a_city() -> None:
    """SE7-17.3."""
    units = {city: stand("france infantry") for city in OWN_CITIES["spain"]}
    assert any("every city region is occupied" in line for line in broken(units=units))


def test_markers() -> None:
    """SE7-17.4: two slots are taken before an empire acts, three afterwards."""
    assert broken(empires={"spain": {"markers": {"attack": "III"}}})
    assert not broken(empires={"spain": {"markers": {"attack": "I"}}})


def test_cards() -> None:
    """SE7-17.5: each in exactly one place."""
    assert any("is held 2 times" in line for line in broken(hands={"1": ["spain.worker"], "2": ["spain.worker"]}))


def test_power_levels_and_palaces() -> None:
    """SE7-17.6: within what they can reach."""
    assert broken(empires={"spain": {"power": -1}})
    assert broken(levels={"madrid": 3})
    assert broken(palaces={"barcelona": 3})


def test_limits_at_the_beginning_of_a_turn() -> None:
    """SE7-17.7."""
    assert any("beginning of a turn" in line for line in broken(units={"bavaria": stand("spain infantry infantry")}))


def test_decades_and_turns() -> None:
    """SE7-17.8: 7 turns in a decade, no more decades than agreed."""
    assert broken(decade=9)
    assert broken(turn_in_decade=8)


def test_tiles() -> None:
    """SE7-2.7: none is doubled."""
    assert any("hourglass" in line for line in broken(hourglass=["position_1"] * 7 + ["laurel"]))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"units": {"atlantis": stand("spain infantry")}}, "/units/atlantis: there is no region atlantis"),
        ({"units": {"madrid": stand("poland infantry")}}, "/units/madrid/poland: there is no empire poland"),
        ({"units": {"madrid": stand("spain cavalry")}}, "/units/madrid/spain/cavalry: there is no unit cavalry"),
        ({"flags": {"sicily": "poland"}}, "/flags/sicily: there is no empire poland"),
        ({"levels": {"sicily": 1}}, "/levels/sicily: there is no city region sicily"),
        ({"hands": {"0": ["spain.king"]}}, "/hands/0/0: there is no card spain.king"),
        ({"empires": {"spain": {"monarch": 7}}}, "/empires/spain/monarch: there is no seat 7"),
        ({"empires": {"spain": None}}, "/empires/spain: the empire is missing"),
        ({"empires": {"spain": {"markers": {"attack": "IV"}}}}, "/empires/spain/markers/attack: there is no slot IV"),
        ({"turn": {"mode": "luck"}}, "/turn/mode: there is no mode luck"),
        ({"turn": None}, "/turn: is missing, for there is a frame choose_empire"),
        ({"revealed": ["star"]}, "/revealed/0: there is no tile star"),
    ],
)
def test_unknown_ids_are_named_with_their_place(change: Any, line: str) -> None:
    """SE7-17.1."""
    assert line in broken(**change)


TURN = {"seat": 0, "mode": "monarch"}
ACTS = {**TURN, "empire": "spain", "actor": 0, "action": "attack"}


@pytest.mark.parametrize(
    ("kind", "turn", "place"),
    [
        ("choose_delegated_action", None, "turn"),
        ("attack_deploy", None, "turn"),
        ("attack_deploy", TURN, "turn/empire"),
        ("build", {**ACTS, "actor": None}, "turn/actor"),
        ("movement", ACTS, "movement"),
        ("passage", TURN, "turn/empire"),
        ("counterfight", ACTS, "movement"),
    ],
)
def test_what_a_frame_speaks_of_is_there(kind: str, turn: Any, place: str) -> None:
    """SE7-3.1: told by name, since the rules could not go on."""
    frames = [{"n": 1, "kind": "decade", "data": {"todo": ["reductions"]}}, {"n": 2, "kind": kind, "data": {}}]
    assert f"/{place}: is missing, for there is a frame {kind}" in broken(turn=turn, frames=frames)


def test_what_follows_from_the_rest() -> None:
    """SE7-2.12, SE7-2.7: monarchs where none is named, and tiles in data order."""
    state = RULESET.blank(RULESET.make_table(3))
    assert RULESET.fill is not None
    filled = RULESET.fill(replace(state, hands=(("spain.nobility",), (), ()), revealed=("worker",)))
    assert filled.monarch("spain") == 0
    assert filled.hourglass[0] == "worker"
    assert not RULESET.check(filled)

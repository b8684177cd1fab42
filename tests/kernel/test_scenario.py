"""Scenarios: what holds passes, what does not is told with its step, what was expected and what was found."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from domain.catalogue import Catalogue
from domain.errors import RuleError, ScenarioError
from domain.ids import Json
from domain.kernel import export, scenario, verify
from domain.kernel.flow import Frame
from domain.kernel.jsonform import merge_patch
from domain.kernel.record import Record
from domain.kernel.ruleset import Draft
from tests.kernel.flows import skirmish
from tests.rulesets import FLOWS

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
CATALOGUE = Catalogue(entry.rules for entry in FLOWS)

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


class TestAGame:
    def test_every_expectation_that_holds_passes(self) -> None:
        result = played(COMBAT)
        assert result.steps == 6
        assert result.match.state.units[1]["army"] == 1

    def test_a_refused_step_leaves_no_record(self) -> None:
        result = played(COMBAT)
        assert [r.kind for r in result.match.records[6:]] == ["moved"] * 4 + ["lapsed"]

    def test_the_director_may_decide_for_a_seat(self) -> None:
        result = played(with_step(0, director=True))
        assert result.match.records[6].kind == "ruled"

    def test_a_list_of_moves_is_one_record(self) -> None:
        step = {"seat": 0, "moves": [{"type": "order", "to": "t01", "units": 1}, {"type": "submit"}]}
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "steps": [step]}
        assert len(scenario.run(CATALOGUE.get, doc).match.records) == 5

    def test_a_list_is_refused_as_a_whole(self) -> None:
        moves = [{"type": "order", "to": "t01", "units": 1}, {"type": "order", "to": "nowhere", "units": 1}]
        step = {"seat": 0, "moves": moves, "expect": {"refused": "unknown_place"}}
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "steps": [step]}
        assert scenario.run(CATALOGUE.get, doc).match.state.sheets == ((), ())

    def test_the_engine_does_what_is_due(self) -> None:
        file = {"seat": 0, "moves": [{"type": "order", "to": "t00", "units": 3}, {"type": "submit"}]}
        steps = [
            file,
            {"seat": 1, "move": {"type": "submit"}, "expect": {"decisions": [{"kind": "resolve", "engine": True}]}},
            {
                "engine": True,
                "draws": [{"label": "battle", "value": 3}],
                "expect": {"facts": [{"t": "place_taken", "to": "t00", "seat": 0}], "state": {"/owner/t00": 0}},
            },
        ]
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "patch": {"garrison": {"t00": 2}}, "steps": steps}
        assert scenario.run(CATALOGUE.get, doc).match.records[-1].kind == "resolved"

    def test_the_engine_is_refused_while_seats_decide(self) -> None:
        fails({**COMBAT, "steps": [{"engine": True}]}, "step 1: refused with unknown_move")

    def test_after_a_rewind_the_line_goes_on_from_there(self) -> None:
        back = {"rewind": 6, "expect": {"state": {"/gold/0": 6}, "decisions": [{"kind": "turn", "id": "1-1"}]}}
        passes = {"seat": 0, "move": {"type": "pass"}, "expect": {"decisions": [{"must": [1]}]}}
        assert played(COMBAT, steps=[ATTACK, back, passes]).match.line() == [*range(1, 7), 8, 9]

    def test_a_rewind_to_nowhere_is_refused(self) -> None:
        steps = [{"rewind": v, "expect": {"refused": "not_on_line"}} for v in (0, 3, 6, 99)]
        assert played(COMBAT, steps=steps).steps == 4

    def test_a_fresh_rewind_draws_anew_what_nobody_saw(self) -> None:
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "seed": 4}
        submit = {"seat": 0, "move": {"type": "submit"}}
        kept, fresh = (
            scenario.run(CATALOGUE.get, {**doc, "steps": [submit, {"rewind": 4, **more}]}).match.state.garrison
            for more in ({}, {"fresh": True})
        )
        assert kept != fresh

    def test_acts_after_the_end_are_refused(self) -> None:
        over = [{**form, "expect": {"refused": "game_over"}} for form in ({"deadline": True}, {"engine": True}, ATTACK)]
        last = {"seat": 0, "move": {"type": "pass"}, "expect": {"decisions": [], "facts": [{"t": "finished"}]}}
        assert played(COMBAT, patch={"turns": 1}, steps=[last, *over]).match.state.over

    def test_the_trace_hears_every_step(self) -> None:
        heard: list[tuple[int, str]] = []

        def trace(step: int, found: Record | RuleError) -> None:
            heard.append((step, found.code if isinstance(found, RuleError) else found.kind))

        scenario.run(CATALOGUE.get, COMBAT, trace)
        assert heard[0] == (0, "started")
        assert heard[4:6] == [(4, "moved"), (5, "invalid_choice")]

    def test_the_trace_hears_the_step_that_fails(self) -> None:
        heard: list[int] = []
        with pytest.raises(ScenarioError):
            scenario.run(CATALOGUE.get, with_step(3, expect={"decisions": []}), lambda step, _: heard.append(step))
        assert heard == [0, 1, 2, 3, 4]


class TestExpectations:
    def test_a_wrong_value_is_told_with_its_step(self) -> None:
        doc = with_step(0, expect={"state": {"/gold/0": 5}})
        assert fails(doc) == "step 1: state /gold/0: 5 expected, 4 found"

    def test_a_value_is_compared_with_its_type(self) -> None:
        fails(with_step(0, expect={"state": {"/turns": True}}), "step 1: state /turns: true expected, 9 found")
        fails(with_step(0, expect={"state": {"/over": 0}}), "step 1: state /over: 0 expected, false found")

    def test_a_state_is_compared_whole(self) -> None:
        fails(with_step(0, expect={"state": {"/units/1": {"army": None}}}), '/units/1: {"navy": 1, "fort": 1} expected')

    def test_a_place_that_is_not_there(self) -> None:
        fails(with_step(1, expect={"state": {"/gold/7": 1}}), "step 2: state /gold/7: 1 expected, there is nothing")

    def test_a_wrong_decision(self) -> None:
        fails(with_step(0, expect={"decisions": [{"must": [3]}]}), "step 1: decisions", '"must": [2]')

    def test_a_decision_too_many(self) -> None:
        fails(with_step(0, expect={"decisions": []}), "step 1: decisions [] expected", '"kind": "support"')

    def test_facts_must_come_in_order(self) -> None:
        facts = [{"t": "asked", "kind": "support"}, {"t": "gold_set"}]
        fails(with_step(0, expect={"facts": facts}), 'step 1: fact 1 {"t": "gold_set"} expected, in this order')

    def test_a_fact_can_be_expected_once_for_each_time_it_occurs(self) -> None:
        fails(with_step(0, expect={"facts": [{"t": "gold_set"}, {"t": "gold_set"}]}), "step 1: fact 1")

    def test_a_refusal_that_does_not_come(self) -> None:
        doc = with_step(0, expect={"refused": "invalid_target", "state": None, "decisions": None, "facts": None})
        fails(doc, "step 1: a refusal invalid_target expected, accepted with the facts", '"t": "gold_set"')

    def test_another_refusal(self) -> None:
        told = fails(with_step(4, expect={"refused": "wrong_phase"}))
        assert told == "step 5: a refusal wrong_phase (SK-4) expected, invalid_choice (SK-4) {} found"

    def test_another_rule(self) -> None:
        fails(with_step(4, expect={"rule": "SK-9"}), "(SK-9) expected, invalid_choice (SK-4)")

    def test_a_refusal_that_nobody_expects(self) -> None:
        doc = with_step(0, move={"offer": 60})
        assert fails(doc) == 'step 1: refused with offer_exceeds_gold (SK-2) {"gold": 4}'

    def test_a_malformed_move_is_refused_as_such(self) -> None:
        moves: list[Json] = [3, None, [], {"type": 3}, {"type": "attack"}]
        steps = [{"seat": 0, "move": m, "expect": {"refused": "malformed_move"}} for m in moves]
        assert played(COMBAT, steps=steps).steps == 5

    def test_a_broken_invariant_is_told(self) -> None:
        fails({**COMBAT, "patch": {"gold": {"3": -1}}}, "/patch: broken: gold of 3")


class TestDraws:
    def test_a_draw_that_is_missing(self) -> None:
        fails(with_step(3, draws=DICE[:3]), "step 4: no value is given for the draw 'battle.army'")

    def test_draws_that_are_not_asked_for(self) -> None:
        fails(with_step(3, draws=[*DICE, 5, 6]), "step 4: not drawn: [5, 6]")

    def test_an_impossible_value(self) -> None:
        fails(with_step(3, draws=[7, 1, 1, 1]), "step 4: 7 is impossible for the draw 'battle.army'")

    def test_another_label(self) -> None:
        draws = [{"label": "battle.navy", "value": 6}, 1, 1, 1]
        fails(with_step(3, draws=draws), "the draw is 'battle.army', the value given is for 'battle.navy'")

    def test_a_refusal_draws_nothing(self) -> None:
        fails(with_step(4, draws=[1]), "step 5: not drawn: [1], the move is refused with invalid_choice")

    def test_the_set_up_is_told_as_well(self) -> None:
        deck = ["ambush"] * 6 + ["filibuster"] * 6 + ["counter"] * 8
        doc = {"ruleset": "windows@1", "table": {"seats": 2}, "setup_draws": [deck], "steps": []}
        assert scenario.run(CATALOGUE.get, doc).match.state.hands == (("ambush",) * 3, ("ambush",) * 3)

    def test_a_wrong_set_up(self) -> None:
        doc: Json = {"ruleset": "windows@1", "table": {"seats": 2}, "steps": []}
        fails({**doc, "setup_draws": []}, "set-up: no value is given for the draw 'deck'")
        fails({**doc, "setup_draws": [["ambush"]]}, "set-up: ['ambush'] is impossible for the shuffle 'deck'")
        fails({**COMBAT, "setup_draws": [1]}, "set-up: not drawn: [1]")

    def test_without_a_word_the_set_up_is_the_same_every_time(self) -> None:
        doc = {"ruleset": "windows@1", "table": {"seats": 2}, "steps": []}
        one, two = (scenario.run(CATALOGUE.get, doc).match.state for _ in range(2))
        assert one == two


class TestSeeds:
    def seeded(self, draws: Json) -> Json:
        roll = {k: v for k, v in ROLL.items() if k != "draws"} | ({} if draws is None else {"draws": draws})
        return {**SEEDED, "steps": [ATTACK, HELP, NO_HELP, roll]}

    def dice(self) -> list[Json]:
        match = scenario.run(CATALOGUE.get, self.seeded(None)).match
        return [draw[3] for draw in match.records[-1].public["draws"]]

    def test_the_draws_are_those_of_the_seed(self) -> None:
        dice = self.dice()
        assert scenario.run(CATALOGUE.get, self.seeded(dice)).steps == 4
        labelled = [{"label": "battle.army", "value": value} for value in dice]
        assert scenario.run(CATALOGUE.get, self.seeded(labelled)).steps == 4

    def test_other_draws_than_expected(self) -> None:
        wrong = [value % 6 + 1 for value in self.dice()]
        fails(self.seeded(wrong), f"step 4: draws {json.dumps(wrong)} expected", '"label": "battle.army"')
        fails(self.seeded([]), "step 4: draws [] expected")
        label = [{"label": "battle.navy", "value": value} for value in self.dice()]
        fails(self.seeded(label), "step 4: draws")

    def test_another_seed_gives_other_dice(self) -> None:
        seen = {
            tuple(
                d[3]
                for d in scenario.run(CATALOGUE.get, {**self.seeded(None), "seed": n}).match.records[-1].public["draws"]
            )
            for n in range(5)
        }
        assert len(seen) > 1

    def test_a_seeded_game_verifies(self) -> None:
        doc = {"ruleset": "sealed@1", "table": {"seats": 3}, "seed": 7, "steps": [{"deadline": True}, {"rewind": 5}]}
        match = scenario.run(CATALOGUE.get, doc).match
        match.close("example")
        report = verify.verify(match.rules, export.parse(export.dump(match.records)))
        assert (report.records, report.draws) == (8, 3)

    def test_a_refusal_is_a_refusal(self) -> None:
        step = {**HELP, "expect": {"refused": "not_your_decision"}}
        assert scenario.run(CATALOGUE.get, {**SEEDED, "steps": [step]}).steps == 1

    def test_seed_and_set_up_draws_exclude_each_other(self) -> None:
        fails({**COMBAT, "seed": 7}, "/setup_draws: with a seed")


def drawing_pass(d: Draft[Any], frame: Frame, seat: int, move: skirmish.Pass) -> None:
    d.draws.roll("fate", 1, 6)
    raise RuleError("invalid_target", "SK-1")


def crooked_pass(d: Draft[Any], frame: Frame, seat: int, move: skirmish.Pass) -> None:
    d.add(skirmish.GoldSet(seat, -1))
    skirmish.do_pass(d, frame, seat, move)


def crooked(do: Any) -> Catalogue:
    return Catalogue([replace(skirmish.RULESET, do={**skirmish.RULESET.do, "pass": do})])


class TestFaultyRules:
    PASS: ClassVar[Json] = {"seat": 0, "move": {"type": "pass"}}

    def told(self, do: Any, step: Json, **change: Json) -> str:
        doc = {"ruleset": "skirmish@1", "table": {"seats": 3}, "steps": [step], **change}
        with pytest.raises(ScenarioError) as caught:
            scenario.run(crooked(do).get, doc)
        return str(caught.value)

    def test_a_refusal_that_has_drawn(self) -> None:
        refused = {**self.PASS, "expect": {"refused": "invalid_target"}}
        told = "step 1: the refusal invalid_target has drawn"
        assert self.told(drawing_pass, {**refused, "draws": [3]}) == f"{told} [3]"
        assert self.told(drawing_pass, refused, seed=1).startswith(f'{told} [["fate", ')
        assert self.told(drawing_pass, refused) == "step 1: no value is given for the draw 'fate'"

    def test_an_invariant_that_a_step_breaks(self) -> None:
        assert self.told(crooked_pass, self.PASS) == "step 1: broken: gold of 0"


class TestPatches:
    def test_the_flow_can_be_replaced(self) -> None:
        frame = {"n": 1, "kind": "turn", "asked": [2], "owing": [2], "data": {"turn_of": 2}}
        step = {"seat": 2, "move": {"type": "pass"}, "expect": {"decisions": [{"must": [3]}]}}
        assert played(COMBAT, patch={"frames": [frame]}, steps=[step]).steps == 1

    def test_a_field_that_is_not_there(self) -> None:
        fails({**COMBAT, "patch": {"units": {"0": {"army": "two"}}}}, "/patch/units/0/army: int is expected")
        fails({**COMBAT, "patch": {"silver": 1}}, "/patch/silver: no such field")

    def test_a_seat_that_is_not_there(self) -> None:
        fails({**COMBAT, "patch": {"gold": {"9": 1}}}, "/patch/gold: the keys must be the seats")

    def test_a_flow_that_leads_nowhere(self) -> None:
        frames = [{"n": 1, "kind": "feast"}]
        fails({**COMBAT, "patch": {"frames": frames}}, "/patch: the game does not go on: KeyError 'feast'")


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
    ({**COMBAT, "patch": [1]}, "/patch: an object is expected"),
    ({**COMBAT, "steps": {}}, "/steps: a list"),
    ({**COMBAT, "steps": [{}]}, "/steps/0: an object with one of move, moves, deadline, engine, rewind is expected"),
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
    ],
)
def test_a_text_that_is_no_scenario(text: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(told)):
        scenario.parse(text)


def test_a_scenario_is_read_from_its_file() -> None:
    assert scenario.parse(json.dumps(COMBAT).encode()) == COMBAT


def test_the_examples_of_the_documentation_are_scenarios() -> None:
    blocks = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    docs = [doc for block in blocks if "ruleset" in (doc := scenario.parse(block))]
    assert docs
    for doc in docs:
        scenario.check(doc)

"""Scenarios: what holds passes, what does not is told with its step, what was expected and what was found."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from domain.errors import RuleError, ScenarioError
from domain.games.struggle_of_empires import state as soe
from domain.games.struggle_of_empires.rules.combat import STEPS
from domain.kernel import scenario
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Frame
from domain.kernel.scenario.patches import find_unknown_ids
from domain.kernel.schema.json_codec import merge_patch
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import Json
from tests.kernel.flows import skirmish
from tests.rulesets import FLOWS

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
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
        assert played(COMBAT, steps=[ATTACK, back, passes]).match.active_versions() == [*range(1, 7), 8, 9]

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


def after(expect: Json, move: Json = ATTACK, **change: Json) -> Json:
    """A scenario of one step that expects this."""
    return {**COMBAT, "steps": [{**move, "expect": expect}], **change}


class TestAbsence:
    def test_a_place_where_there_is_nothing(self) -> None:
        assert played(after({"absent": ["/units/1/cavalry", "/frames/3"]})).steps == 1

    def test_a_place_where_there_is_something(self) -> None:
        fails(after({"absent": ["/gold/0"]}), "step 1: state /gold/0: nothing expected, 4 found")

    @pytest.mark.parametrize("pointer", ["/silver", "/gold/x", "/gold/0/x", "/frames/first", "/frames/0/colour"])
    def test_a_place_that_no_state_has_is_a_slip(self, pointer: str) -> None:
        fails(after({"absent": [pointer]}), f"/steps/0/expect/absent/0: the state has no place {pointer}")

    def test_a_fact_that_does_not_come(self) -> None:
        assert played(after({"no_facts": [{"t": "unit_lost"}, {"t": "gold_set", "seat": 1}]})).steps == 1

    def test_a_fact_that_comes(self) -> None:
        told = fails(after({"no_facts": [{"t": "unit_lost"}, {"t": "gold_set"}]}))
        assert told == 'step 1: no fact 1 {"t": "gold_set"} expected, [{"t": "gold_set", "seat": 0, "gold": 4}] found'

    @pytest.mark.parametrize("fact", [{"t": "unit_loss"}, {"seat": 0}])
    def test_a_kind_of_fact_that_there_is_not_is_a_slip(self, fact: Json) -> None:
        fails(after({"no_facts": [fact]}), "/steps/0/expect/no_facts/0/t: ", "is no kind of fact")

    def test_a_missing_fact_shows_those_of_its_kind(self) -> None:
        told = fails(after({"facts": [{"t": "gold_set", "seat": 2}]}))
        assert told.endswith('expected, in this order; [{"t": "gold_set", "seat": 0, "gold": 4}] found')
        told = fails(after({"facts": [{"t": "unit_lost"}]}))
        assert told.endswith("in this order; none of that kind found, only gold_set, noted, asked")


class TestScores:
    def test_places_and_points(self) -> None:
        scores = {"0": {"place": 1, "points": 4}, "3": {"points": 4, "detail": {}}}
        assert played(after({"scores": scores})).steps == 1

    def test_a_wrong_score(self) -> None:
        fails(after({"scores": {"0": {"place": 2}}}), 'step 1: score of seat 0: {"place": 2} expected', '"points": 4')

    def test_a_seat_that_there_is_not(self) -> None:
        fails(after({"scores": {"4": {"place": 2}}}), "/steps/0/expect: the seats are 0 to 3, not 4")


class TestViewers:
    DOC: ClassVar[Json] = {
        "ruleset": "sealed@1",
        "table": {"seats": 3},
        "patch": {"hands": {"0": ["f2"]}},
        "steps": [],
    }

    def of(self, viewers: Json) -> Json:
        step = {"seat": 0, "move": {"type": "attack", "target": 1, "card": "f2"}, "expect": {"viewers": viewers}}
        return {**self.DOC, "steps": [step]}

    def test_what_a_viewer_sees_and_reads(self) -> None:
        sealed = [{"t": "card_sealed", "seat": 0}]
        viewers = {
            "public": {"sight": {"/turns": 10}, "absent": ["/hands", "/card", "/own"], "no_facts": sealed},
            "0": {"sight": {"/card": "f2"}, "absent": ["/own"], "facts": sealed},
            "1": {"sight": {"/card": None}, "absent": ["/own"], "no_facts": sealed},
            "director": {"sight": {"/seats/0/card": "f2", "/seats/1/card": None, "/hidden": {}}, "facts": sealed},
        }
        assert scenario.run(CATALOGUE.get, self.of(viewers)).steps == 1

    def test_what_a_viewer_does_not(self) -> None:
        told = "step 1: viewer 0: sight /card: null expected, "
        fails(self.of({"0": {"sight": {"/card": None}}}), told + '"f2" found')
        fails(self.of({"0": {"absent": ["/card"]}}), 'viewer 0: sight /card: nothing expected, "f2" found')
        fails(self.of({"1": {"facts": [{"t": "card_sealed"}]}}), 'viewer 1: fact 0 {"t": "card_sealed"} expected')
        fails(self.of({"0": {"no_facts": [{"t": "card_sealed"}]}}), "viewer 0: no fact 0")

    def test_a_viewer_that_there_is_not(self) -> None:
        fails(self.of({"3": {}}), "/steps/0/expect: the seats are 0 to 2, not 3")
        fails(self.of({"judge": {}}), "/steps/0/expect/viewers/judge: public, director or a seat's number is expected")
        told = "/steps/0/expect/viewers/0/no_facts/0/t: "
        fails(self.of({"0": {"no_facts": [{"t": "card_shown"}]}}), told + '"card_shown" is no kind of fact')


class TestOffers:
    BACK: ClassVar[Json] = {"seat": 0, "move": {"type": "pass"}}

    def told(self, **offer: Json) -> str:
        return fails(after({"offers": [{"seat": 1, **offer}]}, self.BACK))

    def test_what_the_builder_offers(self) -> None:
        offers = [
            {"seat": 1, "field": "type", "options": ["pass", "attack"], "offered": ["attack"]},
            {"seat": 1, "picks": ["attack"], "offered": [0, 2], "not_offered": [1]},
            {"seat": 1, "picks": ["attack", 2], "field": "offer", "range": [0, 6], "offered": [6], "not_offered": [7]},
            {"seat": 1, "picks": ["attack", 2, 6], "move": {"type": "attack", "offer": 6}},
            {"seat": 1, "picks": ["attack", 1], "refused": "not_offered"},
            {"seat": 0, "refused": "not_your_decision"},
        ]
        assert played(after({"offers": offers}, self.BACK)).steps == 1

    def test_what_it_does_not(self) -> None:
        assert self.told(field="target").startswith("step 1: offer 0: after the picks [] field target expected, {")
        assert "options [] expected" in self.told(options=[])
        assert '"feast" offered expected' in self.told(offered=["feast"])
        assert '"pass" not offered expected' in self.told(not_offered=["pass"])
        assert "range [0, 1] expected" in self.told(range=[0, 1])
        assert "range [0, 7] expected" in self.told(picks=["attack", 0], range=[0, 7])
        assert "the move {} expected" in self.told(move={})
        assert 'the move {"type": "attack"} expected, the move {"type": "pass"} found' in self.told(
            picks=["pass"], move={"type": "attack"}
        )
        assert "a question expected, the move" in self.told(picks=["pass"])
        assert "a refusal not_offered expected" in self.told(refused="not_offered")
        assert 'after the picks ["feast"] refused with not_offered' in self.told(picks=["feast"])
        fails(after({"offers": [{"seat": 9}]}), "step 1: offer 0: the seats are 0 to 3, not 9")


class TestRefusalsInDetail:
    GREEDY: ClassVar[Json] = {"seat": 0, "move": {"type": "attack", "target": 1, "offer": 60}}

    def test_members_of_the_detail(self) -> None:
        for detail in ({"gold": 4}, {}):
            assert played(after({"refused": "offer_exceeds_gold", "detail": detail}, self.GREEDY)).steps == 1

    def test_another_detail(self) -> None:
        told = fails(after({"refused": "offer_exceeds_gold", "detail": {"gold": 5}}, self.GREEDY))
        assert told == (
            'step 1: the refusal offer_exceeds_gold (SK-2) with {"gold": 5} expected, with {"gold": 4} found'
        )


class TestWhoSits:
    def test_a_player_leaves_and_another_joins(self) -> None:
        steps = [
            {"leave": 2, "expect": {"state": {"/vacant": [2]}, "facts": [{"t": "vacated", "seat": 2}]}},
            {"leave": 2, "expect": {"refused": "seat_empty", "detail": {"seat": 2}}},
            {"join": 1, "expect": {"refused": "seat_taken"}},
            {"join": 2, "player": "anna", "expect": {"state": {"/vacant": []}, "facts": [{"t": "seated"}]}},
        ]
        match = played(COMBAT, steps=steps).match
        assert [r.kind for r in match.records[6:]] == ["left", "joined"]
        assert match.game.players[2].id == "anna"

    def test_the_rules_answer_for_who_leaves(self) -> None:
        steps: list[Json] = [{"seat": 0, "move": {"type": "submit"}}, {"leave": 1}, {"deadline": True}]
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "seed": 1, "steps": steps[:2]}
        assert scenario.run(CATALOGUE.get, doc).match.state.vacant == (1,)

    def test_a_seat_that_there_is_not(self) -> None:
        fails({**COMBAT, "steps": [{"join": 4}]}, "step 1: the seats are 0 to 3, not 4")
        fails({**COMBAT, "steps": [{"leave": 4}]}, "step 1: the seats are 0 to 3, not 4")

    def test_a_deadline_that_nobody_owes(self) -> None:
        submit = [{"seat": seat, "move": {"type": "submit"}} for seat in (0, 1)]
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "steps": [*submit, {"deadline": True}]}
        fails(doc, "step 3: no seat owes an answer")


class TestVariants:
    WAYS: ClassVar[Json] = [
        {"name": "no", "steps": [{**ROLL}], "expect": {"facts": [{"t": "asked", "kind": "choose_loss"}]}},
        {"name": "late", "about": "nobody answers", "steps": [{"deadline": True, "draws": DICE}]},
    ]

    def doc(self, *ways: Json) -> Json:
        steps = COMBAT["steps"][:3]
        return {**COMBAT, "steps": steps, "variants": [*self.WAYS, *ways]}

    def test_each_begins_with_the_same_game(self) -> None:
        result = played(self.doc())
        assert (result.steps, {name: way.steps for name, way in result.variants.items()}) == (3, {"no": 1, "late": 1})
        assert result.match.game.version == 9
        assert {way.match.game.version for way in result.variants.values()} == {10}

    def test_without_steps_of_its_own(self) -> None:
        doc = {**{k: v for k, v in COMBAT.items() if k != "steps"}, "variants": [{"name": "a", "steps": [ATTACK]}]}
        assert scenario.run(CATALOGUE.get, doc).variants["a"].steps == 1

    def test_one_that_fails_does_not_stop_the_others(self) -> None:
        bad = {"name": "bad", "steps": [ROLL, {"deadline": True, "expect": {"state": {"/turns": 0}}}]}
        last = {"name": "last", "steps": [ROLL]}
        outcomes = list(scenario.play(CATALOGUE.get, self.doc(bad, last)))
        assert [o.variant for o in outcomes if o.result] == ["", "no", "late", "last"]
        (fault,) = [str(o.fault) for o in outcomes if o.fault]
        assert fault.startswith("step 2: state /turns: 0 expected")
        assert fails(self.doc(bad, last)) == f"variant bad: {fault}"

    def test_what_holds_at_the_end(self) -> None:
        doc = {**COMBAT, "expect": {"facts": [{"t": "patched"}, {"t": "gold_set"}, {"t": "unit_lost"}]}}
        assert played(doc).steps == 6
        fails({**COMBAT, "expect": {"no_facts": [{"t": "unit_lost"}]}}, "at the end: no fact 0")
        bad = {"name": "bad", "steps": [], "expect": {"decisions": []}}
        fails(self.doc(bad), "variant bad: at the end: decisions [] expected")

    def test_when_the_start_fails_no_variant_is_played(self) -> None:
        (outcome,) = scenario.play(CATALOGUE.get, {**self.doc(), "patch": {"silver": 1}})
        assert (outcome.variant, str(outcome.fault)) == ("", "/patch/silver: no such field")

    def test_faults_of_the_document(self) -> None:
        fails(self.doc({"name": "no", "steps": []}), "/variants/2/name: no is the name of another variant")
        fails(self.doc({"steps": []}), "/variants/2/name: a field that is required")
        fails(self.doc({"name": "x"}), "/variants/2/steps: a field that is required")
        fails({**COMBAT, "variants": []}, "/variants: a list of 1 to")
        expect = {"no_facts": [{"t": "x"}]}
        fails(self.doc({"name": "x", "steps": [], "expect": expect}), "/variants/2/expect/no_facts/0/t")

    def test_variants_are_watched_too(self) -> None:
        seen: list[scenario.StepTrace] = []
        list(scenario.play(CATALOGUE.get, self.doc(), seen.append))
        assert [(s.variant, s.step) for s in seen] == [("", 0), ("", 1), ("", 2), ("", 3), ("no", 1), ("late", 1)]
        assert [d["kind"] for d in seen[1].decisions] == ["support"]
        gold = [c for c in seen[1].changes() if c.pointer == "/gold/0"]
        assert gold == [scenario.Change("/gold/0", 6, 4)]
        assert list(seen[0].changes()) == []


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


def crooked(do: Any) -> RulesetRegistry:
    return RulesetRegistry([replace(skirmish.RULESET, handlers={**skirmish.RULESET.handlers, "pass": do})])


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
        frames = [{"n": 1, "kind": "turn"}]
        fails({**COMBAT, "patch": {"frames": frames}}, "/patch: the game does not go on: KeyError 'turn'")


class TestAnEmptyBoard:
    """What the set-up gives is gone, the flow that it asked for stays."""

    WINDOWS: ClassVar[Json] = {"ruleset": "windows@1", "table": {"seats": 2}, "blank": True, "steps": []}

    def test_only_what_the_patch_names_is_there(self) -> None:
        assert scenario.run(CATALOGUE.get, {k: v for k, v in self.WINDOWS.items() if k != "blank"}).match.state.hands[0]
        state = scenario.run(
            CATALOGUE.get, {**self.WINDOWS, "patch": {"hands": {"1": ["counter"]}, "sizes": {"1": 1}}}
        ).match.state
        assert state.hands == ((), ("counter",))

    def test_the_flow_of_the_set_up_stays(self) -> None:
        expect = {"decisions": [{"id": "0-1", "kind": "turn", "must": [0]}], "state": {"/opened": 1, "/gold/0": 8}}
        assert played(COMBAT, blank=True, patch={}, steps=[], expect=expect).steps == 0

    def test_a_flow_of_its_own(self) -> None:
        frame = {"n": 7, "kind": "turn", "asked": [2], "owing": [2], "data": {"turn_of": 2}}
        step = {"seat": 2, "move": {"type": "pass"}, "expect": {"decisions": [{"id": "0-8", "must": [3]}]}}
        assert played(COMBAT, blank=True, patch={"frames": [frame]}, steps=[step]).steps == 1
        assert played(COMBAT, blank=True, patch={"frames": [frame], "opened": 9}, steps=[]).match.state.opened == 9

    def test_what_follows_fills_itself(self) -> None:
        rules = replace(skirmish.RULESET, fill=lambda s: replace(s, reserve=tuple(g // 4 for g in s.gold)))
        patch = {"gold": {"0": 12}, "reserve": {"1": 5}}
        doc = {**COMBAT, "blank": True, "patch": patch, "steps": []}
        assert scenario.run(RulesetRegistry([rules]).get, doc).match.state.reserve == (3, 5, 2, 2)
        doc = {**COMBAT, "patch": patch, "steps": []}
        assert scenario.run(RulesetRegistry([rules]).get, doc).match.state.reserve == (1, 5, 1, 1)

    def test_its_log_replays_like_any_other(self) -> None:
        match = scenario.run(CATALOGUE.get, {**self.WINDOWS, "seed": 3}).match
        match.close("example")
        assert verify.verify(match.rules, export.parse(export.dump(match.records))).closed

    def test_only_true_marks_it(self) -> None:
        fails({**COMBAT, "blank": False}, "/blank: true is expected")

    @pytest.mark.parametrize("ruleset", load_shipped().names())
    def test_supplies_of_the_games_fill_themselves(self, ruleset: str) -> None:
        rules = load_shipped().get(ruleset)
        patch, check = FILLED[rules.meta.ruleset.split("@", maxsplit=1)[0]]
        doc = {"ruleset": ruleset, "table": {"seats": rules.meta.seats[0]}, "blank": True, "patch": patch, "steps": []}
        assert scenario.run(load_shipped().get, {**doc, "expect": {"state": check}}).steps == 0


FILLED: dict[str, tuple[Json, Json]] = {
    "age_of_reason": (
        {
            "empires": {"0": {"power": "prussia"}},
            "discards": {"0": ["prussia_4s0n"]},
            "markers": {"baltic": ["ba_norway"]},
        },
        {"/empires/0/discard_size": 1},
    ),
    "egc": (
        {
            "turn": 3,
            "armies": {
                "0": {"austria_hungary-1": {"territory": "austria_hungary", "divisions": 9, "morale": 5, "training": 5}}
            },
        },
        {"/manned": {"austria_hungary": "austria_hungary"}, "/sheets/0/next_army": 2},
    ),
    "imperunde": (
        {"nations": {"0": {"home": "japan"}, "1": {"home": "usa"}, "2": {"home": "brazil"}}},
        {"/nations/1/cards": 0},
    ),
    "seven_empires": (
        {"hands": {"1": ["spain.nobility"]}, "units": {"madrid": {"spain": {"infantry": 2}}}},
        {"/empires/spain/monarch": 1, "/hourglass/7": "laurel"},
    ),
    "struggle_of_empires": (
        {"empires": {"0": {"tiles": [{"tile": "reserve"}]}}, "markers": {"baltic": ["ba_norway"]}},
        {"/stock/reserve": 3},
    ),
}
"""Game -> what a patch names, and what fills itself."""


UNKNOWN: list[tuple[str, Json, str]] = [
    ("age_of_reason@1", {"tokens": {"poland": {}}}, "/tokens/poland: there is no power poland"),
    ("age_of_reason@1", {"tokens": {"spain": {"atlantis": 1}}}, "/tokens/spain/atlantis: there is no region"),
    ("age_of_reason@1", {"discards": {"0": ["joker"]}}, "/discards/0/0: there is no card joker"),
    ("age_of_reason@1", {"spaces": {"harem": [0]}}, "/spaces/harem: there is no space harem"),
    ("egc@1", {"levels": {"france": {"fortress": 1}}}, "/levels/france/fortress: there is no infrastructure fortress"),
    ("egc@1", {"levels": {"france": {"farm": 99}}}, "/levels/france/farm: 99 is no level"),
    ("egc@1", {"levels": {"atlantis": {"farm": 1}}}, "/levels/atlantis: there is no territory atlantis"),
    ("egc@1", {"lands": {"france": None}}, "/lands/france: the territory is missing"),
    ("egc@1", {"lands": {"france": {"owner": 12}}}, "/lands/france/owner: there is no seat 12"),
    ("egc@1", {"relations": {"0-1": "love"}}, "/relations/0-1: there is no level love"),
    ("egc@1", {"empires": {"0": {"links": ["moon"]}}}, "/empires/0/links/0: there is no link moon"),
    ("egc@1", {"armies": {"0": {"bob": {}}}}, "/armies/0/bob/territory: is required"),
    ("egc@1", {"closed": {"mars:3": 1}}, "/closed/mars:3: there is no STRAIT:SEAT mars:3"),
    ("egc@1", {"turn": 4}, "/empires/0/ranks/logistics: the rank is missing"),
    ("struggle_of_empires@1", {"empires": {"0": {"units": {"india": {}}}}}, "/units/india: nothing stands there"),
    ("imperunde@1", {"countries": {"atlantis": {}}}, "/countries/atlantis: there is no country atlantis"),
    ("imperunde@1", {"hands": {"0": ["joker"]}}, "/hands/0/0: there is no card joker"),
    ("imperunde@1", {"nations": {"0": {"home": ""}}}, "/nations/0/home: the nation is missing"),
    (
        "imperunde@1",
        {"order": []},
        ": the game does not go on: IndexError tuple index out of range; look at /patch/order",
    ),
    ("seven_empires@1", {"units": {"atlantis": {}}}, "/units/atlantis: there is no region atlantis"),
    ("seven_empires@1", {"hands": {"0": ["spain.king"]}}, "/hands/0/0: there is no card spain.king"),
    (
        "struggle_of_empires@1",
        {"empires": {"0": {"units": {"x": {"army": 1}}}}},
        "/empires/0/units/x: there is no region",
    ),
    ("struggle_of_empires@1", {"empires": {"0": {"units": {"india": {"x": 1}}}}}, "/units/india/x: there is no unit x"),
    ("struggle_of_empires@1", {"empires": {"3": {}}}, "/empires: the keys must be the seats 0 to 2"),
    ("struggle_of_empires@1", {"stock": {"x": 1}}, "/stock/x: there is no tile x"),
    ("struggle_of_empires@1", {"frames": [{"n": 1, "kind": "combat", "data": {}}]}, "/combat: is missing"),
    ("struggle_of_empires@1", {"frames": []}, ": the game does not go on: IndexError"),
    ("skirmish@1", {"frames": [{"n": 1, "kind": "turn", "owing": [9]}]}, "/frames/0/owing/0: there is no seat 9"),
    ("skirmish@1", {"frames": [{"n": 1, "kind": "feast", "owing": [1]}]}, "/frames/0/kind: there is no decision feast"),
    ("skirmish@1", {"frames": [{"n": 1, "kind": "feast"}]}, "there are choose_loss, combat, naval_choice, reserve, "),
    ("skirmish@1", {"frames": [{"n": 1, "kind": "turn"}]}, "KeyError 'turn'; look at /patch/frames/0/kind"),
    (
        "skirmish@1",
        {"frames": [{"n": 1, "kind": "support", "owing": [2], "data": {"principal": 0, "offer": "x"}}]},
        "/patch/frames/0/data/offer: Expected int, got str",
    ),
    (
        "skirmish@1",
        {"frames": [{"n": 1, "kind": "combat", "data": {"att": 0, "deff": 1, "help": {}, "todo": [["roll"], 1]}}]},
        "/patch/frames/0/data/todo/1: Expected array, got int",
    ),
    (
        "skirmish@1",
        {"frames": [{"n": 1, "kind": "choose_loss", "owing": [0]}]},
        "/patch/frames/0/data: Object missing required field kinds",
    ),
    ("skirmish@1", {"vacant": [7]}, "/vacant/0: there is no seat 7"),
    ("skirmish@1", {"seats": 2}, "/seats: the table has 3"),
    ("struggle_of_empires@1", {"seats": 10_000_000}, "/seats: the table has 3"),
    ("struggle_of_empires@1", {"round": 2**53}, "/round: a whole number up to 9007199254740991 is expected"),
    (
        "skirmish@1",
        {"frames": [{"n": 1, "kind": "choose_loss", "owing": [0], "data": {"kinds": [2**64]}}]},
        "/frames/0/data/kinds/0: a whole number up to 9007199254740991 is expected",
    ),
]


class TestNamesThatThereAreNot:
    @pytest.mark.parametrize(("ruleset", "patch", "told"), UNKNOWN, ids=[told for *_, told in UNKNOWN])
    def test_they_are_told_with_their_place(self, ruleset: str, patch: Json, told: str) -> None:
        get = CATALOGUE.get if ruleset == "skirmish@1" else load_shipped().get
        rules = get(ruleset)
        doc = {"ruleset": ruleset, "table": {"seats": 3 if 3 in rules.meta.seats else 10}, "patch": patch, "steps": []}
        with pytest.raises(ScenarioError) as caught:
            scenario.run(get, doc)
        assert str(caught.value).startswith("/patch")
        assert told in str(caught.value)

    def test_not_more_than_some(self) -> None:
        doc = {"ruleset": "egc@1", "table": {"seats": 10}, "patch": {"turn": 4}, "steps": []}
        with pytest.raises(ScenarioError, match=r"; and 90 more$"):
            scenario.run(load_shipped().get, doc)

    def test_what_the_invariants_cannot_be_asked(self) -> None:
        def check(s: skirmish.Skirmish) -> list[str]:
            return [str(u["army"]) for u in s.units if u["army"] < 0]

        rules = replace(skirmish.RULESET, check=check)
        doc = {**COMBAT, "patch": {"units": {"1": {"army": None}}, "turns": 3}}
        with pytest.raises(ScenarioError, match=r"^/patch: .*KeyError 'army'; look at /patch/units/1/army$"):
            scenario.run(RulesetRegistry([rules]).get, doc)

    def test_what_a_seat_cannot_be_shown(self) -> None:
        def own(s: skirmish.Skirmish, seat: int) -> skirmish.Own:
            return skirmish.Own([s.turns, 1][: s.turns and 2][0] if seat == 1 else 0)

        rules = replace(skirmish.RULESET, own=own)
        with pytest.raises(ScenarioError, match=r"IndexError list index out of range; look at /patch/turns$"):
            scenario.run(RulesetRegistry([rules]).get, {**COMBAT, "patch": {"turns": 0, "gold": {"0": 3}}})

    def test_what_shows_in_a_step_only(self) -> None:
        doc = {**COMBAT, "patch": {"frames": [{"n": 1, "kind": "turn", "asked": [0], "owing": [0]}], "turns": 3}}
        steps = [{"seat": 0, "move": {"type": "pass"}}]
        get = crooked(lost_pass).get
        with pytest.raises(ScenarioError, match=r"^step 1: the rules fail: KeyError 'turn_of'; look at /patch/frames"):
            scenario.run(get, {**doc, "steps": steps})
        with pytest.raises(ScenarioError, match=r"^step 1: the rules fail: KeyError 'turn_of'$"):
            scenario.run(get, {**{k: v for k, v in doc.items() if k != "patch"}, "steps": steps})

    @pytest.mark.parametrize("entry", FLOWS, ids=lambda entry: entry.name)
    def test_a_game_of_its_own_has_none(self, entry: Any) -> None:
        match = InMemoryGame(entry.rules, entry.seats, bytes(32))
        for _ in range(60):
            assert not list(find_unknown_ids(entry.rules, match.state, entry.seats, ()))
            if not match.state.frames:
                break
            match.resolve() if match.state.top.engine else match.lapse()


def lost_pass(d: Draft[Any], frame: Frame, seat: int, move: skirmish.Pass) -> None:
    raise KeyError("turn_of")


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
        "/steps/0: an object with one of move, moves, deadline, engine, rewind, join, leave is",
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


def test_the_documentation_names_every_member_of_a_frame_and_of_a_combat() -> None:
    text = DOCS.read_text(encoding="utf-8")
    of = [Frame, soe.Combat, soe.Party, soe.Loss]
    names = [f"`{f.name}`" for kind in of for f in fields(kind)] + [f'`["{step}"' for step in STEPS]
    assert [name for name in names if name not in text] == []

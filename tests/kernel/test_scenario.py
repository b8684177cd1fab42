"""Scenarios: what holds passes, what does not is told with its step, what was expected and what was found."""

from __future__ import annotations

from typing import ClassVar

import pytest

from domain.errors import RuleError, ScenarioError
from domain.kernel import scenario
from domain.kernel.records.record import Record
from domain.types import Json
from tests.kernel.scenarios import (
    ATTACK,
    CATALOGUE,
    COMBAT,
    after,
    fails,
    played,
    with_step,
)


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

    def test_a_pause_stops_moves_unless_it_allows_them(self) -> None:
        move = {"seat": 0, "move": {"type": "submit"}}
        refused = {"expect": {"refused": "game_paused"}}
        steps = [{"pause": {}}, move | refused, {"pause": {"moves": True}}, move, {"resume": True}]
        steps += [{"resume": True, "expect": {"refused": "not_paused"}}]
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "seed": 1, "steps": steps}
        assert [r.kind for r in scenario.run(CATALOGUE.get, doc).match.records[4:]] == [
            "ruled",
            "ruled",
            "moved",
            "ruled",
        ]

    def test_a_ruling_ends_the_game_until_it_is_withdrawn(self) -> None:
        move = {"seat": 0, "move": {"type": "submit"}}
        steps = [
            {"end": {"reason": "adjudicated", "places": [1]}, "expect": {"refused": "ruling_invalid"}},
            {"end": {"reason": "forfeited", "forfeits": [1], "penalties": {"1": 3}}},
            move | {"expect": {"refused": "game_over"}},
            {"withdraw": True},
            move,
        ]
        doc = {"ruleset": "orders@1", "table": {"seats": 2}, "seed": 1, "steps": steps}
        assert [r.kind for r in scenario.run(CATALOGUE.get, doc).match.records[4:]] == ["ruled", "ruled", "moved"]

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

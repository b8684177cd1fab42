"""The start of a scenario: variants, draws, seeds, patches of the state, and faults of the rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from domain.errors import RuleError, ScenarioError
from domain.kernel import scenario
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Frame
from domain.kernel.scenario.patches import find_unknown_ids
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import Json
from tests.kernel.flows import skirmish
from tests.kernel.scenarios import (
    ATTACK,
    CATALOGUE,
    COMBAT,
    DICE,
    HELP,
    NO_HELP,
    ROLL,
    SEEDED,
    fails,
    played,
    with_step,
)
from tests.rulesets import FLOWS


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

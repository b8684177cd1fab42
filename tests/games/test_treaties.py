"""Treaties of every game: their sentences, the deeds read from stored games, and the judges."""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from domain.kernel.records.export import parse
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.rules.treaties import END, TURN, Promise, date_deeds
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import SHIPPED, load_shipped
from domain.types import Doc

REGISTRY = load_shipped()
LOGS = Path(__file__).parents[1] / "logs"

DEEDS = {
    "aor3": {TURN, "attacked", "entered", "bid", "sided"},
    "egc": {TURN, "attacked"},
    "imp3": {TURN, "attacked", "entered", "played"},
    "se7-3": {TURN, "attacked", "entered"},
    "soe4": {TURN, "attacked", "entered", "bid", "sided"},
}
"""Kinds of deeds that stored games have."""


def rules_of(game: str) -> AnyRuleset:
    return REGISTRY.latest(game)


def judge(rules: AnyRuleset, kind: str, values: Doc, facts: Iterable[Doc], since: int = 0) -> tuple[str, int | None]:
    """The verdict on a promise of seat 0 to seat 1, with one record for each fact."""
    found = rules.treaties.find(kind)
    assert found is not None
    assert found.judge is not None
    deeds = date_deeds(rules.treaties, enumerate(facts, 1), {})
    state, version = found.judge(Promise(0, 1, values), (each for each in deeds if each.version > since))
    return state, version


@pytest.mark.parametrize("game", SHIPPED)
def test_every_kind_has_its_sentence_and_its_questions(game: str) -> None:
    rules = rules_of(game)
    samples = {
        "seat": 1,
        "region": next(iter(rules.treaties.regions)),
        "card": next(iter(rules.treaties.cards), ""),
        "amount": 2,
        "turn": 3,
    }
    for lang in LANGUAGES:
        texts = load_texts(rules.package, lang)
        assert all(texts.get(f"word.{each}") for each in (*rules.treaties.regions, *rules.treaties.cards))
        for kind in rules.treaties.kinds:
            values = {name: samples[each.kind] for name, each in kind.fields.items()}
            members = {**values, "seat": 0, "others": [1], "until": {"turn": 3}}
            text = texts.render(f"treaty.{kind.name}", members) or ""
            assert text.endswith("."), (kind.name, text)
            assert texts.get(f"treaty.{kind.name}.name"), kind.name
            assert all(texts.get(f"ask.treaty.{name}") for name in kind.fields)
            for name, each in kind.fields.items():
                if each.kind in ("region", "card"):
                    assert texts.noun(values[name]).bare in text
                if each.kind in ("amount", "turn"):
                    assert str(values[name]) in text


@pytest.mark.parametrize("name", DEEDS)
def test_a_stored_game_tells_its_deeds(name: str) -> None:
    export = parse(lzma.decompress((LOGS / f"{name}.jsonl.xz").read_bytes()))
    rules = REGISTRY.get(export.records[0].body["ruleset"])
    facts = ((record.version, fact) for record in export.records for fact in record.public.get("facts", ()))
    deeds = list(date_deeds(rules.treaties, facts, {}))
    found = Counter(done.deed.kind for done in deeds)
    assert DEEDS[name] <= {*found}, found
    seats = range(export.records[0].body["seats"])
    assert all(done.deed.by in seats for done in deeds if done.deed.kind not in (TURN, END, "goal"))
    assert any(done.deed.whom in seats for done in deeds if done.deed.kind == "attacked")
    places = {done.deed.place for done in deeds if done.deed.kind == "entered" and done.deed.place}
    assert places <= {*rules.treaties.regions}


WAR, NEXT = {"t": "war_started", "war": 1}, {"t": "war_started", "war": 2}
ATTACK = {"t": "attack_declared", "seat": 1, "region": "baltic", "kind": "player", "target": 0}


class TestJudges:
    """One record for each fact: the number of the record that decides."""

    def test_truce_is_broken_by_first_attack_or_kept_till_the_end(self) -> None:
        rules = rules_of("struggle_of_empires")
        assert judge(rules, "truce_until", {"turn": 1}, [WAR, ATTACK, ATTACK]) == ("broken", 2)
        assert judge(rules, "truce_until", {"turn": 1}, [WAR, ATTACK], since=2) == ("holds", None)
        assert judge(rules, "truce_until", {"turn": 1}, [WAR, NEXT, ATTACK]) == ("kept", 2)
        assert judge(rules, "truce_until", {"turn": 1}, [WAR, ATTACK | {"target": 2}]) == ("holds", None)
        assert judge(rules, "peace", {}, [WAR, NEXT, ATTACK]) == ("broken", 3)

    def test_who_keeps_out_of_region_neither_enters_nor_attacks_it(self) -> None:
        rules, values = rules_of("struggle_of_empires"), {"who": 1, "region": "baltic", "turn": 1}
        moved = {"t": "unit_moved", "seat": 1, "from": "africa", "to": "baltic", "at": "baltic"}
        assert judge(rules, "keep_out_of", values, [WAR, moved]) == ("broken", 2)
        assert judge(rules, "keep_out_of", values, [WAR, moved | {"seat": 0}]) == ("holds", None)
        assert judge(rules, "leave_me", {"region": "baltic", "turn": 1}, [WAR, ATTACK | {"target": 2}]) == ("broken", 2)

    def test_joint_attack_is_kept_by_both_and_broken_by_its_end(self) -> None:
        rules, values = rules_of("struggle_of_empires"), {"target": 2, "turn": 1}
        both = [ATTACK | {"seat": seat, "target": 2} for seat in (0, 1)]
        assert judge(rules, "attack_together", values, [WAR, *both]) == ("kept", 3)
        assert judge(rules, "attack_together", values, [WAR, both[0]]) == ("holds", None)
        assert judge(rules, "attack_together", values, [WAR, both[0], NEXT, both[1]]) == ("broken", 3)

    def test_gold_may_be_given_in_parts(self) -> None:
        rules, values = rules_of("struggle_of_empires"), {"who": 0, "to": 1, "amount": 5, "turn": 1}
        gift = {"t": "gold_given", "seat": 0, "to": 1, "gold": 3}
        assert judge(rules, "give", values, [WAR, gift]) == ("holds", None)
        assert judge(rules, "give", values, [WAR, gift, gift]) == ("kept", 3)
        assert judge(rules, "give", values, [WAR, gift, gift | {"seat": 1, "to": 0}, NEXT]) == ("broken", 4)

    def test_bids_and_sides(self) -> None:
        rules = rules_of("struggle_of_empires")
        bids = [{"t": "bid_made", "seat": 1, "amount": amount} for amount in (3, 4)]
        assert judge(rules, "bid_limit", {"amount": 3, "turn": 1}, [WAR, *bids]) == ("broken", 3)
        sides = [{"t": "aligned", "seat": seat, "alliance": side} for seat, side in ((0, "upper"), (1, "lower"))]
        assert judge(rules, "same_side", {"turn": 1}, [WAR, *sides]) == ("broken", 3)
        assert judge(rules, "same_side", {"turn": 1}, [WAR, sides[0], sides[0] | {"seat": 1}]) == ("kept", 3)
        assert judge(rules, "same_side", {"turn": 1}, [WAR, sides[0], NEXT]) == ("not_decidable", None)

    def test_what_is_a_games_own(self) -> None:
        turn: Doc = {"t": "turn_started", "turn": 1}
        imp, goal = rules_of("imperunde"), {"amount": 40, "turn": 1}
        assert judge(imp, "goal", goal, [turn, {"t": "goal_changed", "goal": 40}]) == ("kept", 2)
        assert judge(imp, "goal", goal, [turn, turn | {"turn": 2}]) == ("broken", 2)
        war = {"t": "stance_set", "seat": 0, "target": 1, "pair": "0-1", "stance": "war", "change": 1}
        assert judge(imp, "peace", {}, [turn, war]) == ("broken", 2)
        assert judge(imp, "peace", {}, [turn, war | {"stance": "peace"}]) == ("holds", None)
        egc, given = rules_of("egc"), {"who": 0, "to": 1, "region": "algeria", "turn": 1}
        assert judge(
            egc, "give_territory", given, [turn, {"t": "territory_given", "seat": 0, "to": 1, "territory": "algeria"}]
        ) == ("kept", 2)
        closed = {"t": "strait_set", "strait": "suez", "seat": 1, "target": 0, "closed": True}
        assert judge(egc, "passage", {"who": 1, "turn": 1}, [turn, closed]) == ("broken", 2)
        assert judge(egc, "passage", {"who": 1, "turn": 1}, [turn, closed | {"target": 5}]) == ("holds", None)
        se7 = rules_of("seven_empires")
        facts: list[Doc] = [
            {"t": "monarchs_assigned", "monarchs": [{"empire": "russia", "seat": 1}]},
            {"t": "decade_started", "decade": 1, "year": 1800},
            {"t": "marker_placed", "seat": 0, "empire": "prussia", "action": "attack", "mode": "monarch"},
            {"t": "fought", "region": "warsaw", "empire": "prussia", "against": "russia"},
        ]
        assert judge(se7, "peace", {}, facts) == ("broken", 4)

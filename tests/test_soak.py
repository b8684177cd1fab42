"""The soak in small, with fixed seeds: what the long one proves, and that it can fail."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import OptionType
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import Boolean, IntegerRange, ListOf, Nullable, Word
from tests import soak
from tests.kernel.flows import skirmish
from tests.rulesets import FLOWS, GAMES, REGISTERED, Registered

SMALL = soak.Size(games=4, probes=3.0, examples=3, steps=10)
SKIRMISH, PASSAGE, *_ = FLOWS
TINY = soak.Size(games=2, probes=0.5, examples=0)


def round_of(entry: Registered, number: int, size: soak.Size) -> soak.Totals:
    totals = soak.Totals()
    for proof in soak.proofs(entry, number, size):
        totals.add(proof)
    return totals


@pytest.mark.parametrize("entry", FLOWS, ids=lambda e: e.name)
def test_a_round_holds_and_everything_occurs(entry: Registered) -> None:
    totals = round_of(entry, 6, SMALL)
    assert totals.failed == 0
    assert soak.never(entry, totals) == {}
    assert soak.summary(entry, totals, 6)["ok"]


@pytest.mark.parametrize("entry", GAMES, ids=lambda e: e.name)
def test_a_small_round_of_a_whole_game_holds(entry: Registered) -> None:
    """What occurs in so few games is no matter here."""
    totals = round_of(entry, 6, soak.Size(games=1, probes=0.1, examples=1, steps=10))
    assert (totals.failed, totals.games > len(entry.rules.meta.seats)) == (0, True)


def test_a_round_is_the_same_every_time() -> None:
    one, two = (round_of(SKIRMISH, 3, TINY) for _ in range(2))
    assert one == two
    assert round_of(SKIRMISH, 4, TINY) != one


class TestTables:
    def test_every_number_of_seats_and_values_of_every_option(self) -> None:
        found = list(soak.tables(PASSAGE, random.Random(1)))
        assert {seats for seats, _ in found} == {2, 3}
        assert {options["turns"] for _, options in found if options} >= {1, 80}

    @pytest.mark.parametrize(
        ("option", "values"),
        [
            (OptionType(Boolean(), False), {False, True}),
            (OptionType(Word(("a", "b", "c")), "b"), {"a", "b", "c"}),
            (OptionType(IntegerRange(2, 5), 3), {2, 3, 4, 5}),
            (OptionType(Nullable(Boolean()), None), {None, False, True}),
            (OptionType(ListOf(IntegerRange()), ()), {()}),
        ],
        ids=["bool", "word", "int", "null", "list"],
    )
    def test_values_of_an_option(self, option: OptionType, values: set[Any]) -> None:
        assert set(soak.option_values(option, random.Random(1))) == values

    def test_a_wide_option_is_tried_at_its_ends(self) -> None:
        values = soak.option_values(OptionType(IntegerRange(1, 99), 10), random.Random(1))
        assert {1, 10, 40} <= set(values)
        assert len(values) <= 4


class TestCrossed:
    """`--games` and `--cross`: so many games for each number of seats and value of some options."""

    ENTRY = next(entry for entry in GAMES if entry.name == "seven_empires@1")

    def test_every_number_of_seats_with_every_value(self) -> None:
        crossed = soak.Crossed(25, ("setup",))
        games: Counter[tuple[int, str]] = Counter()
        for seats, options, number in soak.crossed_tables(self.ENTRY, random.Random(1), crossed):
            assert number <= soak.BATCH
            games[seats, options["setup"]] += number
        setups = ("distribution", "draft", "draft_simple")
        assert games == {(seats, setup): 25 for seats in range(2, 7) for setup in setups}

    def test_other_options_are_drawn_among_those_that_fit(self) -> None:
        crossed = soak.Crossed(100, ("setup",))
        found = [options for _, options, _ in soak.crossed_tables(self.ENTRY, random.Random(1), crossed)]
        assert {options["decades"] for options in found} == {8, 9, 10}
        assert {options["quick_start"] for options in found} == {False, True}
        drafts = [options for options in found if options["setup"] != "distribution"]
        assert {options["distribution_card"] for options in drafts} == {"random"}
        assert len({options["distribution_card"] for options in found}) > 5

    def test_options_set_by_the_test_are_kept_unless_crossed(self) -> None:
        entry = replace(PASSAGE, options={"turns": 5})
        for options, turns in (((), {5}), (("turns",), {1, 80})):
            found = soak.crossed_tables(entry, random.Random(1), soak.Crossed(1, options))
            assert {of["turns"] for _, of, _ in found} >= turns

    def test_the_totals_count_what_was_finished_by_table(self) -> None:
        totals, crossed = soak.Totals(), soak.Crossed(2, ("turns",))
        for proof in soak.proofs(PASSAGE, 1, TINY, crossed=crossed):
            totals.add(proof)
        counts = soak.summary(PASSAGE, totals, 1)["finished_by_table"]
        assert counts["2 seats, turns 1"] == counts["3 seats, turns 80"] == 2
        assert set(counts.values()) == {2}


def crooked(d: Draft[Any], frame: Frame, seat: int, move: skirmish.Pass) -> None:
    d.add(skirmish.GoldSet(seat, -1))
    skirmish.do_pass(d, frame, seat, move)


def broken() -> Registered:
    rules: Ruleset[Any] = replace(skirmish.RULESET, handlers={**skirmish.RULESET.handlers, "pass": crooked})
    return replace(SKIRMISH, rules=rules)


class TestFailures:
    def test_a_broken_ruleset_fails_its_proofs(self, capsys: pytest.CaptureFixture[str]) -> None:
        said: list[soak.Doc] = []
        assert not soak.soak([broken()], 1, 0.0, said.append, size=replace(TINY, examples=20))
        assert {doc["proof"] for doc in said if not doc["ok"]} == {"simulation", "mutations", "machine", "totals"}
        assert said[-1]["failed_proofs"] > 0
        assert capsys.readouterr().out == ""

    def test_what_never_occurs_is_a_failure(self) -> None:
        totals = round_of(SKIRMISH, 1, SMALL)
        totals.counts["moves"]["attack"] = 0
        totals.counts["codes"]["invalid_target"] = 0
        assert soak.never(SKIRMISH, totals) == {"moves": ["attack"], "codes": ["invalid_target"]}
        assert not soak.summary(SKIRMISH, totals, 1)["ok"]

    def test_what_is_explained_is_none(self) -> None:
        totals = round_of(SKIRMISH, 1, SMALL)
        assert totals.counts["codes"]["already_answered"] == 0
        assert "codes" not in soak.never(SKIRMISH, totals)

    def test_a_failed_proof_fails_the_totals(self) -> None:
        totals = round_of(SKIRMISH, 1, SMALL)
        totals.add({"proof": "machine", "ok": False})
        assert soak.summary(SKIRMISH, totals, 1)["failed_proofs"] == 1
        assert not soak.summary(SKIRMISH, totals, 1)["ok"]


def test_explanations_name_what_exists_and_give_a_reason() -> None:
    entries = {entry.name: entry for entry in REGISTERED}
    table = json.loads(soak.EXPLAINED.read_text(encoding="utf-8"))
    for name, parts in table.items():
        known = soak.universe(entries[name])
        for part, reasons in parts.items():
            assert set(reasons) <= set(known[part]), (name, part)
            assert all(len(reason.split()) > 2 for reason in reasons.values()), (name, part)


def test_counts_of_all_proofs_are_added() -> None:
    totals = soak.Totals()
    for _ in range(2):
        totals.add({"ok": True, "games": 3, "moves_by_type": {"pass": 2}, "refusals_by_code": {"game_over": 1}})
    assert totals.games == 6
    assert totals.counts == {
        "moves": Counter({"pass": 4}),
        "facts": Counter(),
        "codes": Counter({"game_over": 2}),
        "things": Counter(),
    }


class TestProgram:
    def test_one_json_line_per_proof(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(soak, "Size", lambda: SMALL)
        assert soak.main(["skirmish", "--minutes", "0", "--seed", "6"]) == 0
        docs = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
        assert [doc["proof"] for doc in docs[-2:]] == ["machine", "totals"]
        assert {doc["proof"] for doc in docs} == {"simulation", "mutations", "machine", "totals"}
        assert all(doc["ok"] and doc["ruleset"] == "skirmish@1" and "seed" in doc for doc in docs)

    def test_rounds_go_on_until_the_time_is_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = iter([0.0, 30.0, 59.0, 61.0])
        monkeypatch.setattr(soak, "monotonic", lambda: next(clock))
        said: list[soak.Doc] = []
        soak.soak([SKIRMISH], 1, 1.0, said.append, size=TINY)
        assert len({doc["seed"] // 1000 for doc in said[:-1]}) == 3

    def test_one_round_of_so_many_games(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(soak, "Size", lambda: TINY)
        soak.main(["passage", "--games", "3", "--cross", "turns"])
        totals = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert set(totals["finished_by_table"].values()) == {3}
        assert "3 seats, turns 1" in totals["finished_by_table"]

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (["passage", "--games", "1", "--cross", "colour"], "not every game has the option colour"),
            (["passage", "--cross", "turns"], "--cross needs --games"),
            (["passage", "--games", "1", "--minutes", "5"], "not allowed with"),
        ],
    )
    def test_wrong_usage(self, args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            soak.main(args)
        assert stop.value.code == 2
        assert said in capsys.readouterr().err

    def test_a_game_that_is_not_registered(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            soak.main(["chess"])
        assert stop.value.code == 2
        assert "no such game: chess" in capsys.readouterr().err

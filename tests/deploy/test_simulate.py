"""Simulations: the same figures for the same seed, however many processes; faults of the rules are found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.simulation import simulate as module
from deploy.simulation.simulate import PASSES, list_fact_kinds, list_refusal_codes, simulate
from domain.errors import InvalidTable, RuleError
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.rules.choices import Builder
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Dice, Ruleset
from domain.kernel.schema.declarations import Move
from domain.types import Doc, Json, Seat
from tests.kernel.flows import sealed, skirmish
from tests.rulesets import FLOWS, Registered

TIMES = ("seconds", "moves_per_second")


def timeless(doc: dict[str, Json]) -> dict[str, Json]:
    return {k: v for k, v in doc.items() if k not in TIMES}


def with_rules(**change: Any) -> Ruleset[Any]:
    return replace(skirmish.RULESET, **change)


def with_do(kind: str, do: Any) -> Ruleset[Any]:
    return with_rules(handlers={**skirmish.RULESET.handlers, kind: do})


class TestFigures:
    @pytest.mark.parametrize("entry", FLOWS, ids=lambda e: e.name)
    def test_games_end_without_a_fault(self, entry: Registered) -> None:
        doc = simulate(entry.rules, entry.seats, 2, 3)
        assert (doc["games"], doc["finished"], doc["invariant_failures"]) == (2, 2, 0), doc["first_failures"]
        assert doc["moves"] == sum(doc["moves_by_type"].values()) > 0
        assert doc["facts"] == sum(doc["facts_by_kind"].values()) > doc["moves"]
        assert set(doc["moves_by_type"]) == set(entry.rules.moves)
        assert set(doc["facts_by_kind"]) == set(list_fact_kinds(entry.rules))
        assert set(doc["refusals_by_code"]) == set(list_refusal_codes(entry.rules))

    def test_the_same_seed_gives_the_same_figures(self) -> None:
        one, two = (timeless(simulate(sealed.RULESET, 3, 3, 5)) for _ in range(2))
        assert one == two
        assert timeless(simulate(sealed.RULESET, 3, 3, 6)) != one

    @pytest.mark.parametrize("jobs", [2, 3, 9])
    def test_the_number_of_processes_changes_nothing(self, jobs: int) -> None:
        assert timeless(simulate(sealed.RULESET, 3, 5, 5, jobs=jobs)) == timeless(simulate(sealed.RULESET, 3, 5, 5))

    def test_more_games_begin_with_the_same_games(self, tmp_path: Path) -> None:
        for games in (1, 3):
            simulate(sealed.RULESET, 3, games, 5, export_dir=tmp_path / str(games))
        assert (tmp_path / "1/sealed-5-0.jsonl").read_bytes() == (tmp_path / "3/sealed-5-0.jsonl").read_bytes()

    def test_probes_do_not_change_the_games(self) -> None:
        with_probes, without = (simulate(sealed.RULESET, 3, 3, 5, probes=p) for p in (3.0, 0.0))
        assert with_probes["moves_by_type"] == without["moves_by_type"]
        assert sum(without["refusals_by_code"].values()) == 0

    def test_options_are_those_of_the_table(self) -> None:
        doc = simulate(skirmish.RULESET, 3, 1, 1, {"turns": 1})
        assert doc["options"] == {"turns": 1}
        assert doc["facts_by_kind"]["turn_begun"] == 1

    def test_a_table_that_the_rules_forbid(self) -> None:
        with pytest.raises(InvalidTable):
            simulate(skirmish.RULESET, 9, 1, 1)

    def test_passes_and_scores(self) -> None:
        rules = with_rules(bot=lambda *_: iter([{"type": "pass"}]))
        doc = simulate(rules, 3, 2, 1, bot="heuristic")
        assert doc["passes_share"] == 1.0
        assert doc["moves_by_type"]["pass"] == doc["moves"] == 24
        assert doc["mean_points"] == [4.0, 4.0, 4.0]
        assert doc["mean_place"] == [1.0, 1.0, 1.0]
        assert "pass" in PASSES

    def test_one_bot_per_seat(self) -> None:
        def miser(sight: Json, decision: Json, seat: Seat, _: Dice) -> Iterator[Doc]:
            assert seat == 1
            yield {"type": "pass"}

        doc = simulate(with_rules(bot=miser), 3, 4, 1, bot=["builder", "heuristic", "builder"])
        assert doc["bot"] == ["builder", "heuristic", "builder"]
        assert doc["invariant_failures"] == 0
        assert doc["moves_by_type"]["attack"] > 0

    def test_wild_games_hold_deadlines_rewinds_and_new_players(self, tmp_path: Path) -> None:
        doc = simulate(sealed.RULESET, 4, 8, 2, {"turns": 30}, export_dir=tmp_path, wild=True)
        assert doc["invariant_failures"] == 0, doc["first_failures"]
        assert doc["facts_by_kind"]["vacated"] > 0
        assert doc["facts_by_kind"]["seated"] > 0
        kinds = {r.kind for p in tmp_path.iterdir() for r in export.parse(p.read_bytes()).records}
        assert kinds >= {"moved", "lapsed", "rewound", "left", "joined", "closed"}


class TestExports:
    def test_every_game_is_written_and_verifies(self, tmp_path: Path) -> None:
        simulate(sealed.RULESET, 3, 3, 5, export_dir=tmp_path / "new" / "folder", jobs=2)
        files = sorted((tmp_path / "new" / "folder").iterdir())
        assert [p.name for p in files] == [f"sealed-5-{i}.jsonl" for i in range(3)]
        for path in files:
            assert verify.verify(sealed.RULESET, export.parse(path.read_bytes())).closed


def crooked_pass(d: Draft[Any], frame: Frame, seat: Seat, move: skirmish.Pass) -> None:
    d.add(skirmish.GoldSet(seat, -1))
    skirmish.do_pass(d, frame, seat, move)


def forgetful_pass(d: Draft[Any], frame: Frame, seat: Seat, move: skirmish.Pass) -> None:
    skirmish.do_pass(d, frame, seat, move)
    d.state = replace(d.state, gold=tuple(g + 1 for g in d.state.gold))


def crashing_attack(d: Draft[Any], frame: Frame, seat: Seat, move: skirmish.Attack) -> None:
    {"known": 1}[str(move.target)]


def unlisted_attack(d: Draft[Any], frame: Frame, seat: Seat, move: skirmish.Attack) -> None:
    if move.target == seat:
        raise RuleError("cannot_attack_yourself", "SK-1")
    skirmish.do_attack(d, frame, seat, move)


class Reconsider(Move, frozen=True):
    """Stands in no list."""


def stubborn(s: skirmish.Skirmish, seat: Seat) -> Builder:
    yield from ()
    return Reconsider()


def dying_pass(d: Draft[Any], frame: Frame, seat: Seat, move: skirmish.Pass) -> None:
    os._exit(7)


class TestFaults:
    @pytest.mark.parametrize(
        ("rules", "told"),
        [
            (with_do("pass", crooked_pass), "broken: gold of 0"),
            (with_do("pass", forgetful_pass), "the records fold to another position"),
            (with_do("attack", crashing_attack), "KeyError"),
            (with_do("attack", unlisted_attack), "the refusal cannot_attack_yourself stands in no list"),
            (with_rules(build=stubborn), "unknown_move"),
        ],
        ids=["invariant", "fact", "crash", "code", "builder"],
    )
    def test_a_fault_of_the_rules_is_counted_and_told(self, rules: Ruleset[Any], told: str) -> None:
        doc = simulate(rules, 3, 4, 1, probes=6.0)
        assert doc["invariant_failures"] > 0
        assert len(doc["first_failures"]) <= module.MAX_TEXTS
        assert any(told in text for text in doc["first_failures"]), doc["first_failures"]
        assert doc["first_failures"][0].startswith("seats 3, seed 1, game ")

    def test_a_game_without_end_does_not_count_as_finished(self) -> None:
        rules = with_rules(meta=replace(skirmish.RULESET.meta, max_moves=3))
        doc = simulate(rules, 3, 2, 1)
        assert doc["finished"] == 0
        assert doc["mean_place"] == [None, None, None]

    def test_a_process_that_dies_is_no_result(self) -> None:
        with pytest.raises(RuntimeError, match="ended with 7"):
            simulate(with_do("pass", dying_pass), 3, 2, 1, jobs=2)

"""Chances in a closed game, estimated by games played on."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domain.analysis import Swing, list_swings, list_turn_starts, play_on
from domain.kernel.game.game_fold import active_versions
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.ruleset_registry import load_shipped
from tests import calibration

LOGS = Path(__file__).parent.parent / "logs"


@pytest.fixture(scope="module")
def closed() -> Export:
    return export.parse(lzma.decompress((LOGS / "se7-3.jsonl.xz").read_bytes()))


@pytest.fixture(scope="module")
def rules(closed: Export) -> Any:
    return load_shipped().get(closed.ruleset)


def test_each_turn_that_counts_begins_once(closed: Export, rules: Any) -> None:
    found = list(list_turn_starts(rules, closed.records))
    versions = [version for version, _, _ in found]
    assert [chapter.turn for _, chapter, _ in found] == list(range(1, 9))
    assert versions == sorted(versions)
    assert set(versions) <= set(active_versions(closed.records))


def test_a_seed_repeats_the_endings_and_they_add_up(closed: Export, rules: Any) -> None:
    *_, (_, _, state) = list_turn_starts(rules, closed.records)
    found = play_on(rules, state, 4, seed=3)
    assert found == play_on(rules, state, 4, seed=3)
    assert sum(found.firsts) == pytest.approx(1)
    assert sum(found.chances) == pytest.approx(1)
    assert all(0 < chance < 1 for chance in found.chances), "a few games are no certainty"
    assert [len(each) for each in found.points] == [4, 4, 4]
    assert all(list(each) == sorted(each) for each in found.points)


def test_the_largest_changes_come_first() -> None:
    rows = [(5, (0.5, 0.5)), (9, (0.6, 0.4)), (20, (0.2, 0.8)), (30, (0.2, 0.8))]
    found = list_swings(rows, most=3)
    assert [replace(each, change=round(each.change, 6)) for each in found] == [
        Swing(0, -0.4, 9, 20),
        Swing(1, 0.4, 9, 20),
        Swing(0, 0.1, 5, 9),
    ]


def test_chances_are_truer_than_an_even_guess(capsys: pytest.CaptureFixture[str]) -> None:
    calibration.main(["seven_empires@1", "3", "--games", "6", "--played-on", "5"])
    told = dict(line.rsplit(": ", 1) for line in capsys.readouterr().out.splitlines() if line.startswith("Brier"))
    assert float(told["Brier score of chances"]) < float(told["Brier score of fair share"])

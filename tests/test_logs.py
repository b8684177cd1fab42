"""Exports of earlier versions verify for ever, one of them with rewinds and director's acts."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from domain.kernel.game.game_fold import state_known_to
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.ruleset_registry import load_shipped
from domain.types import PUBLIC

LOGS = sorted((Path(__file__).parent / "logs").glob("*.xz"))


def test_there_are_logs() -> None:
    assert len(LOGS) >= 8


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_of_before_verifies(path: Path) -> None:
    """Chain, seals, boards, every die, and every record decided again."""
    found = export.parse(lzma.decompress(path.read_bytes()))
    report = verify.verify(load_shipped().get(found.ruleset), found)
    assert report.closed
    assert report.decided == report.records


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_every_viewer_knows_enough_for_the_standings(path: Path) -> None:
    """No shipped ruleset needs a secret for them: none raises ScoresHidden, or anything else."""
    found = export.parse(lzma.decompress(path.read_bytes()))
    rules = load_shipped().get(found.ruleset)
    started = next(record.version for record in found.records if record.kind == "started")
    for version in range(started, len(found.records), max(len(found.records) // 4, 1)):
        records = found.records[:version]
        for viewer in (PUBLIC, 0, 1):
            assert rules.scores(state_known_to(rules, records, viewer))

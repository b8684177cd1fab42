"""Exports of earlier versions verify for ever, one of them with rewinds and director's acts."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.ruleset_registry import load_shipped

LOGS = sorted((Path(__file__).parent / "logs").glob("*.xz"))


def test_there_are_logs() -> None:
    assert len(LOGS) == 8


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_of_before_verifies(path: Path) -> None:
    """Chain, seals, boards, every die, and every record decided again."""
    found = export.parse(lzma.decompress(path.read_bytes()))
    report = verify.verify(load_shipped().get(found.ruleset), found)
    assert report.closed
    assert report.decided == report.records

"""Whole games by a client that knows no rules: decisions, choices, moves, nothing else."""

from __future__ import annotations

import random

import pytest

from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from tests.api.conftest import CATALOGUE, Site
from tests.api.player import play


@pytest.mark.parametrize(
    ("ruleset", "seats", "options"),
    [
        ("skirmish@1", 4, {}),
        ("passage@1", 3, {}),
        ("sealed@1", 4, {}),
        ("orders@1", 3, {}),
        ("windows@1", 5, {}),
        ("struggle_of_empires@1", 2, {}),
    ],
)
def test_a_whole_game(site: Site, ruleset: str, seats: int, options: dict[str, int]) -> None:
    """To its end, and it proves itself."""
    table = site.table(ruleset, seats, options=options)
    play(table, random.Random(7), 3_000)
    assert table.get().json["status"] == "closed"
    assert table.get("/decisions").json["decisions"] == []
    final = table.get("/scores").json
    assert final["final"] is True
    assert len(final["scores"]) == seats
    report = verify(CATALOGUE.get(ruleset), export.parse(table.get("/export").data))
    assert (report.closed, report.records) == (True, table.version)

"""Scenarios as strangers write them: from empty boards, in the middle of a battle, with deadlines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from domain.kernel import scenario
from domain.ruleset_registry import load_shipped

FOLDER = Path(__file__).with_name("scenarios")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_scenario_holds(path: Path) -> None:
    """AOR-4.6, AOR-9: every step with what it expects."""
    found = scenario.run(load_shipped().get, json.loads(path.read_text(encoding="utf-8")))
    assert found.match.rules.meta.ruleset == "age_of_reason@1"

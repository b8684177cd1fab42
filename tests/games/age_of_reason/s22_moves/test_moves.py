"""AOR-22: the table of all moves."""

from __future__ import annotations

import re
from pathlib import Path

from domain.games.age_of_reason import RULESET

PAGE = Path(__file__).parents[4] / "docs/rules/age_of_reason.md"


def test_table_of_the_page_lists_every_move_with_its_decision() -> None:
    """AOR-22: move and decision; the rule is the chapter in which the move is defined."""
    table = PAGE.read_text().split("## AOR-22")[1]
    rows = re.findall(r"^\| (`.*?) \| ([\w, ]+) \|.*\| ([\d.]+) \|$", table, re.MULTILINE)
    listed = {
        name: (tuple(decision.split(", ")), rule)
        for names, decision, rule in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    assert {name: kind.admission.at for name, kind in RULESET.moves.items()} == {
        name: decision for name, (decision, _) in listed.items()
    }
    for name, (_, rule) in listed.items():
        assert RULESET.moves[name].admission.rule.startswith(f"AOR-{rule}"), name

"""SOE-22: the table of all moves."""

from __future__ import annotations

import re
from pathlib import Path

from domain.games.struggle_of_empires import RULESET

PAGE = Path(__file__).parents[4] / "docs/rules/struggle_of_empires.md"


def test_table_of_the_page_lists_every_move_with_its_decision() -> None:
    """SOE-22: move and decision; the rule is the chapter in which the move is defined."""
    table = PAGE.read_text().split("## SOE-22")[1]
    rows = re.findall(r"^\| (`.*?) \| (\w+) \|.*\| ([\d.]+) \|$", table, re.MULTILINE)
    listed = {
        name: (decision, rule)
        for names, decision, rule in rows
        for name in re.findall(r"`(\w+)`", names)
        if name in RULESET.moves
    }
    assert {name: (kind.admission.at[0],) for name, kind in RULESET.moves.items()} == {
        name: (decision,) for name, (decision, _) in listed.items()
    }
    for name, (_, rule) in listed.items():
        chapter = "9.3" if name == "use_tile" else rule
        assert RULESET.moves[name].admission.rule.startswith(f"SOE-{chapter}"), name

"""The game's page names every field, frame, move, code and fact."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import msgspec

from domain.games.imperunde import RULESET
from domain.games.imperunde.data import TIMEOUTS
from domain.games.imperunde.lots import Lot
from domain.games.imperunde.state import Budget, Combat, Country, ImpeRunde, Nation, Override, Pair, Staged, Zone

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/games/imperunde.md").read_text()


def rows(section: str) -> dict[str, str]:
    """First column -> rest of the row, of a section's tables."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*)\|$", text, re.MULTILINE))


def test_every_field_of_the_state_is_described() -> None:
    assert set(rows("State")) == {f.name for f in fields(ImpeRunde)}
    for part in (Nation, Country, Zone, Pair, Override, Budget, Combat, Staged, Lot):
        for f in fields(part):
            assert f"`{f.name}`" in PAGE, f.name


def test_every_frame_is_described() -> None:
    assert set(rows("Frames")) == {*TIMEOUTS["live"], *RULESET.go}


def test_every_move_and_field_is_described() -> None:
    listed = {name: rest for name, rest in rows("Moves").items() if not rest.startswith("IMP-")}
    assert set(listed) == set(RULESET.moves)
    for name, move in RULESET.moves.items():
        for field in (f.encode_name for f in msgspec.structs.fields(move)):
            assert f"`{field}`" in listed[name], (name, field)


def test_every_code_is_listed_with_its_rule() -> None:
    listed = {name: rest for name, rest in rows("Moves").items() if rest.startswith("IMP-")}
    assert {name: rule.strip() for name, rule in listed.items()} == dict(RULESET.meta.codes)


def test_every_kind_of_fact_is_described() -> None:
    assert set(rows("Facts")) == set(RULESET.facts)


def test_rules_of_codes_and_moves_exist() -> None:
    rules = (ROOT / "docs/rules/imperunde.md").read_text()
    for rule in {*RULESET.meta.codes.values(), *(m.admission.rule for m in RULESET.moves.values())}:
        assert re.search(rf"\*\*{re.escape(rule)}\b", rules), rule


def test_the_rules_page_names_every_code_that_is_raised() -> None:
    """IMP-0.3: no code is raised that the page does not know, and none is listed in vain."""
    source = "".join(p.read_text() for p in (ROOT / "domain/games/imperunde/rules").glob("*.py"))
    page = (ROOT / "docs/rules/imperunde.md").read_text()
    for code in RULESET.meta.codes:
        assert f'"{code}"' in source, code
        assert f"`{code}`" in page, code

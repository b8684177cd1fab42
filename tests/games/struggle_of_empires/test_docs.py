"""The game's page names every field, frame, move, code and fact."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import msgspec

from domain.games.struggle_of_empires import ANSWERS, RULESET, TURNS
from domain.games.struggle_of_empires.state import Auction, Combat, Empire, Loss, Offer, Party, Struggle, Terms, Turn

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/games/struggle_of_empires.md").read_text()


def rows(section: str) -> dict[str, str]:
    """First column -> rest of the row, of a section's tables."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*)\|$", text, re.MULTILINE))


def test_every_field_of_the_state_is_described() -> None:
    assert set(rows("State")) == {f.name for f in fields(Struggle)}
    for part in (Terms, Empire, Auction, Turn, Combat, Party, Offer, Loss):
        for f in fields(part):
            assert f"`{f.name}`" in PAGE, f.name


def test_every_frame_is_described() -> None:
    assert set(rows("Frames")) == {*TURNS, *ANSWERS, *RULESET.go}


def test_every_move_and_field_is_described() -> None:
    listed = {name: rest for name, rest in rows("Moves").items() if not rest.startswith("SOE-")}
    assert set(listed) == set(RULESET.moves)
    for name, move in RULESET.moves.items():
        for field in (f.encode_name for f in msgspec.structs.fields(move)):
            assert f"`{field}`" in listed[name], (name, field)


def test_every_code_is_listed_with_its_rule() -> None:
    listed = {name: rest for name, rest in rows("Moves").items() if rest.startswith("SOE-")}
    assert {name: rule.strip() for name, rule in listed.items()} == dict(RULESET.meta.codes)


def test_every_kind_of_fact_is_described() -> None:
    assert set(rows("Facts")) == set(RULESET.facts)


def test_rules_of_codes_exist() -> None:
    rules = (ROOT / "docs/rules/struggle_of_empires.md").read_text()
    for rule in {*RULESET.meta.codes.values(), *(m.admission.rule for m in RULESET.moves.values())}:
        assert f"**{rule}**" in rules, rule

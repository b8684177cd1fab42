"""The game's page names every field, frame, move, code and fact."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import msgspec

from domain.games.egc import RULESET
from domain.games.egc.state import Army, Count, Egc, Empire, Filed, Final, Garrison, Land, Proposal, Sheet, Spied, Terms

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/games/egc.md").read_text()
RULES = (ROOT / "docs/rules/egc.md").read_text()


def rows(section: str) -> dict[str, str]:
    """First column -> rest of the row, of a section's tables."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*)\|$", text, re.MULTILINE))


def test_every_field_of_the_state_is_described() -> None:
    """EGC-19.1."""
    assert set(rows("State")) == {f.name for f in fields(Egc)}
    for part in (Terms, Empire, Army, Land, Sheet, Filed, Spied, Count, Final, Garrison, Proposal):
        for f in fields(part):
            assert f"`{f.name}`" in PAGE, f.name


def test_every_frame_is_described() -> None:
    assert set(rows("Frames")) == {*RULESET.go, "resolving"}


def test_every_move_and_field_is_described() -> None:
    listed = {name: rest for name, rest in rows("Moves").items() if not rest.startswith("EGC-")}
    assert set(listed) == set(RULESET.moves)
    for name, move in RULESET.moves.items():
        for field in (f.encode_name for f in msgspec.structs.fields(move)):
            assert f"`{field}`" in listed[name], (name, field)


def test_every_code_is_listed_with_its_rule() -> None:
    """EGC-17.1."""
    listed = {name: rest for name, rest in rows("Moves").items() if rest.startswith("EGC-")}
    assert {name: rule.strip() for name, rule in listed.items()} == dict(RULESET.meta.codes)
    page = RULES.split("**EGC-17.1**")[1].split("\n")[0]
    assert set(re.findall(r"[a-z_]+", page.split("EGC-7.0.6:")[1])) == set(RULESET.meta.codes)


def test_every_kind_of_fact_is_described() -> None:
    """EGC-16.1."""
    assert set(rows("Facts")) == set(RULESET.facts)


def test_rules_of_codes_exist() -> None:
    for rule in {*RULESET.meta.codes.values(), *(m.admission.rule for m in RULESET.moves.values())}:
        assert f"**{rule}**" in RULES, rule

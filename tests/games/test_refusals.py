"""Refusals with several causes: a sentence for each, as somebody has read it.

The scenarios of the rules reach every cause (`Given.refused`).
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from tests.games.pages import ALL, ROOT, Pages

READ: list[dict[str, Any]] = json.loads(Path(__file__).with_name("refusals.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", READ, ids=lambda row: f"{row['game']}-{row['code']}-{row['figures']['cause']}")
def test_a_refusal_says_what_stands_against_the_move(row: dict[str, Any]) -> None:
    said = {
        lang: load_texts(f"domain.games.{row['game']}", lang).refusal(row["code"], row["figures"]) for lang in LANGUAGES
    }
    assert said == {lang: row[lang] for lang in LANGUAGES}


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_each_cause_of_the_rules_has_been_read_and_no_other(pages: Pages) -> None:
    texts = [key.split(".") for key in load_texts(pages.rules.package, "en").own if key.startswith("refusal.")]
    told = {cause for _, _, *causes in texts for cause in causes}
    assert told == {row["figures"]["cause"] for row in READ if row["game"] == pages.game}
    rules = [ast.parse(path.read_text()) for path in (ROOT / "domain/games" / pages.game / "rules").rglob("*.py")]
    words = {node.value for tree in rules for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert told <= words


def test_a_move_at_the_wrong_time_names_the_decision() -> None:
    """In words, not by its id; a decision without a name is left out."""
    texts = load_texts("domain.games.seven_empires", "en")
    assert texts.refusal("wrong_phase", {"deciding": "palace"}) == (
        "This move does not answer what is being decided: building of a palace."
    )
    assert texts.refusal("wrong_phase", {"deciding": "decade"}) == "This move does not answer what is being decided."

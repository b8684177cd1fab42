"""Every numbered rule of the page is named by a test, or is a definition."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/rules/egc.md"

DEFINITIONS: dict[str, str] = {}
"""Rules that define words or refer to others, and so cannot be broken by themselves."""


def rules() -> list[str]:
    """The numbers of the page, in its order."""
    return [f"EGC-{n}" for n in re.findall(r"^- \*\*EGC-([\d.]+)\*\*", PAGE.read_text(), re.MULTILINE)]


@functools.cache
def named() -> set[str]:
    """The numbers in the docstrings of tests."""
    found: set[str] = set()
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found |= set(re.findall(r"EGC-\d+(?:\.\d+)*", ast.get_docstring(node) or ""))
    return found


def test_every_rule_has_a_test_or_is_a_definition() -> None:
    missing = [rule for rule in rules() if rule not in named() and rule not in DEFINITIONS]
    assert len(rules()) > 140
    assert not missing


def test_no_definition_is_tested_or_unknown() -> None:
    assert not set(DEFINITIONS) & named()
    assert set(DEFINITIONS) <= set(rules())


def test_tests_name_only_rules_of_the_page() -> None:
    """A heading may be named, and an item of a numbered list below a rule."""
    headings = {f"EGC-{n}" for n in re.findall(r"^#+ EGC-([\d.]+)", PAGE.read_text(), re.MULTILINE)}
    strange = [rule for rule in named() - set(rules()) - headings if rule.rpartition(".")[0] not in rules()]
    assert not strange


def test_the_folders_follow_the_sections_of_the_page() -> None:
    for path in HERE.glob("s[0-9][0-9]_*/test_*.py"):
        section = int(path.parent.name[1:3])
        own = re.findall(r"EGC-(\d+)", path.read_text())
        assert str(section) in own, path

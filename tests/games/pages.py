"""The shipped games with their pages, for the tests that all of them share."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import SHIPPED, load_shipped

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, eq=False)
class Pages:
    """A game, its rules page, its page for clients, and its tests."""

    game: str
    rules: AnyRuleset

    @property
    def prefix(self) -> str:
        """Of the numbers of its rules."""
        return self.rules.meta.prefix

    @functools.cached_property
    def rules_page(self) -> str:
        """docs/rules."""
        return (ROOT / f"docs/rules/{self.game}.md").read_text()

    @functools.cached_property
    def page(self) -> str:
        """docs/games."""
        return (ROOT / f"docs/games/{self.game}.md").read_text()

    @property
    def tests(self) -> Path:
        """Where its tests are."""
        return ROOT / "tests/games" / self.game

    @functools.cached_property
    def numbers(self) -> list[str]:
        """The numbers of its rules, in the order of the page."""
        found = re.findall(rf"^(?:- )?\*\*{self.prefix}-(\d+(?:\.\d+)*)\b", self.rules_page, re.MULTILINE)
        return [f"{self.prefix}-{n}" for n in found]

    @functools.cached_property
    def headings(self) -> set[str]:
        """The numbers that stand in headings."""
        found = re.findall(rf"^#+ {self.prefix}-([\d.]+)", self.rules_page, re.MULTILINE)
        return {f"{self.prefix}-{n}" for n in found}

    @functools.cached_property
    def tested(self) -> set[str]:
        """The numbers in docstrings of its tests and of those of all games; `SOE-1.2 to SOE-1.4` is not spelt out."""
        found: set[str] = set()
        for path in (*self.tests.rglob("test_*.py"), *self.tests.parent.glob("test_*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    found |= set(re.findall(rf"{self.prefix}-\d+(?:\.\d+)*", ast.get_docstring(node) or ""))
        return found

    def rows(self, section: str) -> dict[str, str]:
        """First column -> rest of the row, of the tables of a section of the page for clients."""
        text = self.page.split(f"\n## {section}\n")[1].split("\n## ")[0]
        return dict(re.findall(r"^\| `(\w+)` \| (.*)\|$", text, re.MULTILINE))


ALL = tuple(Pages(game, load_shipped().latest(game)) for game in SHIPPED)

GROUPED = [pytest.param(p, id=p.game, marks=pytest.mark.xdist_group(f"stories of {p.game}")) for p in ALL]
"""The same for tests that read whole games: one process plays and tells each."""

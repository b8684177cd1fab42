"""Every numbered rule of a page is named by a test, or is a definition."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from tests.games.pages import ALL, Pages

DEFINITIONS: Mapping[str, str] = {
    "SOE-8.1.5": "the words principal, defender, side, take part",
}
"""Rules that define words or refer to others, and so cannot be broken by themselves."""

pytestmark = pytest.mark.parametrize("game", ALL, ids=lambda pages: pages.game)


def test_every_rule_has_a_test_or_is_a_definition(game: Pages) -> None:
    assert len(game.numbers) > 100
    assert not [rule for rule in game.numbers if rule not in game.tested and rule not in DEFINITIONS]


def test_no_definition_is_tested_or_unknown(game: Pages) -> None:
    own = {rule for rule in DEFINITIONS if rule.startswith(game.prefix)}
    assert not own & game.tested
    assert own <= set(game.numbers)


def test_tests_name_only_rules_of_the_page(game: Pages) -> None:
    """A heading may be named, and an item of a numbered list below a rule."""
    strange = game.tested - set(game.numbers) - game.headings
    assert not [rule for rule in strange if rule.rpartition(".")[0] not in game.numbers]


def test_the_folders_follow_the_sections_of_the_page(game: Pages) -> None:
    for path in game.tests.glob("s[0-9][0-9]_*/test_*.py"):
        own = re.findall(rf"{game.prefix}-(\d+)", path.read_text())
        assert str(int(path.parent.name[1:3])) in own, path

"""Whose rules a page shows: those of a table's game, or those of a ruleset without a table."""

from __future__ import annotations

from dataclasses import dataclass

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.labels import Labels
from api.pages.table.table_page import load_table_page
from api.services import services
from domain.errors import UnknownRuleset


@dataclass(frozen=True)
class RulesSource:
    """A ruleset with its words. `address`: the page before the rules, of the table or of the introduction."""

    ruleset: str
    labels: Labels
    address: str
    is_table: bool


def find_source_of_table(game: str) -> RulesSource:
    """Return the rules of a table's game. Raise RefusedCall."""
    page = load_table_page(game)
    return RulesSource(page.summary["ruleset"], page.labels, page.address, is_table=True)


def find_source(ruleset: str) -> RulesSource:
    """Return the rules of a ruleset. Raise Problem."""
    try:
        services().registry.get(ruleset)
    except UnknownRuleset:
        raise Problem("unknown_ruleset") from None
    labels = Labels.of_table({"ruleset": ruleset, "names": {}, "seats": []}, i18n.request_language())
    return RulesSource(ruleset, labels, f"/learn/{ruleset}", is_table=False)

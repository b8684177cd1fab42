"""Registry of the playable rulesets."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from domain.errors import UnknownRuleset
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import split_ruleset

SHIPPED: tuple[str, ...] = ("age_of_reason", "egc", "imperunde", "seven_empires", "struggle_of_empires")
"""Packages under `domain.games` with a tuple RULESETS."""


class RulesetRegistry:
    """Rulesets by name. Every version named by a stored game stays in it."""

    def __init__(self, rulesets: Iterable[AnyRuleset]) -> None:
        """Register the rulesets; raise ValueError for an invalid or repeated name."""
        self._by_name: dict[str, AnyRuleset] = {}
        self._latest: dict[str, tuple[int, AnyRuleset]] = {}
        for rules in rulesets:
            self._add(rules)

    def _add(self, rules: AnyRuleset) -> None:
        name = rules.meta.ruleset
        game, version = split_ruleset(name)
        if name in self._by_name:
            raise ValueError(f"two rulesets are called {name}")
        self._by_name[name] = rules
        if game not in self._latest or self._latest[game][0] < version:
            self._latest[game] = version, rules

    def get(self, name: str) -> AnyRuleset:
        """Return the ruleset of a name such as `struggle_of_empires@1`; raise UnknownRuleset."""
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownRuleset(name) from None

    def names(self) -> list[str]:
        """Return all names, ordered by game and version."""
        return sorted(self._by_name, key=split_ruleset)

    def latest(self, game: str) -> AnyRuleset:
        """Return the newest version of a game's rules (`struggle_of_empires`), for new tables; raise UnknownRuleset."""
        try:
            return self._latest[game][1]
        except KeyError:
            raise UnknownRuleset(game) from None


def load_shipped() -> RulesetRegistry:
    """Return a registry of the rulesets shipped with the service."""
    packages = [import_module(f"domain.games.{name}") for name in SHIPPED]
    return RulesetRegistry(rules for package in packages for rules in package.RULESETS)

"""The rulesets that this service can play."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from domain.errors import UnknownRuleset
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import split_ruleset

SHIPPED: tuple[str, ...] = ("age_of_reason", "egc", "imperunde", "seven_empires", "struggle_of_empires")
"""Packages under `domain.games` whose RULESETS are played."""


class Catalogue:
    """Rulesets by name; every version that a stored game may name stays in it."""

    def __init__(self, rulesets: Iterable[AnyRuleset]) -> None:
        """Raises ValueError for a name that is none, or that comes twice."""
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
        """The ruleset `struggle_of_empires@1`; raises UnknownRuleset."""
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownRuleset(name) from None

    def names(self) -> list[str]:
        """All names, by game and version."""
        return sorted(self._by_name, key=split_ruleset)

    def latest(self, game: str) -> AnyRuleset:
        """The newest version of a game's rules (`struggle_of_empires`), for new tables; raises UnknownRuleset."""
        try:
            return self._latest[game][1]
        except KeyError:
            raise UnknownRuleset(game) from None


def shipped() -> Catalogue:
    """What comes with the service."""
    packages = [import_module(f"domain.games.{name}") for name in SHIPPED]
    return Catalogue(rules for package in packages for rules in package.RULESETS)

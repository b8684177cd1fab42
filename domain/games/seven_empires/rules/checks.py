"""Checks shared by several moves (SE7-15.1). Each raises RuleError with the caller's rule number."""

from __future__ import annotations

from collections.abc import Iterable

from domain.games.common.checks import require
from domain.games.seven_empires.data import ACTIONS, CITIES, EMPIRES, REGIONS, UNITS
from domain.games.seven_empires.state import Seven

UNKNOWN = "SE7-15.1"


def known_empire(empire: str) -> None:
    """Raise RuleError for an unknown empire."""
    require(empire in EMPIRES, "unknown_empire", UNKNOWN, empire=empire)


def known_action(action: str) -> None:
    """Raise RuleError for an unknown action."""
    require(action in ACTIONS, "unknown_action", UNKNOWN, action=action)


def known_regions(*regions: str) -> None:
    """Raise RuleError for an unknown region."""
    for region in regions:
        require(region in REGIONS, "unknown_region", UNKNOWN, region=region)


def known_units(units: Iterable[str]) -> None:
    """Raise RuleError for an unknown unit."""
    for unit in units:
        require(unit in UNITS, "unknown_unit", UNKNOWN, unit=unit)


def need_own_city(region: str, empire: str, rule: str) -> None:
    """SE7-0.4: a city region of the empire."""
    own = region in CITIES and CITIES[region].empire == empire
    require(own, "not_own_city", rule, region=region, empire=empire)


def need_free_city(s: Seven, region: str, rule: str) -> None:
    """SE7-8.13: an unoccupied city region."""
    require(not s.occupied(region), "city_occupied", rule, region=region)


def need_own_free_city(s: Seven, region: str, empire: str, rule: str) -> None:
    """SE7-5.1 and others: an unoccupied own city region."""
    need_own_city(region, empire, rule)
    need_free_city(s, region, rule)


def need_city_tile(s: Seven, region: str, rule: str) -> None:
    """SE7-5.2: a city region of level 1 or 2."""
    require(s.level(region) > 0, "no_city_tile", rule, region=region)

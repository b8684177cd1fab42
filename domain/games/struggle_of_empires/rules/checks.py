"""Checks shared by several moves. Each raises RuleError with the caller's rule number."""

from __future__ import annotations

from domain.games.common.checks import is_legal, require
from domain.games.struggle_of_empires.data import REGIONS, SCORING
from domain.games.struggle_of_empires.state import Struggle
from domain.types import Seat

__all__ = [
    "is_legal",
    "need_action",
    "need_colony",
    "need_population",
    "need_region",
    "need_scoring_region",
    "need_supply",
    "require",
]


def need_action(s: Struggle, rule: str) -> None:
    """SOE-7.2.1: an action is left."""
    require(s.acting.actions_left > 0, "no_actions_left", rule)


def need_region(region: str, rule: str) -> None:
    """Raise RuleError unless it is a region of the map."""
    require(region in REGIONS, "unknown_region", rule, region=region)


def need_scoring_region(region: str, rule: str) -> None:
    """Raise RuleError unless it is a region of the map and no home country (SOE-1.7)."""
    need_region(region, rule)
    require(region in SCORING, "invalid_region", rule, cause="home", region=region)


def need_colony(region: str, rule: str) -> None:
    """Raise RuleError unless it is a colony of the map."""
    need_region(region, rule)
    require(REGIONS[region].kind == "colony", "invalid_region", rule, cause="colony", region=region)


def need_population(s: Struggle, seat: Seat, population: int, rule: str) -> None:
    """Raise RuleError unless the seat can pay the population."""
    have = s.empires[seat].population
    require(have >= population, "insufficient_population", rule, population=have, needed=population)


def need_supply(s: Struggle, seat: Seat, unit: str, rule: str) -> None:
    """SOE-1.1: a unit of this kind is in the seat's supply."""
    require(s.empires[seat].supply(unit) > 0, "no_unit_available", rule, unit=unit)

"""SE7-9: the action Attack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import ARMIES, CITIES, LIMITS, SHIPS, UNITS, Unit
from domain.games.seven_empires.facts.pieces import UnitsDeployed
from domain.games.seven_empires.moves import AttackDeploy
from domain.games.seven_empires.rules import movement
from domain.games.seven_empires.rules.acting import ask_actor
from domain.games.seven_empires.rules.checks import known_regions, known_units, need_own_free_city
from domain.games.seven_empires.rules.deploying import placed
from domain.games.seven_empires.state import D, Seven
from domain.games.seven_empires.value_objects import Placing
from domain.kernel.rules.flow import Frame
from domain.types import Seat

RULE = "SE7-9.1"
MOST = LIMITS["attack_deploy_units"]


def begin(d: D) -> None:
    """SE7-9.1."""
    ask_actor(d, frames.AttackDeploy)


def usable(s: Seven, empire: str) -> tuple[Unit, ...]:
    """SE7-9.1: armies, and ships where an own port is unoccupied."""
    ports = any(CITIES[region].anchor for region in s.free_cities(empire))
    return UNITS if ports else ARMIES


def number_due(s: Seven, empire: str) -> int:
    """SE7-9.1: two, or fewer where the supply of all usable types is smaller."""
    return min(MOST, sum(s.supply(empire, unit) for unit in usable(s, empire)))


def check_attack_deploy(s: Seven, seat: Seat, move: AttackDeploy) -> None:
    """SE7-15.8: the errors of `attack_deploy`, in this order."""
    known_regions(*(p.region for p in move.units))
    known_units(p.unit for p in move.units)
    require(len(move.units) <= MOST, "too_many_units", RULE, most=MOST)
    before: Counter[str] = Counter()
    for placing in move.units:
        check_placing(s, placing, before)
        before[placing.unit] += 1
    require(len(move.units) >= number_due(s, s.acting), "deployment_incomplete", RULE, due=number_due(s, s.acting))


def check_placing(s: Seven, placing: Placing, before: Counter[str]) -> None:
    """SE7-9.1: of one unit, after those before it."""
    need_own_free_city(s, placing.region, s.acting, RULE)
    port = placing.unit not in SHIPS or CITIES[placing.region].anchor is not None
    require(port, "not_a_port", RULE, region=placing.region)
    left = s.supply(s.acting, placing.unit) - before[placing.unit]
    require(left > 0, "supply_exhausted", "SE7-0.10", unit=placing.unit)


def do_attack_deploy(d: D, frame: Frame, seat: Seat, move: AttackDeploy) -> None:
    """SE7-9.1, SE7-9.2: the units are placed, and they alone can move."""
    check_attack_deploy(d.state, seat, move)
    if move.units:
        d.add(UnitsDeployed(d.state.acting, placed(move.units)))
    d.mark_answered(seat, end=True)
    movement.begin(d, able(move.units))


def able(units: Sequence[Placing]) -> dict[str, dict[str, int]]:
    """SE7-0.12: the units just placed, by region and type."""
    found: dict[str, dict[str, int]] = {}
    for p in units:
        there = found.setdefault(p.region, {})
        there[p.unit] = there.get(p.unit, 0) + 1
    return found

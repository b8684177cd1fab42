"""SE7-5.2 to SE7-5.4: deploying units, the second half of Build & Deploy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from domain.games.common.checks import require
from domain.games.seven_empires.data import LIMITS, SUBSTITUTE, UNITS, Unit
from domain.games.seven_empires.facts.pieces import UnitsDeployed
from domain.games.seven_empires.moves import Deploy
from domain.games.seven_empires.rules.checks import known_regions, known_units, need_city_tile, need_own_free_city
from domain.games.seven_empires.state import D, Seven
from domain.games.seven_empires.value_objects import Placed, Placing, gathered
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import unwrap
from domain.types import Seat

RULE = "SE7-5.2"
LEVY = LIMITS["palace_deploy_units"]


def eligible(s: Seven, empire: str) -> list[str]:
    """SE7-5.2: own city regions, unoccupied, of level 1 or 2, in data order."""
    return [region for region in s.free_cities(empire) if s.level(region)]


def with_palace(s: Seven, empire: str) -> list[str]:
    """SE7-5.2: eligible cities with a palace."""
    return [region for region in eligible(s, empire) if region in s.palaces]


def makers(s: Seven, empire: str) -> dict[Unit, list[str]]:
    """SE7-5.2: unit -> eligible cities with it as their primary unit, in canonical order."""
    cities = eligible(s, empire)
    found = {unit: [region for region in cities if s.product(region) == unit] for unit in UNITS}
    return {unit: regions for unit, regions in found.items() if regions}


def placings_of(move: Deploy) -> list[Placing]:
    """Return the units of a move with their regions, one by one, in either mode."""
    if move.mode == "each_city":
        return [*unwrap(move.units)]
    return [Placing(unwrap(move.region), unit) for unit in unwrap(move.levy)]


def check_deploy(s: Seven, seat: Seat, move: Deploy) -> None:
    """SE7-15.6: the errors of `deploy`, in this order."""
    units = placings_of(move)
    known_regions(*([unwrap(move.region)] if move.mode == "palace" else [p.region for p in units]))
    known_units(p.unit for p in units)
    if move.mode == "palace":
        _check_palace(s, unwrap(move.region), len(units))
    else:
        _check_cities(s, units)
    _check_products(s, units)
    _check_supply(s, units)
    _check_substitutes(s, units)
    _check_complete(s, units, dict(_due(s, move)))


def _check_cities(s: Seven, units: Sequence[Placing]) -> None:
    """SE7-5.2: one unit in each eligible city."""
    named: set[str] = set()
    for placing in units:
        need_own_free_city(s, placing.region, s.acting, RULE)
        need_city_tile(s, placing.region, RULE)
        require(placing.region not in named, "one_unit_per_city", RULE, region=placing.region)
        named.add(placing.region)


def _check_palace(s: Seven, region: str, number: int) -> None:
    """SE7-5.2: three units at most in one eligible city with a palace."""
    need_own_free_city(s, region, s.acting, RULE)
    need_city_tile(s, region, RULE)
    require(region in s.palaces, "no_palace", RULE, region=region)
    require(number <= LEVY, "too_many_units", RULE, most=LEVY)


def _check_products(s: Seven, units: Sequence[Placing]) -> None:
    """SE7-5.2: each unit is the primary one of its city, or the substitute."""
    for placing in units:
        primary = s.product(placing.region)
        fits = placing.unit in (primary, SUBSTITUTE.get(primary))
        require(fits, "cannot_produce", RULE, cause="other", region=placing.region, unit=placing.unit)


def _check_supply(s: Seven, units: Sequence[Placing]) -> None:
    """SE7-0.10: no more of a type than in supply."""
    for unit, number in Counter(p.unit for p in units).items():
        have = s.supply(s.acting, unit)
        require(number <= have, "supply_exhausted", "SE7-0.10", unit=unit, supply=have)


def _check_substitutes(s: Seven, units: Sequence[Placing]) -> None:
    """SE7-5.3: no substitute while the replaced unit is in supply."""
    placed = Counter(p.unit for p in units)
    for placing in units:
        primary = s.product(placing.region)
        used_up = placing.unit == primary or placed[primary] == s.supply(s.acting, primary)
        region, unit = placing.region, placing.unit
        require(used_up, "cannot_produce", "SE7-5.3", cause="supply", region=region, unit=unit, product=primary)


def _due(s: Seven, move: Deploy) -> Iterator[tuple[Unit, int]]:
    """SE7-5.2: how many primary units of each type must be deployed."""
    if move.mode == "palace":
        primary = s.product(unwrap(move.region))
        yield primary, min(LEVY, s.supply(s.acting, primary))
        return
    for unit, regions in makers(s, s.acting).items():
        yield unit, min(len(regions), s.supply(s.acting, unit))


def _check_complete(s: Seven, units: Sequence[Placing], due: dict[Unit, int]) -> None:
    """SE7-5.2: deploying is mandatory as far as it is possible."""
    placed = Counter(p.unit for p in units if p.unit == s.product(p.region))
    for unit, number in due.items():
        require(placed[unit] >= number, "deployment_incomplete", RULE, unit=unit, due=number)


def do_deploy(d: D, frame: Frame, seat: Seat, move: Deploy) -> None:
    """SE7-5.2: place the units in their cities; the action is over."""
    check_deploy(d.state, seat, move)
    d.add(UnitsDeployed(d.state.acting, placed(placings_of(move))))
    d.mark_answered(seat, end=True)


def placed(units: Sequence[Placing]) -> list[Placed]:
    """Return the units of a checked move, in the form of facts."""
    return gathered((p.region, UNITS[UNITS.index(p.unit)]) for p in units)

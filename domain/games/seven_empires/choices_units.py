"""Move builder for moves with several units: deployment, attack, reduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping

from domain.games.common.checks import is_legal
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import DATA_ORDER, SUBSTITUTE, UNITS, Unit
from domain.games.seven_empires.moves import AttackDeploy, Deploy, ReduceRegion
from domain.games.seven_empires.rules import attack, deploying
from domain.games.seven_empires.state import Counts, Seven, total
from domain.games.seven_empires.value_objects import Placing
from domain.kernel.rules.choices import Builder, Choice, one, some
from domain.kernel.schema.declarations import doc
from domain.types import Json, Seat

Asking = Generator[Choice, Json, list[Placing]]
"""Asks for units, and returns them."""


# --- Build & Deploy -------------------------------------------------------------------------------------------


def deploy(s: Seven, seat: Seat) -> Builder:
    """SE7-5.2: way A or way B."""
    palaces = deploying.with_palace(s, s.acting)
    mode = yield one("mode", ["each_city", "palace"] if palaces else ["each_city"])
    if mode == "each_city":
        return Deploy(mode, (yield from _each_city(s)))
    region = yield one("region", palaces)
    return Deploy(mode, region=region, levy=(yield from _levy(s, region)))


def _each_city(s: Seven) -> Asking:
    """SE7-5.2: choose the cities to get the unit if it is short, and those of the rest to get a substitute."""
    units: list[Placing] = []
    for unit, regions in deploying.makers(s, s.acting).items():
        units += yield from _among(unit, regions, min(len(regions), s.supply(s.acting, unit)))
    for primary, regions in deploying.makers(s, s.acting).items():
        if primary in SUBSTITUTE:
            units += yield from _substitutes(s, primary, _without(regions, units), units)
    return sorted(units, key=lambda p: DATA_ORDER[p.region])


def _among(unit: Unit, regions: list[str], number: int) -> Asking:
    """Choose as many of the cities to get the unit; without a choice nothing is asked."""
    if number in (0, len(regions)):
        return [Placing(region, unit) for region in regions[:number]]
    return (yield from _some(unit, regions, number, number))


def _some(unit: Unit, regions: list[str], lo: int, hi: int) -> Asking:
    picked = yield some("units", [doc(Placing(region, unit)) for region in regions], lo, hi)
    return [Placing(p["region"], p["unit"]) for p in picked]


def _without(regions: list[str], units: list[Placing]) -> list[str]:
    served = {p.region for p in units}
    return [region for region in regions if region not in served]


def _substitutes(s: Seven, primary: Unit, regions: list[str], units: list[Placing]) -> Asking:
    """SE7-5.2: as long as supply of the substitute remains."""
    unit = SUBSTITUTE[primary]
    left = s.supply(s.acting, unit) - sum(p.unit == unit for p in units)
    if not regions or left <= 0:
        return []
    return (yield from _some(unit, regions, 0, min(left, len(regions))))


def _levy(s: Seven, region: str) -> Generator[Choice, Json, list[str]]:
    """SE7-5.2: three units, or fewer filled up with substitutes one by one."""
    primary = s.product(region)
    levy: list[str] = [primary] * min(deploying.LEVY, s.supply(s.acting, primary))
    unit = SUBSTITUTE.get(primary)
    left = s.supply(s.acting, unit) if unit else 0
    while unit and len(levy) < deploying.LEVY and left:
        if (yield one("levy", [None, unit])) is None:
            break
        levy.append(unit)
        left -= 1
    return levy


# --- Attack ---------------------------------------------------------------------------------------------------


def attack_deploy(s: Seven, seat: Seat) -> Builder:
    """SE7-9.1: two units, one after the other."""
    units: list[Placing] = []
    before: Counter[str] = Counter()
    for _ in range(attack.number_due(s, s.acting)):
        fits = dict(_placings(s, before))
        region = yield one("region", fits)
        unit = yield one("unit", fits[region])
        units.append(Placing(region, unit))
        before[unit] += 1
    return AttackDeploy(units)


def _placings(s: Seven, before: Counter[str]) -> Iterator[tuple[str, list[str]]]:
    """Return own city region -> units allowed there."""
    for region in s.free_cities(s.acting):
        fits: list[str] = [u for u in UNITS if is_legal(attack.check_placing, s, Placing(region, u), before)]
        if fits:
            yield region, fits


# --- reductions -----------------------------------------------------------------------------------------------


def reduction(s: Seven, seat: Seat) -> Builder:
    """SE7-10.2: the excess, in canonical order."""
    about = s.top.context(frames.Reduction)
    left, remove = dict(s.units_of(about.region, about.empire)), list[str]()
    while len(remove) < about.excess:
        unit = yield one("remove", removable(left, about.excess - len(remove)))
        remove.append(unit)
        left = {u: n - (u == unit) for u, n in left.items() if UNITS.index(u) >= UNITS.index(unit)}
    return ReduceRegion(about.region, remove)


def removable(left: Counts, number: int) -> list[str]:
    """Return the types to go on with, so that the number of units can be completed in canonical order."""
    types = [unit for unit in UNITS if left.get(unit)]
    return [unit for i, unit in enumerate(types) if _sum(left, types[i:]) >= number]


def _sum(left: Mapping[str, int], types: list[Unit]) -> int:
    return total({unit: left[unit] for unit in types})

"""SE7-8.14, SE7-10.2: limits at the end of a turn, and the removal of excess units."""

from __future__ import annotations

from collections import Counter

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CITIES, DATA_ORDER, LIMITS, REGIONS, UNITS
from domain.games.seven_empires.facts.pieces import UnitsReduced
from domain.games.seven_empires.moves import ReduceRegion
from domain.games.seven_empires.rules.checks import known_regions, known_units
from domain.games.seven_empires.state import D, Seven, total
from domain.games.seven_empires.value_objects import Removed
from domain.kernel.rules.flow import Frame
from domain.types import Seat

STRANGERS = {
    "city": LIMITS["foreign_city_units"],
    "land": LIMITS["neutral_land_units"],
    "sea": LIMITS["sea_units"],
}
"""SE7-8.14: kind of region -> limit of units there from empires without a city in it."""


def limit(region: str, empire: str) -> int:
    """SE7-8.14: units of an empire in a region at the end of a turn."""
    home = region in CITIES and CITIES[region].empire == empire
    return LIMITS["own_city_units"] if home else STRANGERS[REGIONS[region]]


def first_excess(s: Seven) -> frames.Reduction | None:
    """SE7-10.2: the first region in data order with too many units."""
    found = [
        frames.Reduction(region, empire, total(units) - limit(region, empire))
        for region, there in s.units.items()
        for empire, units in there.items()
        if total(units) > limit(region, empire)
    ]
    return min(found, key=lambda due: DATA_ORDER[due.region], default=None)


def ask_first(d: D) -> bool:
    """SE7-10.2: ask for the first excess; return whether there was one."""
    found = first_excess(d.state)
    if found:
        d.ask(found, decider(d.state, found.empire))
    return found is not None


def decider(s: Seven, empire: str) -> Seat:
    """SE7-10.2: the actor for the acting empire; for another its monarch, else the turn seat."""
    if s.turn is not None and empire == s.turn.empire:
        return s.actor
    monarch = s.monarch(empire)
    return s.current.seat if monarch is None else monarch


def check_reduce(s: Seven, seat: Seat, move: ReduceRegion) -> None:
    """SE7-15.14: the errors of `reduce_region`, in this order."""
    known_regions(move.region)
    known_units(move.remove)
    due = s.top.context(frames.Reduction)
    require(move.region == due.region, "wrong_region", "SE7-10.2", region=due.region)
    require(len(move.remove) == due.excess, "wrong_count", "SE7-10.2", excess=due.excess)
    there = s.units_of(due.region, due.empire)
    for unit, number in Counter(move.remove).items():
        require(number <= there.get(unit, 0), "no_such_unit", "SE7-0.5", unit=unit, region=due.region)


def do_reduce(d: D, frame: Frame, seat: Seat, move: ReduceRegion) -> None:
    """SE7-10.2: the units go back to the supply; then the next region."""
    check_reduce(d.state, seat, move)
    units = [Removed(unit, number) for unit in UNITS if (number := move.remove.count(unit))]
    d.add(UnitsReduced(seat, frame.context(frames.Reduction).empire, move.region, units))
    d.mark_answered(seat, end=True)

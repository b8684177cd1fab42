"""SOE-7.5: building units, with Militia; shared by the building tiles."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, Unit
from domain.games.struggle_of_empires.facts.pieces import UnitBuilt
from domain.games.struggle_of_empires.moves import Build, BuildMilitia
from domain.games.struggle_of_empires.rules import actions, money
from domain.games.struggle_of_empires.rules.checks import (
    need_action,
    need_population,
    need_region,
    need_supply,
    require,
)
from domain.games.struggle_of_empires.rules.movement import ARRIVES, TURNED_BACK, check_destination, sail
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, Count, Maybe
from domain.types import Seat

COST: int = CONSTANTS["build_cost_population"]


def check_build(s: Struggle, seat: Seat, move: Build) -> None:
    """SOE-7.5.5: the errors of `build`, in this order."""
    need_action(s, "SOE-7.5.5")
    _check_paid_build(s, seat, move.unit, move.to)


def check_build_militia(s: Struggle, seat: Seat, move: BuildMilitia) -> None:
    """SOE-7.5.5: the errors of `build_militia`, in this order."""
    require(s.acting.militia_left > 0, "no_militia_build", "SOE-7.5.5")
    _check_paid_build(s, seat, "army", move.to)


def _check_paid_build(s: Struggle, seat: Seat, unit: str, to: str) -> None:
    need_region(to, "SOE-7.5.5")
    need_population(s, seat, COST, "SOE-7.5.5")
    check_unpaid_build(s, seat, unit, to)


def check_unpaid_build(s: Struggle, seat: Seat, unit: str, to: str) -> None:
    """SOE-9.5.3: the errors of a build without population, from the region on."""
    need_region(to, "SOE-7.5.5")
    need_supply(s, seat, unit, "SOE-7.5.5")
    check_destination(s, seat, unit, to)


def do_build(d: D, frame: Frame, seat: Seat, move: Build) -> None:
    """SOE-7.5.1, SOE-7.5.4: one unit, and then as many Militia builds as tiles."""
    check_build(d.state, seat, move)
    actions.take_action(d, "build", militia=d.state.empires[seat].owned("militia"))
    money.pay_population(d, seat, COST)
    raise_unit(d, seat, move.unit, move.to)


def do_build_militia(d: D, frame: Frame, seat: Seat, move: BuildMilitia) -> None:
    """SOE-7.5.4: one more army in this build action."""
    check_build_militia(d.state, seat, move)
    money.pay_population(d, seat, COST)
    raise_unit(d, seat, "army", move.to, militia=d.state.acting.militia_left - 1)


def raise_unit(d: D, seat: Seat, unit: Unit, to: str, militia: Maybe[Count] = UNSET) -> None:
    """SOE-7.5.3: the unit goes from home to its destination; turned back it stays at home, a fort in the supply."""
    home = d.state.empires[seat].home
    dice, result = sail(d, seat, home, to)
    stands = to if result == ARRIVES else home if result == TURNED_BACK and unit != "fort" else None
    d.add(UnitBuilt(seat, unit, to, result, dice or UNSET, stands or UNSET, militia))

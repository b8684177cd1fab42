"""SOE-7.6: moving units, one after the other."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, Unit
from domain.games.struggle_of_empires.facts.pieces import UnitMoved
from domain.games.struggle_of_empires.moves import MoveUnit
from domain.games.struggle_of_empires.rules import actions
from domain.games.struggle_of_empires.rules.checks import need_action, need_region, require
from domain.games.struggle_of_empires.rules.movement import (
    ARRIVES,
    LOST,
    check_destination,
    lift_blockade,
    sail,
)
from domain.games.struggle_of_empires.state import D, Moved, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, Count, Maybe
from domain.types import Seat


def opens(s: Struggle, move: MoveUnit) -> bool:
    """SOE-7.6.2: whether the move opens a move action."""
    return s.acting.moves_left == 0 or move.new_action is True


def movable(s: Struggle, seat: Seat, unit: str, region: str, opening: bool) -> int:
    """SOE-7.6.4: how many units of a kind may still leave a region."""
    rested = 0 if opening else s.acting.moved.count(Moved(unit, region))
    return max(0, s.empires[seat].units_in(region, unit) - rested)


def check_move_unit(s: Struggle, seat: Seat, move: MoveUnit) -> None:
    """SOE-7.6.6: the errors of `move_unit`, in this order."""
    if opens(s, move):
        need_action(s, "SOE-7.6.6")
    need_region(move.from_, "SOE-7.6.6")
    need_region(move.to, "SOE-7.6.6")
    require(move.unit != "fort", "fort_cannot_move", "SOE-7.6.5")
    check_leaving(s, seat, move.unit, move.from_, opens(s, move))
    require(move.from_ != move.to, "same_region", "SOE-7.6.6", region=move.to)
    check_destination(s, seat, move.unit, move.to)


def check_leaving(s: Struggle, seat: Seat, unit: str, start: str, opening: bool) -> None:
    """SOE-7.6.4: a unit there has not moved in this action."""
    require(s.empires[seat].units_in(start, unit) > 0, "no_such_unit", "SOE-7.6.6", unit=unit, region=start)
    require(movable(s, seat, unit, start, opening) > 0, "unit_already_moved", "SOE-7.6.4", unit=unit, region=start)


def do_move_unit(d: D, frame: Frame, seat: Seat, move: MoveUnit) -> None:
    """SOE-7.6.1: two units in one action, one more for each Logistics tile."""
    check_move_unit(d.state, seat, move)
    if opens(d.state, move):
        logistics = d.state.empires[seat].owned("logistics")
        actions.take_action(d, "move_unit", moves=CONSTANTS["units_moved_per_move_action"] + logistics)
    left = d.state.acting.moves_left - 1
    carry(d, seat, move.unit, move.from_, move.to, left)


def carry(d: D, seat: Seat, unit: Unit, start: str, to: str, moves: Maybe[Count] = UNSET) -> None:
    """SOE-7.6.3: straight from one region to the other, with a sea roll where one is due."""
    dice, result = sail(d, seat, start, to)
    rests = UNSET if result == LOST else to if result == ARRIVES else start
    d.add(UnitMoved(seat, unit, start, to, result, dice or UNSET, rests, moves))
    lift_blockade(d)

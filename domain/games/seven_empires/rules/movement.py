"""SE7-8, SE7-9.2: a movement, from its beginning to the flags at its end (SE7-8.15, SE7-8.16)."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import REGIONS
from domain.games.seven_empires.facts.movement import FlagPlaced
from domain.games.seven_empires.facts.sequence import MovementBegun, MovementEnded
from domain.games.seven_empires.moves import EndMovement
from domain.games.seven_empires.rules.acting import ask_actor
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


def begin_all(d: D) -> None:
    """SE7-0.12: in Move & Fight every unit of the acting empire can move."""
    empire = d.state.acting
    begin(d, {region: there[empire] for region, there in d.state.units.items() if empire in there})


def begin(d: D, able: Mapping[str, Mapping[str, int]]) -> None:
    """SE7-8: start the movement of these units."""
    d.add(MovementBegun(d.state.acting, able))
    ask_actor(d, frames.Movement)


def need_mover(s: Seven, region: str, unit: str) -> None:
    """SE7-0.5, SE7-0.12, SE7-9.2: a unit of this kind is there and can still move."""
    there = s.units_of(region, s.acting).get(unit, 0)
    require(there > 0, "no_such_unit", "SE7-0.5", region=region, unit=unit)
    cause = "attack" if s.current.action == "attack" else "moved"
    able = s.moving.able.get(region, {}).get(unit, 0) > 0
    require(able, "unit_cannot_move", "SE7-0.12", cause=cause, region=region, unit=unit)


def do_end(d: D, frame: Frame, seat: Seat, move: EndMovement) -> None:
    """SE7-8.15: flags; the action is over."""
    d.mark_answered(seat, end=True)
    d.add(MovementEnded(d.state.acting))
    place_flags(d)


def place_flags(d: D) -> None:
    """SE7-8.15, SE7-8.16: in data order, as long as flags are left."""
    empire = d.state.acting
    for region in due(d.state, empire)[: d.state.flags_left(empire)]:
        d.add(FlagPlaced(empire, region, d.state.flags.get(region, UNSET)))


def due(s: Seven, empire: str) -> list[str]:
    """SE7-8.15: neutral land and seas holding a unit of the empire and no flag of it."""
    return [region for region, kind in REGIONS.items() if kind != "city" and _lacks(s, region, empire)]


def _lacks(s: Seven, region: str, empire: str) -> bool:
    return bool(s.units_of(region, empire)) and s.flags.get(region) != empire

"""SE7-8.1 to SE7-8.4: ships."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.common.checks import require
from domain.games.seven_empires.data import BORDERS, CITIES, REGIONS, SEA, SHIPS, Unit
from domain.games.seven_empires.facts.movement import ShipMoved
from domain.games.seven_empires.moves import MoveShip
from domain.games.seven_empires.rules import neutral
from domain.games.seven_empires.rules.checks import known_regions, known_units
from domain.games.seven_empires.rules.fights import sink
from domain.games.seven_empires.rules.movement import need_mover
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def check_ship(s: Seven, seat: Seat, move: MoveShip) -> None:
    """SE7-15.9: the errors of `move_ship`, in this order."""
    known_regions(move.from_, *move.path)
    known_units([move.unit])
    check_departure(s, move.from_, move.unit)
    check_path(move.from_, move.unit, move.path)
    neutral.check_passage(s, move.path)
    require(not s.units_of(move.path[-1], s.acting), "own_ship_there", "SE7-8.3", region=move.path[-1])


def check_departure(s: Seven, region: str, unit: str) -> None:
    """SE7-8.1: a ship able to move, before the first army."""
    require(unit in SHIPS, "not_a_ship", "SE7-8.1", unit=unit)
    require(not s.moving.armies, "fleet_moves_over", "SE7-8.1")
    need_mover(s, region, unit)


def check_path(start: str, unit: str, path: Sequence[str]) -> None:
    """SE7-8.2, SE7-8.3: over seas, border by border, not too far and not in a circle."""
    require(bool(path), "path_invalid", "SE7-8.2", cause="empty")
    seas = all(REGIONS[region] == "sea" for region in path)
    require(seas, "path_invalid", "SE7-8.2", cause="no_sea")
    for here, there in zip([start, *path], path, strict=False):
        _check_border(here, there)
    require(len(path) <= BORDERS[unit], "too_far", "SE7-8.2", most=BORDERS[unit])
    require(path[-1] != start, "path_invalid", "SE7-8.3", cause="circle")


def _check_border(here: str, there: str) -> None:
    """SE7-8.2: out of a port to its anchor sea, then from sea to sea."""
    if here in CITIES:
        require(CITIES[here].anchor == there, "not_the_anchor_sea", "SE7-8.2", region=here, sea=there)
    else:
        require(there in SEA[here], "not_adjacent", "SE7-8.2", region=here, to=there)


def do_ship(d: D, frame: Frame, seat: Seat, move: MoveShip) -> None:
    """SE7-8.2, SE7-8.4: the ship is moved; a foreign one there goes down with it."""
    check_ship(d.state, seat, move)
    unit: Unit = SHIPS[SHIPS.index(move.unit)]
    end = move.path[-1]
    d.add(ShipMoved(d.state.acting, unit, move.from_, move.path, end))
    sink(d, unit, end)

"""SE7-11.2 to SE7-11.4: the effects of the hourglass tiles."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.common.seats import clockwise
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CITIES, EMPIRES, LIMITS, OWN_CITIES, SHIPS, WORKERS, Unit
from domain.games.seven_empires.facts.influence import InfluenceTaken, WorkerTaken
from domain.games.seven_empires.facts.pieces import EventUnitPlaced
from domain.games.seven_empires.moves import PlaceEventUnit, TakeInfluence, TakeWorker
from domain.games.seven_empires.rules import reductions
from domain.games.seven_empires.rules.checks import known_empire, known_regions, need_own_free_city
from domain.games.seven_empires.state import D, Seven, total
from domain.kernel.rules.flow import Frame
from domain.types import Seat

GIVES: dict[str, Unit] = {"infantry": "infantry", "two_master": "two_master"}
"""Tile -> unit given to every empire."""


def begin(d: D, tile: str) -> None:
    """SE7-11.2: queue the empires or seats with a gain by the tile, in order."""
    if tile in GIVES:
        return d.ask(frames.Hourglass(tile, empires=EMPIRES))
    s = d.state
    first = s.by_position[int(tile[-1]) - 1] if tile.startswith("position") else s.pawn or 0
    return d.ask(frames.Hourglass(tile, seats=clockwise(first, s.seats)))


def go_hourglass(d: D, frame: Frame) -> None:
    """SE7-11.2, SE7-11.4: the next one servable in the queue; the end of the tile."""
    about = frame.context(frames.Hourglass)
    if about.tile in GIVES and reductions.ask_first(d):
        return
    if about.empires:
        _next_unit(d, about, list(about.empires))
    elif about.seats:
        _next_card(d, about, list(about.seats))
    else:
        d.end()


# --- cards ----------------------------------------------------------------------------------------------------


def _next_card(d: D, about: frames.Hourglass, queue: list[Seat]) -> None:
    """SE7-11.4: without a card, or a worker, left, the queue ends."""
    if about.tile == "worker":
        left = bool(d.state.workers())
        ask: type[frames.TileWorker | frames.TileInfluence] = frames.TileWorker
    else:
        left = any(d.state.pile(empire) for empire in EMPIRES)
        ask = frames.TileInfluence
    d.note(seats=queue[1:] if left else [])
    if left:
        d.ask(ask(about.tile, queue), queue[0])


def check_take_influence(s: Seven, seat: Seat, move: TakeInfluence) -> None:
    """SE7-15.15: the errors of `take_influence`."""
    known_empire(move.empire)
    require(bool(s.pile(move.empire)), "pile_empty", "SE7-11.3", empire=move.empire)


def do_take_influence(d: D, frame: Frame, seat: Seat, move: TakeInfluence) -> None:
    """SE7-11.3: the top card of the pile."""
    check_take_influence(d.state, seat, move)
    d.add(InfluenceTaken(seat, d.state.pile(move.empire)[0]))
    d.mark_answered(seat, end=True)


def check_take_worker(s: Seven, seat: Seat, move: TakeWorker) -> None:
    """SE7-15.16: the errors of `take_worker`."""
    known_empire(move.empire)
    require(move.empire in s.workers(), "worker_taken", "SE7-11.2", empire=move.empire)


def do_take_worker(d: D, frame: Frame, seat: Seat, move: TakeWorker) -> None:
    """SE7-11.2: a worker of the stock."""
    check_take_worker(d.state, seat, move)
    d.add(WorkerTaken(seat, WORKERS[move.empire]))
    d.mark_answered(seat, end=True)


# --- units ----------------------------------------------------------------------------------------------------


def _next_unit(d: D, about: frames.Hourglass, queue: list[str]) -> None:
    """SE7-11.2, SE7-11.4: empires in flag order; those without a place for the unit are skipped."""
    able = [i for i, empire in enumerate(queue) if can_place(d.state, empire, about.tile)]
    rest = queue[able[0] :] if able else []
    d.note(empires=rest[1:])
    if rest:
        d.ask(frames.TileUnit(about.tile, rest), d.state.monarch(rest[0]) or 0)


def can_place(s: Seven, empire: str, tile: str) -> bool:
    """SE7-11.4: it has a monarch, the unit in supply, and a region for it."""
    has = s.monarch(empire) is not None and s.supply(empire, GIVES[tile]) > 0
    return has and bool(places(s, empire, tile))


def places(s: Seven, empire: str, tile: str) -> list[str]:
    """SE7-11.2: where an empire may place the unit of a tile, in data order."""
    return [region for region in OWN_CITIES[empire] if not s.occupied(region) and _takes(s, region, tile)]


def _takes(s: Seven, region: str, tile: str) -> bool:
    if GIVES[tile] in SHIPS:
        return CITIES[region].anchor is not None
    return total(s.units_of(region, CITIES[region].empire)) < LIMITS["own_city_units"]


def check_place(s: Seven, seat: Seat, move: PlaceEventUnit) -> None:
    """SE7-15.17: the errors of `place_event_unit`, in this order."""
    known_empire(move.empire)
    known_regions(move.region)
    about = s.top.context(frames.TileUnit)
    require(move.empire == about.queue[0], "wrong_empire", "SE7-11.2", empire=about.queue[0])
    need_own_free_city(s, move.region, move.empire, "SE7-11.2")
    code = "not_a_port" if GIVES[about.tile] in SHIPS else "city_full"
    require(_takes(s, move.region, about.tile), code, "SE7-11.2", region=move.region)


def do_place(d: D, frame: Frame, seat: Seat, move: PlaceEventUnit) -> None:
    """SE7-11.2: place the unit in the city; excess units there are reduced at once."""
    check_place(d.state, seat, move)
    tile = frame.context(frames.TileUnit).tile
    d.add(EventUnitPlaced(seat, move.empire, GIVES[tile], move.region))
    d.mark_answered(seat, end=True)

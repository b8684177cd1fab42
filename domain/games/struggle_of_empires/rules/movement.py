"""SOE-15: where units may go, and the sea roll."""

from __future__ import annotations

from typing import Final

from domain.games.struggle_of_empires.data import REGIONS, SEA_ROLL
from domain.games.struggle_of_empires.facts.pieces import Arrival
from domain.games.struggle_of_empires.facts.tiles import BlockadeLifted
from domain.games.struggle_of_empires.rules.checks import require
from domain.games.struggle_of_empires.state import D, Struggle
from domain.types import Seat

ARRIVES: Final = "arrives"
LOST: Final = "lost"
TURNED_BACK: Final = "turned_back"


def check_destination(s: Struggle, seat: Seat, unit: str, to: str) -> None:
    """SOE-15.5: the errors of a destination, in this order."""
    region, own = REGIONS[to], to == s.empires[seat].home
    require(own or region.kind != "home", "foreign_home", "SOE-15.3", to=to)
    require(unit != "fort" or region.scores, "fort_needs_scoring_region", "SOE-7.5.2", to=to)
    if unit == "navy":
        require(region.accepts_navies, "navy_cannot_enter", "SOE-15.1", to=to)
    elif region.kind == "colony":
        require(s.empires[seat].units_in(to, "navy") > 0, "no_navy_in_colony", "SOE-15.2", to=to)
        require(not blockaded(s, seat, to), "blockaded", "SOE-9.5.13", to=to)
    elif region.kind == "europe":
        require(_in_reach(s, seat, to), "region_not_accessible", "SOE-15.2", to=to)


def blockaded(s: Struggle, seat: Seat, region: str) -> bool:
    """SOE-9.5.13: an enemy's Blockade lies there, and the seat has not more navies there than he."""
    if s.blockade is None or s.blockade.region != region:
        return False
    blockader = s.blockade.seat
    if seat == blockader or s.allied(seat, blockader):
        return False
    return s.empires[seat].units_in(region, "navy") <= s.empires[blockader].units_in(region, "navy")


def _in_reach(s: Struggle, seat: Seat, to: str) -> bool:
    """SOE-15.2: a European region is open by an own token there or beside it, from home, or from the sea."""
    empire, region = s.empires[seat], REGIONS[to]
    return (
        to in empire.tokens
        or any(token in region.adjacent for token in empire.tokens)
        or empire.home in region.adjacent
        or empire.units_in(to, "navy") > 0
        or (to == "ottoman_empire" and empire.units_in("mediterranean", "navy") > 0)
    )


def needs_sea_roll(start: str, to: str) -> bool:
    """SOE-15.4: to a colony, or from a colony to Europe or home; not between the three Americas."""
    a, b = REGIONS[start], REGIONS[to]
    return "colony" in (a.kind, b.kind) and not (a.american and b.american)


def sail(d: D, seat: Seat, start: str, to: str) -> tuple[list[int], Arrival]:
    """SOE-15.4: the dice of the sea roll, none if none is due, and the fate of the unit."""
    if not needs_sea_roll(start, to):
        return [], ARRIVES
    first = d.draws.roll("sea", 1, 6)
    if first >= SEA_ROLL["first_die_safe_from"]:
        return [first], ARRIVES
    second = d.draws.roll("sea.second", 1, 6)
    skilled = d.state.empires[seat].owned("navigation") > 0
    total = second + (SEA_ROLL["navigation_bonus_on_second_die"] if skilled else 0)
    if total <= SEA_ROLL["second_die_lost_max"]:
        return [first, second], LOST
    return [first, second], TURNED_BACK if total <= SEA_ROLL["second_die_returned_max"] else ARRIVES


def lift_blockade(d: D) -> None:
    """SOE-15.6, SOE-9.5.13: a Blockade returns to the stock when its owner has no navy left there."""
    laid = d.state.blockade
    if laid and not d.state.empires[laid.seat].units_in(laid.region, "navy"):
        d.add(BlockadeLifted(laid.seat, "blockade", laid.region))

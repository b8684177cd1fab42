"""IMP-8.2.1: the sides of the current combat, and their fighters."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import FIGHTERS, WARSHIPS
from domain.games.imperunde.state import HORDES, ImpeRunde, Party, Side
from domain.games.imperunde.unit_stacks import Lot, Lots
from domain.types import Seat

SIDES: tuple[Side, Side] = ("attacker", "defender")


def party(s: ImpeRunde, side: str) -> Party:
    """Return the seat or horde of a side."""
    who: Party = s.fight.attacker if side == "attacker" else s.fight.defender
    return who


def seat_of(s: ImpeRunde, side: str) -> Seat | None:
    """Return the seat of a side; None for a horde."""
    who = party(s, side)
    return who if isinstance(who, int) else None


def black_ships(pirates: Mapping[str, int]) -> Lots:
    """Return pirates as lots, ships of the line first."""
    return tuple(Lot(ship, pirates[ship]) for ship in WARSHIPS if pirates.get(ship))


def side_units(s: ImpeRunde, side: str) -> Lots:
    """IMP-8.2.1: all units of a side; `fort` is a unit here."""
    c, who = s.fight, party(s, side)
    if c.sea:
        return black_ships(s.zone(c.region).pirates) if who == "pirates" else s.zone(c.region).warships(who)
    if who in HORDES:
        return (Lot("infantry", c.horde),) if c.horde else ()
    if side == "attacker":
        return c.units
    country = s.country(c.region)
    return (*((Lot("fort", country.forts),) if country.forts else ()), *country.units)


def must_choose(s: ImpeRunde, side: str) -> bool:
    """IMP-8.2.1: a seat with more than 3 units, not all alike, decides."""
    units = side_units(s, side)
    return seat_of(s, side) is not None and len(units) > 1 and unit_stacks.total(units) > FIGHTERS


def fighters(s: ImpeRunde, side: str) -> Lots:
    """IMP-8.2.1: the fighting units of a side in this round, at most 3."""
    if side in s.fight.chosen:
        return s.fight.chosen[side]
    return unit_stacks.change((), list(unit_stacks.singles(side_units(s, side)))[:FIGHTERS])

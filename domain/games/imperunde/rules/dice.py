"""IMP-0.4: draws, in the page's terms."""

from __future__ import annotations

from collections.abc import Iterable

from domain.games.imperunde.data import DICE, LOST_ON, UNITS
from domain.games.imperunde.state import D
from domain.games.imperunde.unit_stacks import Lot, change, singles
from domain.types import Seat


def roll(d: D, colour: str) -> int:
    """Roll one die of the colour."""
    die = DICE[colour]
    return d.draws.roll(f"die.{colour}", die.lo, die.hi)


def roll_for(d: D, unit: str) -> int:
    """Roll the die of a unit."""
    return roll(d, UNITS[unit].die)


def highest(d: D, seats: list[Seat]) -> Seat:
    """IMP-5.1, IMP-6.1.1: every seat rolls, the highest roll again until one is alone."""
    while len(seats) > 1:
        dice = [roll(d, "white") for _ in seats]
        seats = [seat for seat, value in zip(seats, dice, strict=True) if value == max(dice)]
    return seats[0]


def losses(d: D, lots: Iterable[Lot]) -> tuple[Lot, ...]:
    """IMP-7.7, IMP-10.4: one white die for each unit, in the order of the lots; the odd ones are lost."""
    return change((), [x for x in singles(lots) if roll(d, "white") in LOST_ON])

"""SE7-4.2: the mode of a seat's turn, and the empires open to it."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.seven_empires.data import LIMITS
from domain.games.seven_empires.state import Mode, Seven
from domain.types import Seat

LEAST = LIMITS["min_influence_to_act_without_monarch"]


def mode_of(s: Seven, seat: Seat) -> Mode:
    """SE7-4.2, SE7-4.3: exactly one of the modes A, B, N and C."""
    waiting = s.waiting()
    if any(s.monarch(empire) == seat for empire in waiting):
        return "monarch"
    if highest(s, seat, waiting) >= LEAST:
        return "influence"
    return "neutral" if any(s.monarch(empire) is None for empire in waiting) else "delegation"


def highest(s: Seven, seat: Seat, empires: Sequence[str]) -> int:
    """SE7-4.2: the seat's highest influence over one of these empires."""
    held = s.influences[seat]
    return max(held.get(empire, 0) for empire in empires)


def choosable(s: Seven, seat: Seat, mode: str) -> list[str]:
    """SE7-4.2: the empires open to the seat, in flag order."""
    waiting = s.waiting()
    if mode == "monarch":
        return [empire for empire in waiting if s.monarch(empire) == seat]
    if mode == "influence":
        most = highest(s, seat, waiting)
        return [empire for empire in waiting if s.influence(seat, empire) == most]
    return waiting if mode == "delegation" else [empire for empire in waiting if s.monarch(empire) is None]

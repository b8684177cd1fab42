"""SE7-4.2: in which mode a seat takes its turn, and which empires it may choose."""

from __future__ import annotations

from domain.games.seven_empires.data import LIMITS
from domain.games.seven_empires.state import Mode, Seven
from domain.ids import Seat

LEAST = LIMITS["min_influence_to_act_without_monarch"]


def mode_of(s: Seven, seat: Seat) -> Mode:
    """SE7-4.2, SE7-4.3: exactly one of the modes A, B, N and C."""
    waiting = s.waiting()
    if any(s.monarch(empire) == seat for empire in waiting):
        return "monarch"
    if max(s.influence(seat, empire) for empire in waiting) >= LEAST:
        return "influence"
    return "neutral" if any(s.monarch(empire) is None for empire in waiting) else "delegation"


def choosable(s: Seven, seat: Seat, mode: str) -> list[str]:
    """SE7-4.2: the empires that the seat may choose, in flag order."""
    return [empire for empire in s.waiting() if fits(s, seat, mode, empire)]


def fits(s: Seven, seat: Seat, mode: str, empire: str) -> bool:
    """SE7-4.2: whether an empire that waits may be chosen in that mode."""
    if mode == "monarch":
        return s.monarch(empire) == seat
    if mode == "influence":
        return s.influence(seat, empire) == max(s.influence(seat, other) for other in s.waiting())
    return mode == "delegation" or s.monarch(empire) is None

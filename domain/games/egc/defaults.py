"""EGC-4.2, EGC-4.3: the moves at a missed deadline."""

from __future__ import annotations

from domain.games.egc.data import ALLOCATION
from domain.games.egc.moves import ZERO, AllocateTurnZero, SubmitOrders
from domain.games.egc.state import Egc
from domain.kernel.rules.flow import Decision
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def default(s: Egc, decision: Decision, seat: Seat) -> Move:
    """Submit the present sheet; in turn zero without an allocation, 1,800 points in each technology."""
    if decision.kind in ZERO and not s.sheets[seat].allocation:
        return AllocateTurnZero(ALLOCATION)
    return SubmitOrders()

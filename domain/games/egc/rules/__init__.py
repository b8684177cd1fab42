"""The rules, in the order of the rules page: the handlers of moves, and the continuations of frames.

Where to look:
- order of a turn: pipeline.py
- hunger: supply.py
- declarations of war: relations.py _war
- recruiting, building: orders_management.py recruit build
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from domain.games.egc.moves import (
    ORDERS,
    ZERO,
    AllocateTurnZero,
    CancelOrder,
    ReopenOrders,
    Resign,
    Resolving,
    SpyEmpire,
    SpyTerritory,
    SubmitOrders,
)
from domain.games.egc.rules import pipeline, seats, sheet, spying, turn_zero
from domain.games.egc.state import D, Egc
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Handler, on

HANDLERS: Mapping[str, Handler[Egc]] = dict(
    (
        on(AllocateTurnZero, turn_zero.allocate),
        *(on(kind, sheet.file_order) for kind in ORDERS.values()),
        on(CancelOrder, sheet.cancel_order),
        on(SpyTerritory, spying.spy_territory),
        on(SpyEmpire, spying.spy_empire),
        on(SubmitOrders, seats.submit),
        on(ReopenOrders, seats.reopen),
        on(Resign, seats.resign),
        on(Resolving, pipeline.resolve),
    )
)
"""Move type -> handler."""

CONTINUATIONS: Mapping[str, Callable[[D, Frame], None]] = {
    **dict.fromkeys(ZERO, turn_zero.go_turn_zero),
    "orders": pipeline.go_orders,
}
"""Frame kind -> continuation, for frames owing no answer."""

may = seats.may
vacated = seats.vacate

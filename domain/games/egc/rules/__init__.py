"""The rules, in the order of the rules page: what each type of move does, and how the frames go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from domain.games.egc.moves import ORDERS, ZERO
from domain.games.egc.rules import pipeline, seats, sheet, spying, turn_zero
from domain.games.egc.state import D
from domain.kernel.flow import Frame

DO: Mapping[str, Callable[[D, Frame, Any, dict[str, Any]], None]] = {
    "allocate_turn_zero": turn_zero.allocate,
    **dict.fromkeys(ORDERS, sheet.file_order),
    "cancel_order": sheet.cancel_order,
    "spy_territory": spying.spy_territory,
    "spy_empire": spying.spy_empire,
    "submit_orders": seats.submit,
    "reopen_orders": seats.reopen,
    "resign": seats.resign,
    "resolving": pipeline.resolve,
}

GO: Mapping[str, Callable[[D, Frame], None]] = {
    **dict.fromkeys(ZERO, turn_zero.go_turn_zero),
    "orders": pipeline.go_orders,
}

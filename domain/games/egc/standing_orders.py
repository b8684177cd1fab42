"""Standing orders of players: sheets submitted as they are, and armies on their ground."""

from __future__ import annotations

from domain.games.egc.moves import OrderArmy, SubmitOrders
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.state import Egc
from domain.kernel.rules.order_kinds import OrderKind, Values
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def _hold_ground(s: Egc, seat: Seat, values: Values) -> Move:
    """EGC-7.10: each army without an order prepares its defence; then the sheet is submitted."""
    copy = copy_of(s, seat)
    idle = sorted(set(copy.armies) - set(copy.orders))
    return OrderArmy(idle[0], "prepare_defence") if idle else SubmitOrders()


STANDING_ORDERS = (
    OrderKind("submit_sheet", ("orders",), lambda s, seat, values: SubmitOrders(), draws=False),
    OrderKind("hold_ground", ("orders",), _hold_ground, draws=False),
)
"""What may be ordered, in the order in which it is offered."""

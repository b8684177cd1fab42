"""Standing orders of players: their own turns, auctions, and battles of others."""

from __future__ import annotations

from domain.games.age_of_reason.data import POWERS
from domain.games.age_of_reason.moves import Bid, Commit, Pass, PassBid, Reserves
from domain.games.age_of_reason.rules.coalitions import MAX_BID
from domain.games.age_of_reason.state import AgeOfReason
from domain.games.common.auction_orders import auction_orders
from domain.kernel.rules.order_kinds import OrderField, OrderKind, Values, values_of
from domain.types import Seat


def _is_ally(s: AgeOfReason, seat: Seat, values: Values) -> bool:
    """AOR-9.2: the defender must lay a card."""
    return s.fight.defender != seat


STANDING_ORDERS = (
    OrderKind("pass_turns", ("turn",), lambda s, seat, values: Pass()),
    *auction_orders(Bid, PassBid, MAX_BID, OrderField("id", values_of(*POWERS))),
    OrderKind("stay_out", ("commit",), lambda s, seat, values: Commit(None), applies=_is_ally, stops=()),
    OrderKind("keep_dice", ("reserves",), lambda s, seat, values: Reserves(False), stops=()),
)
"""What may be ordered, in the order in which it is offered."""

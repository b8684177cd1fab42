"""Standing orders of players: their own turns, auctions, and help for allies."""

from __future__ import annotations

from domain.games.common.auction_orders import auction_orders
from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.moves import Bid, Pass, PassBid, Reserve, Support
from domain.games.struggle_of_empires.rules.alliances import MAX_BID
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.rules.order_kinds import ANSWER, ANY_SEAT, OTHER_SEAT, OrderKind, Values
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def _asks(s: Struggle, seat: Seat, values: Values) -> bool:
    """Return whether the named seat asks for help (SOE-8.3.2)."""
    return bool(s.battle.party(s.top.context(frames.Support).side).seat == values["asker"])


def _answer_support(s: Struggle, seat: Seat, values: Values) -> Move:
    """SOE-8.3.2: as many units as may be committed, or none."""
    most = s.top.context(frames.Support)
    return Support(most.armies, most.navies) if values["answer"] == "accept" else Support(0, 0)


STANDING_ORDERS = (
    OrderKind("pass_turns", ("turn",), lambda s, seat, values: Pass()),
    *auction_orders(Bid, PassBid, MAX_BID, ANY_SEAT),
    OrderKind(
        "answer_support", ("support",), _answer_support, {"asker": OTHER_SEAT, "answer": ANSWER}, _asks, stops=()
    ),
    OrderKind("keep_dice", ("reserve",), lambda s, seat, values: Reserve(False), stops=()),
)
"""What may be ordered, in the order in which it is offered."""

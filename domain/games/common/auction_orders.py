"""Standing orders for auctions of proposals, the same in each game with such auctions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from domain.games.common.auction import Proposal, is_valid_proposal, least_bid
from domain.kernel.rules.order_kinds import OrderField, OrderKind, Values, amounts
from domain.kernel.schema.declarations import Move
from domain.types import Json, Seat


class Bidding(Protocol):
    """The open auction."""

    @property
    def standing(self) -> Proposal[Json] | None: ...


class AuctionState(Protocol):
    """The part of a game's state for its auctions."""

    @property
    def bidding(self) -> Bidding: ...
    def unaligned(self) -> Sequence[Json]: ...


def auction_orders(
    make_bid: Callable[[int, Json, Json], Move], make_pass: Callable[[], Move], most: int, party: OrderField
) -> tuple[OrderKind, ...]:
    """Return the orders to bid for one proposal up to a limit, and to pass."""

    def bid_up_to(s: AuctionState, seat: Seat, values: Values) -> Move | None:
        """Outbid any other proposal; pass if the own one stands, or beyond the limit."""
        standing, wish = s.bidding.standing, (values["a"], values["b"])
        if not is_valid_proposal(s.unaligned(), *wish):
            return None
        if standing and ((standing.a, standing.b) == wish or standing.amount >= int(values["amount"])):
            return make_pass()
        return make_bid(least_bid(standing), *wish)

    def pass_bids(s: AuctionState, seat: Seat, values: Values) -> Move | None:
        return make_pass() if s.bidding.standing else None

    fields: dict[str, OrderField] = {"amount": amounts(0, most), "a": party, "b": party}
    return (
        OrderKind("bid_up_to", ("auction_bid",), bid_up_to, fields, stops=()),
        OrderKind("pass_bids", ("auction_bid",), pass_bids, stops=()),
    )

"""SOE-6: phase 2, the auctions of the alliances and the turn order."""

from __future__ import annotations

from domain.games.common import auction
from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import ALLIANCES, CONSTANTS
from domain.games.struggle_of_empires.facts.sequence import (
    Aligned,
    AuctionOpened,
    AuctionWon,
    BidMade,
    BidPassed,
    TurnOrderSet,
)
from domain.games.struggle_of_empires.moves import Bid, PassBid
from domain.games.struggle_of_empires.rules import money
from domain.games.struggle_of_empires.state import D, StandingBid, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RULES = auction.RuleNumbers(bid="SOE-6.3", limit="SOE-6.4")
MAX_BID: int = CONSTANTS["max_bid"]
"""SOE-6.4: no bid is higher."""


def open_auction(d: D) -> None:
    """SOE-6.2: the next auction of the War. Its opener decides first; `opener` names the next one's."""
    opener = _opener(d.state)
    d.add(AuctionOpened(opener))
    d.ask(frames.AuctionBid(), opener)


def _opener(s: Struggle) -> Seat:
    """SOE-6.2: in the first auction the opener of the War, then always the seat to the left."""
    held = max(len(seats) for seats in s.alliances.values())
    return auction.opener(s.opener or 0, held, s.seats)


def check_bid(s: Struggle, seat: Seat, move: Bid) -> None:
    """SOE-6.7: the errors of `bid`, in this order."""
    auction.check_bid(RULES, s.bidding.standing, MAX_BID, s.unaligned(), move)


def check_pass_bid(s: Struggle, seat: Seat, move: PassBid) -> None:
    """SOE-6.4: only after a bid."""
    auction.check_pass(RULES, s.bidding.standing)


def do_bid(d: D, frame: Frame, seat: Seat, move: Bid) -> None:
    """SOE-6.3: a higher bid, with the same proposal or another."""
    check_bid(d.state, seat, move)
    a, b = (UNSET if x is None else x for x in (move.a, move.b))
    d.add(BidMade(seat, move.amount, a, b))
    auction.next_bidder(d, seat, frames.AuctionBid())


def do_pass_bid(d: D, frame: Frame, seat: Seat, move: PassBid) -> None:
    """SOE-6.5: when all others have passed since the standing bid, the auction is over."""
    check_pass_bid(d.state, seat, move)
    d.add(BidPassed(seat, d.state.bidding.passes + 1))
    standing = d.state.bidding.standing
    if standing and auction.is_won(d.state.bidding.passes, d.state.seats):
        d.mark_answered(seat, end=True)
        _award(d, standing)
    else:
        auction.next_bidder(d, seat, frames.AuctionBid())


def _award(d: D, bid: StandingBid) -> None:
    """SOE-6.5: the winner pays; a joins grey, b white."""
    d.add(AuctionWon(bid.seat, bid.amount))
    money.pay(d, bid.seat, bid.amount, "bid")
    for alliance, seat in zip(ALLIANCES, (bid.a, bid.b), strict=True):
        if seat is not None:
            d.add(Aligned(seat, alliance))


def set_turn_order(d: D) -> None:
    """SOE-6.6: grey 1, white 1, grey 2, white 2, and so on."""
    rows = [d.state.alliances[a] for a in ALLIANCES]
    slots = range(max(map(len, rows)))
    d.add(TurnOrderSet([row[i] for i in slots for row in rows if i < len(row)]))

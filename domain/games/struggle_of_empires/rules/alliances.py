"""SOE-6: phase 2, the auctions that make the alliances and the turn order."""

from __future__ import annotations

from domain.games.common.seats import clockwise
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
from domain.games.struggle_of_empires.rules.checks import need
from domain.games.struggle_of_empires.state import D, StandingBid, Struggle
from domain.ids import Seat
from domain.kernel.declare import UNSET
from domain.kernel.flow import Frame


def open_auction(d: D) -> None:
    """SOE-6.2: the next auction of the War. Its opener decides first; `opener` names the next one's."""
    opener = _opener(d.state)
    d.add(AuctionOpened(opener))
    d.ask(frames.AuctionBid(), opener)


def _opener(s: Struggle) -> Seat:
    """SOE-6.2: in the first auction the opener of the War, then always the seat to the left."""
    held = max(len(seats) for seats in s.alliances.values())
    return clockwise(s.opener or 0, s.seats)[held % s.seats]


def least_bid(s: Struggle) -> int:
    """SOE-6.3: the lowest amount that may be bid now."""
    standing = s.bidding.standing
    return standing.amount + 1 if standing else 0


def check_bid(s: Struggle, seat: Seat, move: Bid) -> None:
    """SOE-6.7: the errors of `bid`, in this order."""
    least, most = least_bid(s), CONSTANTS["max_bid"]
    need(move.amount >= least, "bid_too_low", "SOE-6.3", least=least)
    need(move.amount <= most, "bid_too_high", "SOE-6.4", most=most)
    need(_proposal_stands(s, move.a, move.b), "invalid_proposal", "SOE-6.3", unaligned=s.unaligned())


def _proposal_stands(s: Struggle, a: Seat | None, b: Seat | None) -> bool:
    """SOE-6.3: two different unaligned seats, or the last one and null."""
    named, free = [x for x in (a, b) if x is not None], s.unaligned()
    return len(named) == min(2, len(free)) and len(set(named)) == len(named) and set(named) <= set(free)


def check_pass_bid(s: Struggle, seat: Seat, move: PassBid) -> None:
    """SOE-6.4: somebody has bid."""
    need(s.bidding.standing is not None, "must_open_bid", "SOE-6.4")


def do_bid(d: D, frame: Frame, seat: Seat, move: Bid) -> None:
    """SOE-6.3: a higher bid, with the same proposal or another."""
    check_bid(d.state, seat, move)
    a, b = (UNSET if x is None else x for x in (move.a, move.b))
    d.add(BidMade(seat, move.amount, a, b))
    _next_bidder(d, seat)


def do_pass_bid(d: D, frame: Frame, seat: Seat, move: PassBid) -> None:
    """SOE-6.5: when all others have passed since the standing bid, the auction is over."""
    check_pass_bid(d.state, seat, move)
    d.add(BidPassed(seat, d.state.bidding.passes + 1))
    standing = d.state.bidding.standing
    if standing and d.state.bidding.passes == d.state.seats - 1:
        d.answered(seat, end=True)
        _award(d, standing)
    else:
        _next_bidder(d, seat)


def _next_bidder(d: D, seat: Seat) -> None:
    d.answered(seat, end=True)
    d.ask(frames.AuctionBid(), clockwise(seat, d.state.seats)[1])


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

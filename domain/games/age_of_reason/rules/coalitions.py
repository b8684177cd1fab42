"""AOR-6: phase 2, the auctions of the coalitions and the turn order."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import ALL_SLOTS, COALITIONS, CONSTANTS, POWERS, SLOTS
from domain.games.age_of_reason.facts.coalitions import (
    Aligned,
    AuctionOpened,
    AuctionWon,
    BidMade,
    BidPassed,
    CoalitionsDrawn,
    OpenerDrawn,
    TurnOrderSet,
)
from domain.games.age_of_reason.moves import Bid, PassBid
from domain.games.age_of_reason.rules import money
from domain.games.age_of_reason.rules.checks import need_funds
from domain.games.age_of_reason.state import AgeOfReason, D, StandingBid
from domain.games.common import auction
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RULES = auction.RuleNumbers(bid="AOR-6.4", limit="AOR-6.5")
MAX_BID: int = CONSTANTS["max_bid"]
"""AOR-6.5: no bid is higher."""


def align(d: D) -> None:
    """AOR-6.2, AOR-6.9: the next auction; in the first game turn the coalitions may be drawn instead."""
    if d.state.game_turn == 1 and d.state.terms.first_alliances == "random":
        _draw_coalitions(d)
    else:
        _open_auction(d)


def _draw_coalitions(d: D) -> None:
    """AOR-6.9: the powers of the seats, then the others, into the slots in their order."""
    seated = [power for power in POWERS if d.state.seat_of(power) is not None]
    others = [power for power in POWERS if d.state.seat_of(power) is None]
    d.add(CoalitionsDrawn([*_draw_order(d, seated), *_draw_order(d, others)]))


def _draw_order(d: D, powers: list[str]) -> list[str]:
    """Return the powers in drawn order."""
    left, drawn = list(powers), []
    while left:
        drawn.append(str(d.draws.pick("coalition", left)))
        left.remove(drawn[-1])
    return drawn


def _open_auction(d: D) -> None:
    """AOR-6.2, AOR-6.3: each further auction is opened by the seat to the left of the opener before."""
    if d.state.opener is None:
        d.add(OpenerDrawn(_first_opener(d)))
    number = len(d.state.slots) // len(COALITIONS)
    opener = auction.opener(d.state.opener or 0, number, d.state.seats)
    d.add(AuctionOpened(opener, number + 1))
    d.ask(frames.AuctionBid(), opener)


def _first_opener(d: D) -> Seat:
    """AOR-6.3: the first player; later the seat with the fewest points, drawn among equals."""
    if d.state.game_turn == 1:
        return d.state.first_player or 0
    fewest = min(empire.vp for empire in d.state.empires)
    tied = [seat for seat in d.state.everybody if d.state.empires[seat].vp == fewest]
    opener: Seat = d.draws.pick("opener", tied)
    return opener


def most_bid(s: AgeOfReason, seat: Seat) -> int:
    """AOR-6.5: the highest amount a seat may bid."""
    return min(MAX_BID, s.empires[seat].means)


def check_bid(s: AgeOfReason, seat: Seat, move: Bid) -> None:
    """AOR-6.8: the errors of `bid`, in this order."""
    auction.check_bid(RULES, s.bidding.standing, MAX_BID, s.unaligned(), move)
    need_funds(s, seat, move.amount)


def check_pass_bid(s: AgeOfReason, seat: Seat, move: PassBid) -> None:
    """AOR-6.5: only after a bid."""
    auction.check_pass(RULES, s.bidding.standing)


def do_bid(d: D, frame: Frame, seat: Seat, move: Bid) -> None:
    """AOR-6.4: a higher bid, with the same proposal or another."""
    check_bid(d.state, seat, move)
    a, b = (UNSET if power is None else power for power in (move.a, move.b))
    d.add(BidMade(seat, move.amount, a, b))
    auction.next_bidder(d, seat, frames.AuctionBid())


def do_pass_bid(d: D, frame: Frame, seat: Seat, move: PassBid) -> None:
    """AOR-6.6: when all others have passed since the standing bid, the auction is over."""
    check_pass_bid(d.state, seat, move)
    d.add(BidPassed(seat, d.state.bidding.passes + 1))
    standing = d.state.bidding.standing
    if standing and auction.is_won(d.state.bidding.passes, d.state.seats):
        d.mark_answered(seat, end=True)
        _award(d, standing)
    else:
        auction.next_bidder(d, seat, frames.AuctionBid())


def _award(d: D, bid: StandingBid) -> None:
    """AOR-6.6: the winner pays; a takes the lowest free upper slot, b the lowest free lower slot."""
    d.add(AuctionWon(bid.seat, bid.amount))
    money.pay(d, bid.seat, bid.amount, "bid")
    for coalition, power in zip(COALITIONS, (bid.a, bid.b), strict=True):
        if power is not None:
            slot = next(slot for slot in SLOTS[coalition] if slot not in d.state.slots)
            d.add(Aligned(power, coalition, slot))


def set_turn_order(d: D) -> None:
    """AOR-6.7: the seats of the powers by the number of their slot."""
    seats = [d.state.seat_of(d.state.slots[slot]) for slot in ALL_SLOTS if slot in d.state.slots]
    d.add(TurnOrderSet([seat for seat in seats if seat is not None]))

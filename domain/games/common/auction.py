"""Auctions that divide a table into two sides: each brings one to either side, and the last one comes alone.

What is brought to a side, `P`, is a seat or a power. Of the proposal, `a` is for the first side and `b` for the second.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from domain.games.common.checks import need
from domain.games.common.seats import clockwise
from domain.kernel.rules.choices import Choice, one, span
from domain.kernel.rules.draft import Draft
from domain.kernel.schema.declarations import Context
from domain.types import Seat

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True)
class Numbers:
    """The numbers of a game's rules: on bids and proposals, and on their limits."""

    bid: str
    limit: str


class Standing(Protocol):
    """The standing bid."""

    @property
    def amount(self) -> int: ...


class Proposal(Protocol[P_co]):
    """A bid that is made."""

    @property
    def amount(self) -> int: ...
    @property
    def a(self) -> P_co | None: ...
    @property
    def b(self) -> P_co | None: ...


def least_bid(standing: Standing | None) -> int:
    """The lowest amount that may be bid now: more than the standing bid, and at first anything."""
    return standing.amount + 1 if standing else 0


def opener(first: Seat, number: int, seats: int) -> Seat:
    """Who opens an auction, counted from 0: each is opened by the seat to the left of the opener before."""
    return clockwise(first, seats)[number % seats]


def stands(free: Sequence[P], a: P | None, b: P | None) -> bool:
    """Whether a proposal names two of those who are free, or the last one and nobody."""
    named = [each for each in (a, b) if each is not None]
    return len(named) == min(2, len(free)) and len(set(named)) == len(named) and set(named) <= set(free)


def check_bid(rule: Numbers, standing: Standing | None, most: int, free: Sequence[P], move: Proposal[P]) -> None:
    """Raises RuleError `bid_too_low`, `bid_too_high`, `invalid_proposal`, in this order."""
    least = least_bid(standing)
    need(move.amount >= least, "bid_too_low", rule.bid, least=least)
    need(move.amount <= most, "bid_too_high", rule.limit, most=most)
    need(stands(free, move.a, move.b), "invalid_proposal", rule.bid, unaligned=list(free))


def check_pass(rule: Numbers, standing: Standing | None) -> None:
    """Raises RuleError `must_open_bid` where nobody has bid."""
    need(standing is not None, "must_open_bid", rule.limit)


def won(passes: int, seats: int) -> bool:
    """Whether all others have passed since the standing bid."""
    return passes == seats - 1


def next_bidder(d: Draft[Any], seat: Seat, about: Context) -> None:
    """The seat has bid or passed; the seat to its left is asked."""
    d.answered(seat, end=True)
    d.ask(about, clockwise(seat, d.state.seats)[1])


def ask(
    free: Sequence[P], standing: Standing | None, most: int
) -> Generator[Choice, Any, tuple[int, P | None, P | None] | None]:
    """The questions of the move builder: returns amount and proposal, or None for a pass."""
    least = least_bid(standing)
    kinds = ["pass_bid"] * (standing is not None) + ["bid"] * (least <= most)
    if (yield one("type", kinds, ends=["pass_bid"])) == "pass_bid":
        return None
    amount: int = yield span("amount", least, most)
    offered: list[Any] = [*free]
    a = yield one("a", offered if len(offered) > 1 else [*offered, None])
    rest = [each for each in offered if each != a] or [None]
    b = yield one("b", rest)
    return amount, a, b

"""Auctions dividing a table into two sides: each bid proposes one party for either side; the last party joins alone.

A party, `P`, is a seat or a power. In a proposal, `a` is for the first side and `b` for the second.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from domain.games.common.checks import require
from domain.games.common.seats import clockwise
from domain.kernel.rules.choices import Choice, one, span
from domain.kernel.rules.draft import Draft
from domain.kernel.schema.declarations import Context
from domain.types import Seat

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True)
class RuleNumbers:
    """Rule numbers of a game: on bids and proposals, and on their limits."""

    bid: str
    limit: str


class Standing(Protocol):
    """The standing bid."""

    @property
    def amount(self) -> int: ...


class Proposal(Protocol[P_co]):
    """A new bid."""

    @property
    def amount(self) -> int: ...
    @property
    def a(self) -> P_co | None: ...
    @property
    def b(self) -> P_co | None: ...


def least_bid(standing: Standing | None) -> int:
    """Return the lowest possible bid: more than the standing bid, and at first anything."""
    return standing.amount + 1 if standing else 0


def opener(first: Seat, number: int, seats: int) -> Seat:
    """Return the opener of an auction (counted from 0): the seat to the left of the previous opener."""
    return clockwise(first, seats)[number % seats]


def is_valid_proposal(free: Sequence[P], a: P | None, b: P | None) -> bool:
    """Return whether a proposal names two free parties, or the last one and nobody."""
    parties = [each for each in (a, b) if each is not None]
    return len(parties) == min(2, len(free)) and len(set(parties)) == len(parties) and set(parties) <= set(free)


def check_bid(rule: RuleNumbers, standing: Standing | None, most: int, free: Sequence[P], move: Proposal[P]) -> None:
    """Raise RuleError `bid_too_low`, `bid_too_high`, `invalid_proposal`, in this order."""
    least = least_bid(standing)
    require(move.amount >= least, "bid_too_low", rule.bid, least=least)
    require(move.amount <= most, "bid_too_high", rule.limit, most=most)
    require(is_valid_proposal(free, move.a, move.b), "invalid_proposal", rule.bid, unaligned=list(free))


def check_pass(rule: RuleNumbers, standing: Standing | None) -> None:
    """Raise RuleError `must_open_bid` if nobody has bid."""
    require(standing is not None, "must_open_bid", rule.limit)


def is_won(passes: int, seats: int) -> bool:
    """Return whether all others have passed since the standing bid."""
    return passes == seats - 1


def next_bidder(draft: Draft[Any], seat: Seat, context: Context) -> None:
    """Close the seat's turn after a bid or pass, and ask the seat to its left."""
    draft.mark_answered(seat, end=True)
    draft.ask(context, clockwise(seat, draft.state.seats)[1])


def ask_bid(
    free: Sequence[P], standing: Standing | None, most: int
) -> Generator[Choice, Any, tuple[int, P | None, P | None] | None]:
    """Ask the questions of the move builder; return amount and proposal, or None for a pass."""
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

"""AOR-18: moves played for a seat after its deadline."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.age_of_reason.data import BLUFF
from domain.games.age_of_reason.moves import Bid, ChoosePower, Commit, Hire, Pass, PassBid, Reserves
from domain.games.age_of_reason.rules.setup import free_powers
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.rules.flow import Decision
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def default(s: AgeOfReason, decision: Decision, seat: Seat) -> Move:
    """AOR-18.1: the default of every decision."""
    return DEFAULTS[decision.kind](s, seat)


def _choose_power(s: AgeOfReason, seat: Seat) -> Move:
    return ChoosePower(free_powers(s)[0])


def _auction_bid(s: AgeOfReason, seat: Seat) -> Move:
    if s.bidding.standing:
        return PassBid()
    free = s.unaligned()
    return Bid(0, free[0], free[1] if len(free) > 1 else None)


def _commit(s: AgeOfReason, seat: Seat) -> Move:
    """Commit the defender's Bluff, always in hand; nothing for an ally."""
    return Commit(BLUFF[s.power(seat)] if seat == s.fight.defender else None)


DEFAULTS: dict[str, Callable[[AgeOfReason, Seat], Move]] = {
    "choose_power": _choose_power,
    "auction_bid": _auction_bid,
    "turn": lambda s, seat: Pass(),
    "commit": _commit,
    "hire": lambda s, seat: Hire([]),
    "reserves": lambda s, seat: Reserves(False),
}

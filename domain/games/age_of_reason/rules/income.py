"""AOR-12.1: phase 4, income."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS
from domain.games.age_of_reason.rules import money
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.types import Seat


def pay_incomes(d: D) -> None:
    """AOR-12.1: gold for every own token on the map."""
    for seat in d.state.everybody:
        money.receive(d, seat, income(d.state, seat), "income")


def income(s: AgeOfReason, seat: Seat) -> int:
    """AOR-12.1: gold for the own tokens on the map."""
    per_token: int = CONSTANTS["income_per_token"]
    return per_token * sum(s.tokens_of(seat).values())

"""AOR-12.1: phase 4, income."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS
from domain.games.age_of_reason.rules import money
from domain.games.age_of_reason.state import D


def pay_incomes(d: D) -> None:
    """AOR-12.1: gold for every own token on the map."""
    for seat in d.state.everybody:
        tokens = sum(d.state.own(seat).values())
        money.receive(d, seat, CONSTANTS["income_per_token"] * tokens, "income")

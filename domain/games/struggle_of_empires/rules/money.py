"""SOE-14: gold, population and unrest. Paying gold is always possible, because the bank lends."""

from __future__ import annotations

from domain.games.common import loans
from domain.games.struggle_of_empires.data import CONSTANTS
from domain.games.struggle_of_empires.facts.economy import (
    GoldPaid,
    GoldReceived,
    LoanTaken,
    PopulationGrown,
    PopulationPaid,
    VpGained,
)
from domain.games.struggle_of_empires.state import D, Empire
from domain.types import Json, Seat


def gold_per_unrest(empire: Empire) -> int:
    """SOE-14.2: the gold that a loan gives for each unrest."""
    return int(CONSTANTS["loan"]["gold_per_unrest" + ("_with_banking" if empire.owned("banking") else "")])


def loan(empire: Empire, gold: int) -> tuple[int, int]:
    """SOE-14.2: the loan needed to pay `gold`, and the unrest added by it: (gold, unrest)."""
    return loans.loan(empire.gold, gold, gold_per_unrest(empire))


def after_paying(empire: Empire, gold: int) -> int:
    """Return the gold in hand after a payment and its loan."""
    return empire.gold + loan(empire, gold)[0] - gold


def price(empire: Empire, gold: int = 0, population: int = 0, unrest: int = 0) -> dict[str, Json]:
    """Return an option's cost in the form for clients: `loan` is the unrest added by borrowing."""
    figures = {"gold": gold, "population": population, "unrest": unrest, "loan": loan(empire, gold)[1]}
    return {name: figure for name, figure in figures.items() if figure}


def pay(d: D, seat: Seat, gold: int, why: str) -> None:
    """SOE-14.2, SOE-14.3: pay the bank, borrowing the missing amount."""
    if gold == 0:
        return
    lent, unrest = loan(d.state.empires[seat], gold)
    if lent:
        have = d.state.empires[seat].gold + lent
        d.add(LoanTaken(seat, gold=lent, unrest=unrest, left=have))
    left = d.state.empires[seat].gold - gold
    d.add(GoldPaid(seat, gold, why, left))


def receive(d: D, seat: Seat, gold: int, why: str) -> None:
    """Take gold from the bank."""
    if gold:
        have = d.state.empires[seat].gold + gold
        d.add(GoldReceived(seat, gold, why, have))


def pay_population(d: D, seat: Seat, paid: int) -> None:
    """Spend population."""
    if paid:
        left = d.state.empires[seat].population - paid
        d.add(PopulationPaid(seat, paid, left))


def grow(d: D, seat: Seat, by: int) -> None:
    """SOE-1.6: population rises, never above 9."""
    grown = min(d.state.empires[seat].population + by, CONSTANTS["max_population"])
    if grown != d.state.empires[seat].population:
        d.add(PopulationGrown(seat, grown))


def gain_vp(d: D, seat: Seat, vp: int, why: str) -> None:
    """Gain victory points at once."""
    if vp:
        total = d.state.empires[seat].vp + vp
        d.add(VpGained(seat, vp, why, total))

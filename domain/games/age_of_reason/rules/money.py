"""AOR-15: gold and unrest. A seat borrows any missing amount, as far as its unrest can still rise."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS, UNREST_MAX
from domain.games.age_of_reason.facts.economy import GoldPaid, GoldReceived, LoanTaken, UnrestAdded, VpGained
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.games.common.loans import loan
from domain.types import Json, Seat


def loan_for(s: AgeOfReason, seat: Seat, gold: int) -> tuple[int, int]:
    """AOR-15.2: the loan needed to pay `gold`, and the unrest added by it: (gold, unrest)."""
    return loan(s.empires[seat].gold, gold, CONSTANTS["loan_gold_per_unrest"])


def price(s: AgeOfReason, seat: Seat, gold: int, spent: int = 0) -> dict[str, Json]:
    """AOR-16.5: an option's cost in the form for clients: `loan` is the unrest added by borrowing.

    `spent` is gold due in the same payment anyhow; the loan is counted beyond it.
    """
    figures = {"gold": gold, "loan": loan_for(s, seat, spent + gold)[1] - loan_for(s, seat, spent)[1]}
    return {name: figure for name, figure in figures.items() if figure}


def pay(d: D, seat: Seat, gold: int, why: str) -> None:
    """AOR-15.2, AOR-15.4: pay the bank, borrowing the missing amount."""
    if not gold:
        return
    lent, unrest = loan_for(d.state, seat, gold)
    have = d.state.empires[seat].gold + lent
    if lent:
        d.add(LoanTaken(seat, lent, unrest, have, d.state.empires[seat].unrest + unrest))
    d.add(GoldPaid(seat, gold, why, have - gold))


def receive(d: D, seat: Seat, gold: int, why: str) -> None:
    """Take gold from the bank."""
    if gold:
        d.add(GoldReceived(seat, gold, why, d.state.empires[seat].gold + gold))


def add_unrest(d: D, seat: Seat, unrest: int) -> None:
    """AOR-1.7, AOR-9.9.5: unrest rises; points beyond the track are lost."""
    before = d.state.empires[seat].unrest
    total = min(before + unrest, UNREST_MAX)
    if total > before:
        d.add(UnrestAdded(seat, total - before, total))


def gain_vp(d: D, seat: Seat, vp: int) -> None:
    """AOR-9.9.3: victory points at once."""
    if vp:
        d.add(VpGained(seat, vp, d.state.empires[seat].vp + vp))

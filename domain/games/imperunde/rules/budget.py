"""IMP-6.3: revenue and debt."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.imperunde.data import COUNTRIES, ECONOMY, VALUE
from domain.games.imperunde.facts.money import BudgetApplied, BudgetSent, IncomeComputed
from domain.games.imperunde.moves import SetBudget
from domain.games.imperunde.rules.end import check_win
from domain.games.imperunde.state import Budget, D, ImpeRunde
from domain.kernel.rules.flow import Frame
from domain.types import Seat

LINES = ("surplus", "home_tax", "peace_dividend", "colonial_tax", "maritime_tax", "interest")


def compute(d: D) -> None:
    """IMP-6.3.2: every seat's lines, on the same board."""
    s = d.state
    for seat in s.order:
        d.add(IncomeComputed(seat, income(s, seat)))


def income(s: ImpeRunde, seat: Seat) -> dict[str, int]:
    """IMP-6.3.2: the six lines of a seat's budget."""
    nation = s.nations[seat]
    friends = sum(x != seat and not s.at_war(seat, x) for x in s.everybody)
    return {
        "surplus": nation.surplus,
        "home_tax": ECONOMY["home_tax"],
        "peace_dividend": ECONOMY["peace_dividend"] * friends,
        "colonial_tax": ECONOMY["colonial_tax_per_post"] * _taxed_posts(s, seat),
        "maritime_tax": sum(VALUE[z] for z in taxed_zones(s, seat)),
        "interest": -ECONOMY["interest_per_5_debt"] * (nation.debt // 5),
    }


def _taxed_posts(s: ImpeRunde, seat: Seat) -> int:
    own = sum(c.posts for c in s.countries.values() if c.owner == seat and not c.black)
    return own + sum(c.posts for c in s.countries.values() if c.plundered_by == seat and not c.famine)


def taxed_zones(s: ImpeRunde, seat: Seat) -> list[str]:
    """IMP-6.3.2.5: controlled zones next to the home, or to a colony with a post; each once."""
    ports = [s.nations[seat].home, *(c for c, x in s.countries.items() if x.owner == seat and x.posts)]
    near = {z for port in ports for z in COUNTRIES[port].coasts}
    return sorted(z for z in near if s.controller(z) == seat)


def check_set_budget(s: ImpeRunde, seat: Seat, move: SetBudget) -> None:
    """IMP-6.3.3: the errors of `set_budget`, in this order."""
    rule, nation = "IMP-6.3.3", s.nations[seat]
    repay, borrow = move.repay, move.borrow
    require(repay in ECONOMY["repay_choices"] and borrow in ECONOMY["borrow_choices"], "invalid_amount", rule)
    require(not (repay and borrow), "repay_and_borrow", rule)
    require(repay <= nation.debt, "repay_exceeds_debt", rule, debt=nation.debt)
    have = sum(nation.ledger[line] for line in LINES)
    require(repay <= have, "insufficient_funds", rule, available=have)
    require(
        nation.debt + borrow <= ECONOMY["max_debt"], "debt_limit", rule, debt=nation.debt, highest=ECONOMY["max_debt"]
    )


def do_set_budget(d: D, frame: Frame, seat: Seat, move: SetBudget) -> None:
    """IMP-6.3.3: sealed; may be replaced until the last seat has sent."""
    check_set_budget(d.state, seat, move)
    d.add(BudgetSent(seat, move.repay, move.borrow), (seat,))
    if seat in frame.owing:
        d.mark_answered(seat)


def go_budget(d: D, frame: Frame) -> None:
    """IMP-6.3.4: all have sent."""
    d.end()


def apply(d: D) -> None:
    """IMP-6.3.4: in turn order."""
    for seat in d.state.order:
        budget, nation = d.state.budgets.get(str(seat), Budget()), d.state.nations[seat]
        have = sum(nation.ledger[line] for line in LINES)
        d.add(
            BudgetApplied(
                seat,
                budget.repay,
                budget.borrow,
                debt=nation.debt - budget.repay + budget.borrow,
                income=have - nation.ledger["surplus"],
                available=have - budget.repay + budget.borrow,
            )
        )
        check_win(d)

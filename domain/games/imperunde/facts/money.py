"""Revenue, debt and investments (IMP-6.3, IMP-6.4)."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.imperunde import state_updates
from domain.games.imperunde.data import UNITS
from domain.games.imperunde.state import Budget, ImpeRunde
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat

S = ImpeRunde


class IncomeComputed(Fact[S], frozen=True):
    """IMP-6.3.2: the lines of a seat's budget."""

    seat: Seat
    lines: Mapping[str, int]

    def evolve(self, s: S) -> S:
        return state_updates.nation(s, self.seat, ledger=self.lines)


class BudgetSent(Fact[S], frozen=True):
    """IMP-6.3.3: a seat's sealed answer, told to it alone."""

    seat: Seat
    repay: Count
    borrow: Count

    def evolve(self, s: S) -> S:
        return assign(s, budgets={**s.budgets, str(self.seat): Budget(self.repay, self.borrow)})


class BudgetApplied(Fact[S], frozen=True):
    """IMP-6.3.4: a seat's repayment and loan, and its money then; `income` is without the surplus."""

    seat: Seat
    repay: Count
    borrow: Count
    debt: int
    income: int
    available: int

    def evolve(self, s: S) -> S:
        nation = s.nations[self.seat]
        applied = state_updates.nation(
            s,
            self.seat,
            debt=self.debt,
            available=self.available,
            surplus=0,
            ledger={**nation.ledger, "repay": self.repay, "borrow": self.borrow},
            received=nation.received + self.income + self.borrow,
            paid=nation.paid + self.repay,
        )
        return assign(applied, budgets={k: b for k, b in s.budgets.items() if k != str(self.seat)})


class PurchaseMade(Fact[S], frozen=True):
    """IMP-6.4.2: pieces are paid and placed, warships in a zone; `budget` is the colony's expenses so far."""

    seat: Seat
    item: str
    quantity: Count
    country: str
    cost: Count
    available: int
    zone: Maybe[str] = UNSET
    budget: Maybe[int] = UNSET

    def evolve(self, s: S) -> S:
        nation = s.nations[self.seat]
        spent = nation.spent if self.budget is UNSET else {**nation.spent, self.country: self.budget}
        s = state_updates.nation(s, self.seat, available=self.available, paid=nation.paid + self.cost, spent=spent)
        if UNITS[self.item].kind == "post":
            return state_updates.posts(s, self.country, self.quantity)
        return state_updates.units(s, self.seat, self.zone or self.country, (Lot(self.item, self.quantity),))


class CanalBuilt(Fact[S], frozen=True):
    """IMP-6.4.4: a canal is built, with its fresh posts."""

    seat: Seat
    canal: str
    country: str
    posts: int
    cost: Count
    available: int

    def evolve(self, s: S) -> S:
        s = state_updates.pay(state_updates.posts(s, self.country, self.posts), self.seat, self.cost, self.available)
        return assign(s, canals=(*s.canals, self.canal))


class CardsBought(Fact[S], frozen=True):
    """IMP-6.4.5: cards are paid; `bought` is how many this turn."""

    seat: Seat
    quantity: Count
    bought: int
    cost: Count
    available: int

    def evolve(self, s: S) -> S:
        return state_updates.nation(
            state_updates.pay(s, self.seat, self.cost, self.available), self.seat, bought=self.bought
        )


class InvestmentsEnded(Fact[S], frozen=True):
    """IMP-6.4.1: unspent money is the surplus."""

    seat: Seat
    surplus: int

    def evolve(self, s: S) -> S:
        return state_updates.nation(s, self.seat, available=0, surplus=self.surplus)


class PostsSettled(Fact[S], frozen=True):
    """IMP-6.4.6: no post is fresh any more."""

    def evolve(self, s: S) -> S:
        countries = {k: assign(c, fresh_posts=0) if c.fresh_posts else c for k, c in s.countries.items()}
        return assign(s, countries=countries)


class TradeProfit(Fact[S], frozen=True):
    """IMP-10.4: an event brings a seat doubloons; `surplus` is the new amount."""

    seat: Seat
    country: str
    doubloons: Count
    surplus: int

    def evolve(self, s: S) -> S:
        received = s.nations[self.seat].received + self.doubloons
        return state_updates.nation(s, self.seat, surplus=self.surplus, received=received)


FACTS = declared_classes(__name__, Fact)

"""Standing orders of players: talks, votes, budgets, and windows for cards."""

from __future__ import annotations

from domain.games.imperunde.moves import WINDOW_FRAMES, EndInvestments, Pass, Ready, SetBudget, VoteGoal
from domain.kernel.rules.order_kinds import ANSWER, OrderKind, amounts

MOST_MONEY = 99
"""Greatest amount of an order for the budget."""

STANDING_ORDERS = (
    OrderKind("ready", ("diplomacy",), lambda s, seat, values: Ready()),
    OrderKind(
        "vote_goals",
        ("goal_vote",),
        lambda s, seat, values: VoteGoal(values["answer"] == "accept"),
        {"answer": ANSWER},
        stops=(),
    ),
    OrderKind(
        "same_budget",
        ("budget",),
        lambda s, seat, values: SetBudget(int(values["repay"]), int(values["borrow"])),
        {"repay": amounts(0, MOST_MONEY), "borrow": amounts(0, MOST_MONEY)},
    ),
    OrderKind("buy_nothing", ("investment",), lambda s, seat, values: EndInvestments()),
    OrderKind("pass_windows", WINDOW_FRAMES, lambda s, seat, values: Pass()),
)
"""What may be ordered, in the order in which it is offered."""

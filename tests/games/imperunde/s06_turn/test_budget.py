"""IMP-6.3: revenue and debt."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.imperunde.rules.budget import income, taxed_zones
from tests.games.imperunde.board import card, colony, deciding, named, position, zone


def budget(repay: int = 0, borrow: int = 0) -> Any:
    return {"type": "set_budget", "repay": repay, "borrow": borrow}


def test_the_revenue_window_comes_first() -> None:
    """IMP-6.3.1: the only time for `plunder`."""
    game = position(step="revenue", wars=[(0, 1)], hands={0: ["plunder"]}, countries={"congo": colony(1, posts=2)})
    assert deciding(game) == ("open_window", [0])
    game.when(0, card("plunder", country="congo"))
    assert deciding(game)[0] == "budget"


def test_the_worked_example_of_maritime_tax() -> None:
    """IMP-6.3.2: Arabian Sea 3 and Gulf of Guinea 2; not the Indian Ocean, Magellan, the Central Atlantic."""
    frigate = {1: {"frigate": 1}}
    game = position(
        step="budget",
        countries={"madagascar": colony(1, posts=1), "guinea": colony(1, infantry=1)},
        zones={
            "arabian_sea": zone(frigate),
            "gulf_of_guinea": zone({1: {"ship_of_the_line": 1}}),
            "indian_ocean": zone({1: {"infantry": 2}}),
            "strait_of_magellan": zone(frigate),
            "central_atlantic": zone(frigate),
        },
    )
    assert taxed_zones(game.state, 1) == ["arabian_sea", "gulf_of_guinea"]
    assert game.state.nations[1].ledger["maritime_tax"] == 5


def test_the_six_lines() -> None:
    """IMP-6.3.2: surplus, home 5, 2 for each friend, posts, zones, interest."""
    game = position(
        4,
        "budget",
        wars=[(0, 1)],
        overrides={(0, 2): "war"},
        nations={0: {"surplus": 4, "debt": 10}},
        countries={"france": colony(0, posts=3), "spain": colony(0, posts=2, famine=True)},
        zones={"north_sea": zone({0: {"frigate": 1}}, marker="storm")},
    )
    assert game.state.nations[0].ledger == {
        "surplus": 4,
        "home_tax": 5,
        "peace_dividend": 2,
        "colonial_tax": 3,
        "maritime_tax": 3,
        "interest": -2,
    }


def test_plundered_posts_pay_the_plunderer() -> None:
    """IMP-6.3.2: nothing if the colony also has a famine marker."""
    countries = {"congo": colony(1, posts=2, plundered_by=0), "egypt": colony(1, posts=2, plundered_by=0, famine=True)}
    s = position(step="budget", countries=countries).state
    assert (income(s, 0)["colonial_tax"], income(s, 1)["colonial_tax"]) == (2, 0)


@pytest.mark.parametrize(
    ("nation", "answer", "code"),
    [
        ({}, budget(repay=3), "invalid_amount"),
        ({"debt": 5}, budget(5, 5), "repay_and_borrow"),
        ({"debt": 5}, budget(repay=10), "repay_exceeds_debt"),
        ({"debt": 25}, budget(repay=10), "insufficient_funds"),
        ({"debt": 25}, budget(borrow=5), "debt_limit"),
    ],
)
def test_refused_budgets(nation: dict[str, int], answer: Any, code: str) -> None:
    """IMP-6.3.3: in this order."""
    wars = [(0, 1), (0, 2)]
    position(step="budget", wars=wars, nations={0: nation}).refused(0, answer, code, "IMP-6.3.3")


def test_a_budget_is_sealed_and_can_be_replaced() -> None:
    """IMP-6.3.3, IMP-6.3.5: that it was sent is public, what is its own until all have sent; then all is."""
    game = position(step="budget", nations={0: {"debt": 10}})
    game.when(0, budget(repay=5))
    game.when(0, budget(repay=0, borrow=5))
    assert game.decision.done == (0,)
    assert game.sight(0)["budget"] == {"repay": 0, "borrow": 5}
    assert '"borrow"' not in str(game.match.records[-1].public)
    game.when(1, budget())
    game.when(2, budget())
    assert game.sight("public")["nations"][0]["ledger"]["borrow"] == 5


def test_budgets_are_applied_in_turn_order() -> None:
    """IMP-6.3.4: income less repayment, or with what is borrowed; the surplus is spent."""
    game = position(step="budget", nations={0: {"debt": 10, "surplus": 3}}, order=[2, 0, 1])
    game.when(0, budget(repay=10))
    game.when(1, budget(borrow=5))
    facts = game.when(2, budget())
    assert [f["seat"] for f in named(facts, "budget_applied")] == [2, 0, 1]
    assert [(n.debt, n.available, n.surplus) for n in game.state.nations] == [(0, 0, 0), (5, 14, 0), (0, 9, 0)]


def test_money_never_runs_below_zero() -> None:
    """IMP-6.3.4: the greatest interest is the home tax."""
    game = position(step="budget", wars=[(0, 1), (0, 2)], nations={0: {"debt": 25}})
    assert sum(game.state.nations[0].ledger.values()) == 0


def test_a_repayment_can_win() -> None:
    """IMP-12.1, IMP-6.3.4: at once, in turn order."""
    posts = {c: colony(0, posts=3) for c in ("france", "spain", "china")}
    game = position(step="budget", goal=9, nations={0: {"debt": 5}}, countries=posts)
    game.when(0, budget(repay=5))
    game.when(1, budget())
    game.when(2, budget())
    assert (game.state.winner, game.state.over) == (0, True)

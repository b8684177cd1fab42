"""Appendix A of the rules page, figure by figure."""

from __future__ import annotations

from typing import Any

from domain.games.egc.data import TERRITORIES
from domain.types import Doc
from tests.games.egc.board import Board, move, of, position

ARMY = "austria_hungary-1"
SHEET: list[Doc] = [
    {"type": "set_research", "technology": "naval", "amount": 50_000},
    {"type": "build", "territory": "austria_hungary", "infrastructure": "factory"},
    move(ARMY, "austria_hungary", "serbia"),
]


def example() -> Board:
    """The start: Austria-Hungary has rank 1 in everything, all neutral armies have morale 5 and training 4."""
    return position(armies={0: {ARMY: ("austria_hungary", 200, 7, 6)}})


def turn_one() -> tuple[Board, list[Doc]]:
    """After the first turn."""
    game = example()
    return game, game.resolve({0: SHEET})


def turn_two() -> tuple[Board, list[Doc]]:
    """After the second, with an empty sheet."""
    game, _ = turn_one()
    return game, game.resolve()


def statement(facts: list[Doc]) -> dict[str, Any]:
    """Austria-Hungary's finances."""
    (found,) = of(facts, "finance_settled", 0)
    return {k: v for k, v in found.items() if k not in ("t", "step", "seat")}


def test_the_start() -> None:
    """EGC-4.4: treasury, points, army, ranks; Serbia has supply 90 and defence 16."""
    state = example().state
    e = state.empires[0]
    assert (e.treasury, e.diplomacy, set(e.ranks.values())) == (500_000, 300, {1})
    serbia = state.garrisons["serbia"]
    assert (serbia.divisions, serbia.morale, serbia.training) == (90, 5, 4)
    assert (TERRITORIES["serbia"].supply, TERRITORIES["serbia"].defence) == (90, 16)


def test_research() -> None:
    """EGC-13.1, EGC-13.2: 50000*15500*145 // (100*300000) = 3745 points, added at the end of turn 4."""
    game, _ = turn_one()
    assert [(i.technology, i.points, i.due) for i in game.state.empires[0].investments] == [("naval", 3745, 5)]
    for turn in (2, 3, 4):
        before = game.state.empires[0].points["naval"]
        game.resolve()
        assert game.state.empires[0].points["naval"] == before * 9 // 10 + (3745 if turn == 4 else 0)


def test_the_battle() -> None:
    """EGC-9.3, EGC-9.4, EGC-9.5, EGC-9.8: Q 60 and 40, M 180; 19, 18, 17 against 11, 8, 6; 54 are more than 45."""
    _, facts = turn_one()
    (combat,) = of(facts, "combat_fought")
    assert combat["before"] == [200, 90]
    assert combat["rounds"] == [[60, 40, 180, 0, 11, 19, {}], [60, 40, 180, 0, 8, 18, {}], [60, 40, 180, 0, 6, 17, {}]]
    assert combat["losses"] == [25, 54]
    assert (combat["fort"], combat["landing"]) == (0, False)


def test_after_the_battle() -> None:
    """EGC-9.10: the neutral army is destroyed; 175 are left, and 4*90 >= 200 makes it significant: morale 8."""
    game, facts = turn_one()
    (combat,) = of(facts, "combat_fought")
    assert (combat["winner"], combat["significant"], combat["goes"]) == (ARMY, True, [["N-serbia", None]])
    assert game.army(ARMY) == ("serbia", 175, 8, 6)
    assert "serbia" not in game.state.garrisons


def test_the_conquest() -> None:
    """EGC-5.1, EGC-11.1, EGC-11.4: taken before supply is looked at: 90 x 2 = 180 in that turn, nobody starves."""
    game, facts = turn_one()
    assert (game.owner("serbia"), game.state.lands["serbia"].conquered_turn) == (0, 1)
    assert not of(facts, "supply_lost")


def test_the_finances_of_turn_one() -> None:
    """EGC-12.1 to EGC-12.6, EGC-14.10: 350000 + 366000 + 150000 - 26250, and 300 + 200 points."""
    game, facts = turn_one()
    assert statement(facts) == {
        "kept": 350_000,
        "national": 366_000,
        "colonial": 0,
        "corruption": 0,
        "protectorates": 0,
        "revenue": 366_000,
        "usury": 0,
        "bonus": 150_000,
        "plunder": 0,
        "gifts": 0,
        "upkeep": 26_250,
        "deserted": 0,
        "treasury": 839_750,
    }
    assert game.state.empires[0].diplomacy == 500


def test_training_in_turn_two() -> None:
    """EGC-7.10.6, EGC-10.1: without an order the army, morale 8 and training 6, trains."""
    _, facts = turn_two()
    assert of(facts, "armies_drilled", 0)[0]["trained"] == {ARMY: 7}


def test_attrition_in_turn_two() -> None:
    """EGC-11.4: 85 above 90, over 94, 57 percent: ceil(48.45) = 49, 126 are left."""
    game, facts = turn_two()
    (hunger,) = of(facts, "supply_lost")
    assert (hunger["total"], hunger["capacity"], hunger["divisions"], hunger["left"]) == (175, 90, 49, {ARMY: 126})
    assert game.army(ARMY) == ("serbia", 126, 8, 7)


def test_the_finances_of_turn_two() -> None:
    """EGC-12.2 to EGC-12.6: a quarter of 50000, 1*(1 + 2)//5 = 0 % corruption, usury (839750 - 378500)//2."""
    _, facts = turn_two()
    assert statement(facts) == {
        "kept": 839_750,
        "national": 366_000,
        "colonial": 12_500,
        "corruption": 0,
        "protectorates": 0,
        "revenue": 378_500,
        "usury": 230_625,
        "bonus": 100_000,
        "plunder": 0,
        "gifts": 0,
        "upkeep": 18_900,
        "deserted": 0,
        "treasury": 1_068_725,
    }

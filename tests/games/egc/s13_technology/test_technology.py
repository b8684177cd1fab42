"""Research and ranks."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.egc.data import TECHNOLOGIES
from domain.games.egc.rules.technology import ranks_of, research_points
from tests.games.egc.board import Board, move, of, order, position


@pytest.mark.parametrize(
    ("amount", "rank", "revenue", "points"),
    [(100_000, 6, 300_000, 6200), (50_000, 1, 300_000, 3745), (10_000, 10, 50_000, 1550), (0, 1, 1, 0)],
)
def test_points_for_money(amount: int, rank: int, revenue: int, points: int) -> None:
    """EGC-13.1: by the share of the latest revenue, at least 100000."""
    assert research_points(amount, rank, revenue) == points


def test_decay_and_ripe_research() -> None:
    """EGC-13.2: a tenth is lost each turn, then what is due is added."""
    due = [{"technology": "naval", "points": 500, "due": 6}, {"technology": "naval", "points": 70, "due": 7}]
    game = position(5, empires={3: {"investments": due}})
    game.resolve()
    e = game.state.empires[3]
    assert (e.points["naval"], e.points["research"]) == (7000 * 9 // 10 + 500, 7000 * 9 // 10)
    assert [i.due for i in e.investments] == [7]


def test_investments_of_an_eliminated_empire_are_lost() -> None:
    """EGC-13.3: its points stay as they were, it has no new rank."""
    due = [{"technology": "naval", "points": 500, "due": 6}]
    out = position(
        5, empires={4: {"investments": due}}, status={"4": "eliminated"}, owners={"japan": 2}, levels={"japan": {}}
    )
    before = out.state.empires[4].points
    out.resolve()
    assert out.state.empires[4].points == before
    assert out.state.empires[9].ranks["naval"] == 10


def test_the_whole_treasury_can_be_invested() -> None:
    """EGC-13.4."""
    game = position()
    game.file(3, {"type": "set_research", "technology": "naval", "amount": 500_000})


def test_ranks() -> None:
    """EGC-13.5: by points, then the smaller revenue, then the lot; spread from 1 to 10."""
    points = [{"naval": n} for n in (50, 70, 70, 70)]
    lot = [3, 2, 1, 0]
    found = ranks_of(points, [1, 9, 5, 5], lot, [0, 1, 2, 3])
    assert [found[x]["naval"] for x in range(4)] == [10, 7, 4, 1]
    assert ranks_of(points, [1, 9, 5, 5], lot, [1])[1]["naval"] == 1
    ten = ranks_of([{}] * 10, [0] * 10, list(range(10)), list(range(10)))
    assert [ten[x]["naval"] for x in range(10)] == list(range(1, 11))
    nine = ranks_of([{}] * 10, [0] * 10, list(range(10)), list(range(9)))
    assert [nine[x]["naval"] for x in range(9)] == [1, 2, 3, 4, 5, 6, 7, 8, 10]


def test_ranks_act_from_the_next_turn_on() -> None:
    """EGC-13.6: naval rank and its moves, exploration and its prices."""
    points = {**dict.fromkeys(TECHNOLOGIES, 0), "exploration": 99_000}
    game = position(empires={9: {"points": points}})
    game.file(9, {"type": "spy_territory", "territory": "spain"})
    game.resolve()
    assert game.state.rank(9, "exploration") == 1
    game.file(9, {"type": "spy_territory", "territory": "spain"})
    assert game.state.sheets[9].spent == 2_000


def risen(technology: str, **more: Any) -> Board:
    """The Zulu empire, the last in everything, is the first in one technology after the turn."""
    points = {**dict.fromkeys(TECHNOLOGIES, 0), technology: 99_000}
    game = position(empires={9: {"points": points}}, **more)
    game.resolve()
    assert game.state.empires[9].ranks == {**dict.fromkeys(TECHNOLOGIES, 10), technology: 1}
    return game


HOME = "south_africa"
ZULU_ARMY = {9: {"zulu-1": (HOME, 50, 5, 6)}}


def test_logistics() -> None:
    """EGC-13.6: the activation window."""
    game = risen("logistics", armies=ZULU_ARMY)
    game.file(9, move("zulu-1", HOME, "rhodesia", round=1))


@pytest.mark.parametrize(
    ("technology", "army"), [("land_warfare", (HOME, 5, 3, 6)), ("officer_training", (HOME, 5, 7, 2))]
)
def test_armies_begin_as_their_empire_can_train_them(technology: str, army: tuple[str, int, int, int]) -> None:
    """EGC-13.6: training 6 instead of 2, morale 7 instead of 3."""
    game = risen(technology)
    facts = game.resolve({9: [{"type": "recruit", "territory": HOME, "divisions": 5}]})
    assert of(facts, "sheet_carried_out", 9)[0]["armies"] == {"zulu-50": list(army)}


def test_caps_rise_with_the_rank() -> None:
    """EGC-13.6: training up to 10 instead of 6, morale up to 9 instead of 5."""
    trained = risen("land_warfare", armies=ZULU_ARMY)
    trained.resolve({9: [order("zulu-1", "train")]})
    assert trained.army("zulu-1") == (HOME, 50, 5, 7)
    rested = risen("officer_training", armies=ZULU_ARMY)
    rested.resolve({9: [order("zulu-1", "rest")]})
    assert rested.army("zulu-1") == (HOME, 50, 6, 6)


def test_siegecraft_and_naval_technology() -> None:
    """EGC-13.6: quality at a fort and in a landing: (60 + 100) // 2 instead of (60 + 10) // 2; more naval moves."""
    siege = risen("siegecraft", armies=ZULU_ARMY, levels={"rhodesia": {"fortification": 1}})
    facts = siege.resolve({9: [move("zulu-1", HOME, "rhodesia")]})
    assert of(facts, "combat_fought", 9)[0]["rounds"][0][0] == 80
    two = {9: {"zulu-1": (HOME, 50, 5, 6), "zulu-2": (HOME, 50, 5, 6)}}
    landing = risen("naval", armies=two, lands={HOME: {"port": True}})
    sail = [move(f"zulu-{k}", HOME, "mozambique_channel", "madagascar") for k in (1, 2)]
    facts = landing.resolve({9: sail})
    assert of(facts, "combat_fought", 9)[0]["rounds"][0][0] == 80
    slow = position(armies=two, lands={HOME: {"port": True}})
    slow.file(9, sail[0])
    slow.refused(9, sail[1], "naval_move_limit")


def test_infrastructure_and_administration() -> None:
    """EGC-13.6: a factory brings 3*22000 and a farm feeds 50; a colony raises 150 divisions, uncorrupted."""
    levels = {HOME: {"factory": 1, "farm": 1}}
    works = risen("infrastructure", levels=levels, armies={9: {"zulu-1": (HOME, 351, 5, 6)}})
    works.file(0, {"type": "spy_territory", "territory": HOME})
    assert works.state.spied[0].territories[HOME]["supply"] == 350
    assert of(works.resolve(), "finance_settled", 9)[0]["national"] == 366_000
    rule = risen("administration", owners={"rhodesia": 9}, levels={"rhodesia": {"recruitment_centre": 1}})
    rule.refused(9, {"type": "recruit", "territory": "rhodesia", "divisions": 151}, "recruitment_capacity")
    facts = rule.resolve({9: [{"type": "recruit", "territory": "rhodesia", "divisions": 150}]})
    assert of(facts, "finance_settled", 9)[0]["corruption"] == 0


def test_diplomacy_and_research() -> None:
    """EGC-13.6: points and gifts; 100000 Brz of 300000 bring 100000*15500*145 // (100*300000) = 7491 points."""
    talks = risen("diplomacy")
    facts = talks.resolve({9: [{"type": "give_money", "to": "spain", "amount": 200_000}]})
    assert of(facts, "diplomacy_settled", 9)[0]["income"] == 200
    study = risen("research")
    study.resolve({9: [{"type": "set_research", "technology": "naval", "amount": 100_000}]})
    assert [i.points for i in study.state.empires[9].investments] == [7491]

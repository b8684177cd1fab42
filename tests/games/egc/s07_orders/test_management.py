"""Turn zero, research, building, armies in the sheet."""

from __future__ import annotations

import pytest

from domain.kernel.game.in_memory_game import InMemoryGame
from tests.games.egc.board import of, order, position
from tests.games.egc.registered import RULESET
from tests.spec import SEED, Given

ARMIES = {3: {"france-1": ("france", 100, 7, 6), "france-2": ("france", 50, 4, 3), "france-3": ("holland", 10, 9, 9)}}
OWN = {"holland": 3}


def test_the_allocation_of_turn_zero() -> None:
    """EGC-7.1."""
    game = Given.__new__(Given)
    game.match = InMemoryGame(RULESET, 10, SEED)

    def refused(points: dict[str, int], code: str) -> None:
        game.refused(0, {"type": "allocate_turn_zero", "points": points}, code)

    refused({"alchemy": 18_000}, "unknown_technology")
    refused({"naval": 18_001, "research": -1}, "bad_amount")
    refused({"naval": 17_999}, "turn_zero_total")
    game.refused(0, {"type": "submit_orders"}, "turn_zero_missing", "EGC-7.1")
    game.refused(0, {"type": "set_research", "technology": "naval", "amount": 1}, "wrong_phase")
    game.match.play(0, {"type": "allocate_turn_zero", "points": {"naval": 18_000, "diplomacy": 0}})
    game.match.play(0, {"type": "allocate_turn_zero", "points": {"research": 18_000}})
    assert game.state.sheets[0].allocation["research"] == 18_000
    assert game.state.sheets[0].allocation["naval"] == 0
    game.match.play(0, {"type": "submit_orders"})


def test_research_costs_what_is_invested() -> None:
    """EGC-7.2."""
    game = position()
    facts = game.resolve({3: [{"type": "set_research", "technology": "naval", "amount": 123_456}]})
    assert of(facts, "sheet_carried_out", 3)[0]["treasury"] == 500_000 - 123_456


def test_building() -> None:
    """EGC-7.3: level by level, the second 10 % and the third 20 % dearer, one level in a turn."""
    game = position(levels={"france": {"factory": 1, "fortification": 3}}, treasury={3: 900_000})
    build = {"type": "build", "territory": "france", "infrastructure": "factory"}
    game.file(3, build)
    assert game.sight(3)["projection"]["treasury"] == 900_000 - 110_000
    game.refused(3, build, "level_change_limit", "EGC-7.3")
    game.refused(3, {**build, "infrastructure": "fortification"}, "max_level", "EGC-7.3")
    game.refused(3, {**build, "territory": "spain"}, "not_owner", "EGC-7.3")
    game.resolve()
    assert game.state.levels["france"]["factory"] == 2


def test_demolishing() -> None:
    """EGC-7.4: free, no refund, not in the turn in which it was built."""
    game = position(levels={"france": {"factory": 1}})
    demolish = {"type": "demolish", "territory": "france", "infrastructure": "factory"}
    game.refused(3, {**demolish, "infrastructure": "farm"}, "no_infrastructure", "EGC-7.4")
    game.refused(3, {**demolish, "territory": "spain"}, "not_owner", "EGC-7.4")
    game.file(3, demolish)
    game.refused(3, {**demolish, "type": "build"}, "level_change_limit")
    game.refused(3, demolish, "level_change_limit", "EGC-7.4")
    assert game.sight(3)["projection"]["treasury"] == 500_000
    game.resolve()
    assert "factory" not in game.state.levels["france"]


def test_recruiting() -> None:
    """EGC-7.5: 500 Brz a division; 150 a level at home, a share of it in a colony."""
    game = position(owners=OWN, levels={"holland": {"recruitment_centre": 2}, "france": {"recruitment_centre": 1}})
    recruit = {"type": "recruit", "territory": "france", "divisions": 100}
    game.file(3, recruit)
    game.refused(3, {**recruit, "divisions": 51}, "recruitment_capacity", "EGC-7.5")
    game.refused(3, {**recruit, "territory": "holland", "divisions": 211}, "recruitment_capacity")
    game.file(3, {**recruit, "territory": "holland", "divisions": 210})
    game.refused(3, {**recruit, "territory": "spain"}, "not_owner", "EGC-7.5")
    (done,) = of(game.resolve(), "sheet_carried_out", 3)
    assert done["armies"] == {"france-50": ["france", 100, 6, 5], "france-51": ["holland", 210, 6, 5]}
    assert done["treasury"] == 500_000 - 310 * 500


def test_splitting() -> None:
    """EGC-7.6."""
    game = position(armies=ARMIES, owners=OWN)
    game.refused(3, {"type": "split_army", "army": "france-1", "divisions": 100}, "bad_amount", "EGC-7.6")
    game.refused(3, {"type": "split_army", "army": "france-1", "divisions": 0}, "bad_amount", "EGC-7.6")
    game.file(3, {"type": "split_army", "army": "france-1", "divisions": 40}, order("france-50", "prepare_defence"))
    game.file(3, order("france-1", "prepare_defence"))
    game.resolve()
    assert game.army("france-1") == ("france", 60, 7, 6)
    assert game.army("france-50") == ("france", 40, 7, 6)


def test_merging() -> None:
    """EGC-7.7: the smallest number survives, with weighted means rounded down."""
    game = position(armies=ARMIES, owners=OWN)
    merge = {"type": "merge_armies", "armies": ["france-2", "france-1"]}
    game.refused(3, {**merge, "armies": ["france-1"]}, "bad_amount", "EGC-7.7")
    game.refused(3, {**merge, "armies": ["france-1", "france-1"]}, "bad_amount", "EGC-7.7")
    game.refused(3, {**merge, "armies": ["france-1", "france-3"]}, "not_same_territory", "EGC-7.7")
    game.file(3, order("france-2", "train"))
    game.refused(3, merge, "army_already_ordered", "EGC-7.7")
    game.file(3, {"type": "cancel_order", "order": 1}, merge, order("france-1", "prepare_defence"))
    game.refused(3, order("france-2", "train"), "unknown_army")
    game.resolve()
    assert game.army("france-1") == ("france", 150, 6, 5)
    assert game.army("france-2") is None


def test_disbanding() -> None:
    """EGC-7.8: free; not all of an army that has an order."""
    game = position(armies=ARMIES, owners=OWN)
    game.file(3, order("france-1", "prepare_defence"))
    game.refused(3, {"type": "disband", "army": "france-1", "divisions": 100}, "army_already_ordered", "EGC-7.8")
    game.file(
        3,
        {"type": "disband", "army": "france-1", "divisions": 99},
        {"type": "disband", "army": "france-2", "divisions": 50},
    )
    game.resolve()
    assert game.army("france-1") == ("france", 1, 7, 6)
    assert game.army("france-2") is None


def test_expeditions_cost_by_exploration() -> None:
    """EGC-7.9: 40000 Brz each at rank 4; a new order replaces the old."""
    game = position()
    game.file(3, {"type": "fund_expeditions", "count": 5}, {"type": "fund_expeditions", "count": 2})
    assert game.sight(3)["projection"]["treasury"] == 420_000


@pytest.mark.parametrize(("seat", "price"), [(0, 2_000), (3, 8_000), (9, 20_000)])
def test_spying_on_a_territory(seat: int, price: int) -> None:
    """EGC-7.11: at once, paid at once, never undone; also of neutral ranks."""
    game = position(neutral_ranks={"italy": {"naval": 7, "siege": 5}}, levels={"italy": {"fortification": 2}})
    own = "austria_hungary" if seat == 0 else "france" if seat == 3 else "south_africa"
    game.refused(seat, {"type": "spy_territory", "territory": own}, "own_territory", "EGC-7.11")
    game.file(seat, {"type": "spy_territory", "territory": "italy"})
    found = game.state.spied[seat].territories["italy"]
    assert found["armies"] == [["N-italy", 150, 5, 4]]
    assert (found["naval_rank"], found["siege_rank"], found["levels"]["fortification"], found["supply"]) == (
        7,
        5,
        2,
        150,
    )
    assert game.sight(seat)["projection"]["treasury"] == 500_000 - price


def test_spying_on_an_empire() -> None:
    """EGC-7.11: its start of the turn, whatever its sheet says."""
    game = position(armies=ARMIES, owners=OWN)
    game.file(3, {"type": "set_research", "technology": "naval", "amount": 5})
    game.refused(8, {"type": "spy_empire", "empire": "spain"}, "self_target", "EGC-7.11")
    game.file(8, {"type": "spy_empire", "empire": "france"})
    found = game.state.spied[8].empires["france"]
    assert (found["treasury"], found["armies"], found["divisions"], found["ranks"]["naval"]) == (500_000, 3, 160, 4)
    game.file(8, {"type": "set_research", "technology": "naval", "amount": 454_999})
    error = game.refused(8, {"type": "spy_empire", "empire": "france"}, "insufficient_funds", "EGC-7.0.5")
    assert error.detail == {"missing": 44_999}
    out = position(status={"4": "eliminated"}, owners={"japan": 2}, levels={"japan": {}})
    out.refused(8, {"type": "spy_empire", "empire": "japan"}, "empire_eliminated", "EGC-7.11")


def test_what_a_spy_reports_of_an_owned_territory() -> None:
    """EGC-7.11: levels, capacity with farms at the owner's rank, all armies; not once the sheet is submitted."""
    game = position(
        armies={8: {"spain-1": ("spain", 30, 5, 6), "spain-2": ("spain", 7, 4, 3)}},
        levels={"spain": {"farm": 2, "railway": 1}},
    )
    game.file(3, {"type": "spy_territory", "territory": "spain"})
    found = game.state.spied[3].territories["spain"]
    assert found["supply"] == 300 + 2 * 18
    assert found["levels"] == {
        "port": 1,
        "recruitment_centre": 0,
        "fortification": 0,
        "farm": 2,
        "factory": 0,
        "railway": 1,
    }
    assert found["armies"] == [["spain-1", 30, 5, 6], ["spain-2", 7, 4, 3]]
    assert "naval_rank" not in found
    game.file(3, {"type": "submit_orders"})
    game.refused(3, {"type": "spy_territory", "territory": "italy"}, "already_answered")


def test_a_port_can_be_given_up() -> None:
    """EGC-7.4, EGC-8.1: its seas are lost at once; where a port stands none can be built."""
    game = position()
    game.refused(3, {"type": "build", "territory": "france", "infrastructure": "port"}, "max_level", "EGC-7.3")
    assert "bay_of_biscay" in game.sight(3)["projection"]["accessible"]
    game.file(3, {"type": "demolish", "territory": "france", "infrastructure": "port"})
    assert game.sight(3)["projection"]["accessible"] == game.sight(3)["projection"]["controlled"] == []
    assert game.state.lands["france"].port
    game.resolve()
    assert not game.state.lands["france"].port
    assert game.sight(3)["projection"]["accessible"] == []

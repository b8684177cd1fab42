"""Diplomacy points at the end of a turn, and what they keep up."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.egc.data import TECHNOLOGIES
from tests.games.egc.board import act, answer, move, of, position, proposal

POINTS = dict.fromkeys(TECHNOLOGIES, 10_000)


def settled(facts: list[dict[str, Any]], seat: int) -> dict[str, int]:
    """The account of a seat."""
    found: dict[str, int] = of(facts, "diplomacy_settled", seat)[0]
    return found


@pytest.mark.parametrize(("seat", "income"), list(enumerate([200, 180, 165, 150, 135, 120, 105, 90, 75, 60])))
def test_income_goes_by_the_diplomacy_rank(seat: int, income: int) -> None:
    """EGC-14.10."""
    game = position()
    game.resolve()
    assert game.state.empires[seat].diplomacy == 300 + income


def test_it_goes_by_the_new_rank() -> None:
    """EGC-14.10: that of P13 of the same turn; the Zulu empire is the best diplomat from now on."""
    game = position(empires={9: {"points": {**POINTS, "diplomacy": 99_000}}})
    facts = game.resolve()
    assert (settled(facts, 9)["income"], settled(facts, 0)["income"]) == (200, 180)


def border(**more: Any) -> Any:
    """The Zulu empire is about to take two empty territories of Spain."""
    return position(
        armies={9: {"zulu-1": ("south_africa", 50, 5, 5), "zulu-2": ("south_africa", 50, 5, 5)}},
        owners={"bechuanaland": 8, "southwest_africa": 8},
        relations={(8, 9): "war", **more.pop("relations", {})},
        **more,
    )


TAKE = {9: [move("zulu-1", "south_africa", "bechuanaland"), move("zulu-2", "south_africa", "southwest_africa")]}


def test_lost_territory_brings_points_and_taken_one_costs_them() -> None:
    """EGC-14.10, EGC-11.3: 50 each."""
    game = border()
    game.resolve(TAKE)
    assert game.state.empires[9].diplomacy == 300 + 60 - 100
    assert game.state.empires[8].diplomacy == 300 + 75 + 100


def test_points_stay_between_0_and_1000() -> None:
    """EGC-14.10: before the upkeep is paid."""
    game = border(diplomacy={9: 30, 8: 900, 3: 990}, relations={(3, 4): "alliance"})
    game.resolve(TAKE)
    assert game.state.empires[9].diplomacy == 0
    assert game.state.empires[8].diplomacy == 1000
    assert game.state.empires[3].diplomacy == 1000 - 20


def test_what_has_to_be_kept_up() -> None:
    """EGC-14.10: 20 an alliance, 40 a protectorate, 10 a protection; both allies pay."""
    lands = {"italy": {"protectorate": {"seat": 3, "since": 0}}, "serbia": {"protections": {"3": 0, "8": 0}}}
    game = position(relations={(3, 8): "alliance"}, lands=lands)
    facts = game.resolve()
    assert (settled(facts, 3)["upkeep"], settled(facts, 8)["upkeep"]) == (20 + 40 + 10, 20 + 10)
    assert game.state.empires[3].diplomacy == 300 + 150 - 70


def test_what_begins_or_ends_this_turn_costs_nothing() -> None:
    """EGC-14.10: an alliance that did not exist at the start of P12, or no longer exists; a new protection."""
    game = position(
        relations={(3, 8): "mpa", (3, 9): "alliance"},
        proposals=proposal(8, 3),
        lands={"serbia": {"protections": {"3": 0}}},
    )
    sheet = [answer("0:8:3", True), act("zulu", "degrade"), {"type": "protect", "territory": "holland"}]
    facts = game.resolve({3: [*sheet, {"type": "install_protectorate", "territory": "serbia"}]})
    assert game.state.relation(3, 8) == "alliance"
    assert [settled(facts, x)["upkeep"] for x in (3, 8, 9)] == [0, 0, 0]
    assert settled(game.resolve(), 3)["upkeep"] == 20 + 40 + 10


def test_what_cannot_be_paid_ends() -> None:
    """EGC-14.10: alliances first, then protectorates, then protections, each if the points suffice."""
    lands = {
        "egypt": {"protectorate": {"seat": 9, "since": 0}},
        "kenya": {"protectorate": {"seat": 9, "since": 0}},
        "libya": {"protections": {"9": 0, "5": 0}},
    }
    game = position(diplomacy={9: 0}, relations={(3, 9): "alliance"}, lands=lands)
    facts = game.resolve()
    # 60 - 20 for the alliance - 40 for Egypt leave nothing for Kenya and Libya.
    assert (settled(facts, 9)["upkeep"], game.state.empires[9].diplomacy) == (60, 0)
    assert game.state.lands["egypt"].protectorate is not None
    assert game.state.lands["kenya"].protectorate is None
    assert game.state.lands["libya"].protections == {"5": 0}
    assert {f["why"] for f in (*of(facts, "protectorate_ended"), *of(facts, "protection_ended"))} == {"upkeep_failed"}


def test_a_cheaper_thing_is_kept_when_a_dearer_one_cannot_be() -> None:
    """EGC-14.10: each item by itself: 20 points do not pay a protectorate but do pay a protection."""
    lands = {"egypt": {"protectorate": {"seat": 9, "since": 0}}, "libya": {"protections": {"9": 0}}}
    game = position(diplomacy={9: 0}, relations={(2, 9): "alliance", (3, 9): "alliance"}, lands=lands)
    game.resolve()
    assert game.state.lands["egypt"].protectorate is None
    assert game.state.lands["libya"].protections == {"9": 0}
    assert game.state.empires[9].diplomacy == 60 - 20 - 20 - 10


def test_who_cannot_pay_for_an_alliance_breaks_it() -> None:
    """EGC-14.10: allies in ascending id; the second does not pay when the first has just failed."""
    poor = {0: {"points": {**POINTS, "diplomacy": 0}}}
    game = position(diplomacy={0: 0}, empires=poor, relations={(0, x): "alliance" for x in (1, 2, 3, 4)})
    facts = game.resolve()
    # Austria-Hungary is the last diplomat now: 60 points pay three allies. Japan is fourth of the others: 150.
    assert [game.state.relation(0, x) for x in (1, 2, 3, 4)] == ["alliance", "alliance", "alliance", "nap"]
    assert (settled(facts, 0)["upkeep"], settled(facts, 3)["upkeep"], settled(facts, 4)["upkeep"]) == (60, 20, 0)
    assert game.state.empires[4].diplomacy == 300 + 150
    assert game.state.casus_belli == {"4:0:alliance_broken": 3}


def test_the_second_ally_fails_after_the_first_has_paid() -> None:
    """EGC-14.10."""
    game = position(diplomacy={9: 0}, relations={(x, 9): "alliance" for x in (0, 1, 2, 3)})
    facts = game.resolve()
    assert (settled(facts, 3)["upkeep"], settled(facts, 9)["upkeep"]) == (20, 60)
    assert game.state.relation(3, 9) == "nap"
    assert game.state.casus_belli == {"3:9:alliance_broken": 3}

"""Drops, gifts of territory, annexations, protectorates and protections."""

from __future__ import annotations

from typing import Any

from domain.types import Doc
from tests.games.egc.board import act, move, of, position

ITALY = {"italy": {"protectorate": {"seat": 3, "since": 0}}}


def claim(kind: str, territory: str) -> Doc:
    """An order on a territory."""
    return {"type": kind, "territory": territory}


def give(territory: str, to: str) -> Doc:
    """A gift of territory."""
    return {"type": "give_territory", "territory": territory, "to": to}


def land(game: Any, territory: str) -> tuple[int | None, tuple[int, int] | None, dict[str, int]]:
    """Owner, protectorate (holder, since), protections."""
    found = game.state.lands[territory]
    held = found.protectorate
    return found.owner, held and (held.seat, held.since), found.protections


def test_what_is_dropped_is_free_at_once() -> None:
    """EGC-14.9: drops come first, so another can protect the territory in the same turn."""
    game = position(lands={**ITALY, "serbia": {"protections": {"3": 0, "5": 0}}})
    game.file(3, claim("drop", "italy"), claim("drop", "serbia"))
    game.resolve()
    assert land(game, "italy") == (None, None, {})
    assert land(game, "serbia") == (None, None, {"5": 0})
    assert "N-italy" not in game.state.armies[3]
    assert game.state.garrisons["italy"].divisions == 150


def test_a_given_territory_keeps_what_stands_on_it_but_armies() -> None:
    """EGC-14.9: infrastructure and the turn of its conquest stay, armies are destroyed."""
    game = position(
        5,
        armies={3: {"france-1": ("holland", 40, 5, 5), "france-2": ("france", 10, 5, 5)}},
        owners={"holland": 3},
        lands={"holland": {"port": True, "conquered_turn": 3}},
        levels={"holland": {"factory": 2, "fortification": 1}},
    )
    facts = game.resolve({3: [give("holland", "spain")]})
    assert game.owner("holland") == 8
    assert (game.state.lands["holland"].port, game.state.lands["holland"].conquered_turn) == (True, 3)
    assert game.state.levels["holland"] == {"factory": 2, "fortification": 1}
    assert (game.army("france-1"), game.where("france-2")) == (None, "france")
    assert of(facts, "armies_lost")[0]["armies"] == ["france-1"]
    assert "holland" not in game.state.manned


def test_a_given_protectorate_is_young_again() -> None:
    """EGC-14.9: `since` is the turn of the gift, and the annexation costs 600 in the next."""
    game = position(9, lands=ITALY, diplomacy={8: 700})
    game.resolve({3: [give("italy", "spain")]})
    assert land(game, "italy") == (None, (8, 9), {})
    game.file(8, claim("annex", "italy"))
    assert game.sight(8)["projection"]["diplomacy"] == 700 + 75 - 600


def test_an_annexed_territory() -> None:
    """EGC-14.9: the neutral army disappears, forts stay, and the whole value comes in at once."""
    game = position(9, lands=ITALY, levels={"italy": {"fortification": 2, "factory": 1}}, diplomacy={3: 700})
    game.resolve({3: [claim("annex", "italy")]})
    assert land(game, "italy") == (3, None, {})
    assert game.state.lands["italy"].conquered_turn is None
    assert "italy" not in game.state.garrisons
    assert game.state.levels["italy"] == {"fortification": 2, "factory": 1}
    # One colony at administration rank 4: 1*(4 + 2) // 5 = 1 % of 80000 + 16000.
    lines = of(game.resolve(), "finance_settled", 3)[0]
    assert (lines["colonial"], lines["corruption"]) == (96_000, 960)


def test_of_several_claimants_best_diplomat_gets_protectorate() -> None:
    """EGC-14.9: all protections on it end, the points of the others are lost."""
    lands = {"serbia": {"protections": {"0": 0, "5": 0, "8": 0}}}
    game = position(lands=lands, rank={0: {"diplomacy": 9}, 8: {"diplomacy": 1}})
    facts = game.resolve({x: [claim("install_protectorate", "serbia")] for x in (0, 5, 8)})
    assert land(game, "serbia") == (None, (8, 1), {})
    assert [of(facts, "sheet_carried_out", x)[0]["diplomacy"] for x in (0, 5, 8)] == [220] * 3
    assert of(facts, "action_cancelled") == []
    assert of(facts, "levels_learnt")[0]["seat"] == 8


def test_a_protection_is_void_where_a_protectorate_begins() -> None:
    """EGC-14.9: installations come before protections; the points are lost."""
    game = position(lands={"serbia": {"protections": {"0": 0}}})
    facts = game.resolve({0: [claim("install_protectorate", "serbia")], 5: [claim("protect", "serbia")]})
    assert land(game, "serbia") == (None, (0, 1), {})
    assert of(facts, "diplomacy_settled", 5)[0]["before"] == 280


def test_a_protection_counts_from_the_next_turn() -> None:
    """EGC-14.9, EGC-7.18: several empires may protect one territory; an order of this turn gives no casus belli."""
    game = position(armies={3: {"france-1": ("france", 20, 5, 5)}})
    game.resolve(
        {8: [claim("protect", "holland")], 9: [claim("protect", "holland")], 3: [move("france-1", "france", "holland")]}
    )
    assert land(game, "holland") == (None, None, {"8": 1, "9": 1})
    assert game.state.casus_belli == {}
    game.resolve({8: [claim("install_protectorate", "holland")]})
    assert land(game, "holland") == (None, (8, 2), {})


def test_orders_on_a_territory_conquered_this_turn_are_void() -> None:
    """EGC-14.9: whoever filed them; their price is lost."""
    game = position(
        5,
        armies={3: {"france-1": ("france", 300, 8, 8)}, 0: {"austria_hungary-1": ("austria_hungary", 300, 8, 8)}},
        owners={"germany": 8, "morocco": 8},
        lands={"italy": {"protectorate": {"seat": 8, "since": 1}, "protections": {}}},
        relations={(3, 8): "war"},
        diplomacy={8: 400},
    )
    facts = game.resolve(
        {
            3: [move("france-1", "france", "germany")],
            0: [move("austria_hungary-1", "austria_hungary", "italy")],
            8: [give("germany", "zulu"), claim("annex", "italy")],
        }
    )
    assert (game.owner("germany"), game.owner("italy")) == (3, 0)
    assert of(facts, "diplomacy_settled", 8)[0]["before"] == 400 - 150


def test_order_is_void_when_its_author_has_given_territory_away() -> None:
    """EGC-14.9: the gift comes before the annexation, whose points are lost."""
    game = position(9, lands=ITALY, diplomacy={3: 700})
    facts = game.resolve({3: [claim("annex", "italy"), give("italy", "spain")]})
    assert land(game, "italy") == (None, (8, 9), {})
    assert of(facts, "territory_annexed") == []
    assert of(facts, "diplomacy_settled", 3)[0]["before"] == 600


def test_a_protectorate() -> None:
    """EGC-14.9: whole value, points and port are the holder's; its army is not, nothing is built or raised there."""
    lands = {"egypt": {"protectorate": {"seat": 3, "since": 0}, "port": True}}
    game = position(14, lands=lands, levels={"egypt": {"recruitment_centre": 1}})
    assert {"red_sea", "eastern_mediterranean"} <= set(game.sight(3)["projection"]["accessible"])
    assert "red_sea" in game.sight(3)["projection"]["controlled"]
    game.refused(3, {"type": "order_army", "army": "N-egypt", "order": "rest"}, "not_your_army")
    game.refused(3, {"type": "build", "territory": "egypt", "infrastructure": "farm"}, "not_owner")
    game.refused(3, {"type": "recruit", "territory": "egypt", "divisions": 1}, "not_owner")
    game.refused(8, claim("protect", "egypt"), "is_protectorate")
    facts = game.resolve()
    assert of(facts, "finance_settled", 3)[0]["protectorates"] == 75_000
    assert of(facts, "victory_counted")[0]["points"][3] == 11


def test_one_order_for_a_territory_at_a_time() -> None:
    """EGC-14.9, EGC-7.0.1: of drop and installation the later filed counts."""
    game = position(lands={"serbia": {"protections": {"3": 0}}})
    game.file(3, claim("drop", "serbia"), claim("install_protectorate", "serbia"))
    game.resolve({3: [act("spain", "degrade")]})
    assert land(game, "serbia") == (None, (3, 1), {})

"""Declarations of war, who is drawn in, and casus belli."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.egc.board import (
    AUSTRIA,
    BRITAIN,
    FRANCE,
    JAPAN,
    OTTOMAN,
    PORTUGAL,
    RUSSIA,
    SPAIN,
    ZULU,
    Board,
    act,
    answer,
    move,
    of,
    order,
    position,
    proposal,
)

CHAIN = {
    (BRITAIN, SPAIN): "rupture",
    (PORTUGAL, SPAIN): "alliance",
    (RUSSIA, SPAIN): "alliance",
    (BRITAIN, RUSSIA): "alliance",
    (BRITAIN, FRANCE): "alliance",
    (OTTOMAN, SPAIN): "mpa",
    (JAPAN, PORTUGAL): "alliance",
}
"""Britain declares war on Spain, whose allies are Portugal and Russia."""


def test_the_allies_of_the_empire_that_is_attacked_are_drawn_in() -> None:
    """EGC-14.6: also one that was the declarer's ally; its alliance ends without a casus belli."""
    game = position(relations=CHAIN)
    facts = game.resolve({BRITAIN: [act("spain", "degrade")]})
    assert [(f["seat"], f["target"]) for f in of(facts, "war_declared")] == [(BRITAIN, SPAIN)]
    joined = [(f["seat"], f["target"], f["ally"]) for f in of(facts, "war_joined")]
    assert joined == [(PORTUGAL, BRITAIN, SPAIN), (RUSSIA, BRITAIN, SPAIN)]
    state = game.state
    assert {state.relation(BRITAIN, x) for x in (SPAIN, PORTUGAL, RUSSIA)} == {"imminent_war"}
    assert (state.relation(BRITAIN, FRANCE), state.relation(FRANCE, SPAIN)) == ("alliance", "peace")
    assert state.relation(JAPAN, BRITAIN) == "peace"


def test_the_other_friends_get_a_casus_belli() -> None:
    """EGC-14.6: the pact's partner, the declarer's ally against each new enemy, the ally of one drawn in."""
    game = position(relations=CHAIN)
    game.resolve({BRITAIN: [act("spain", "degrade")]})
    assert game.state.casus_belli == {
        f"{OTTOMAN}:{BRITAIN}:mpa_attacked": 3,
        f"{FRANCE}:{SPAIN}:ally_at_war": 3,
        f"{FRANCE}:{PORTUGAL}:ally_at_war": 3,
        f"{FRANCE}:{RUSSIA}:ally_at_war": 3,
        f"{JAPAN}:{BRITAIN}:ally_at_war": 3,
    }


def test_what_was_due_between_new_enemies_vanishes() -> None:
    """EGC-14.6: in both directions, also for those drawn in; what others hold stays."""
    keys = ("2:8:colonial_incident", "8:2:protected_attacked", "6:2:mpa_attacked", "2:6:ally_at_war", "3:8:ally_at_war")
    game = position(relations=CHAIN, casus_belli=dict.fromkeys((*keys, "9:8:colonial_incident"), 2))
    game.resolve({BRITAIN: [act("spain", "declare_war_cb")]})
    left = set(game.state.casus_belli)
    assert not left & set(keys[:4])
    assert {"9:8:colonial_incident", "3:8:ally_at_war"} <= left
    assert game.state.casus_belli["3:8:ally_at_war"] == 3


def test_declarations_go_by_the_diplomacy_ranks() -> None:
    """EGC-14.6: of the declarer, then of the target; who is an enemy already declares nothing."""
    relations = {(AUSTRIA, PORTUGAL): "rupture", (AUSTRIA, ZULU): "rupture", (PORTUGAL, ZULU): "alliance"}
    sheets = {AUSTRIA: [act("portugal", "degrade")], ZULU: [act("austria_hungary", "degrade")]}
    facts = position(relations=relations).resolve(sheets)
    assert [(f["seat"], f["target"]) for f in of(facts, "war_declared")] == [(AUSTRIA, PORTUGAL)]
    assert [(f["seat"], f["target"]) for f in of(facts, "war_joined")] == [(ZULU, AUSTRIA)]
    worse = {AUSTRIA: {"diplomacy": 10}, ZULU: {"diplomacy": 1}}
    facts = position(relations=relations, rank=worse).resolve(sheets)
    assert [(f["seat"], f["target"]) for f in of(facts, "war_declared")] == [(ZULU, AUSTRIA), (AUSTRIA, PORTUGAL)]
    assert of(facts, "war_joined") == []
    both = {(AUSTRIA, PORTUGAL): "rupture", (AUSTRIA, FRANCE): "rupture"}
    facts = position(relations=both).resolve({AUSTRIA: [act("portugal", "degrade"), act("france", "degrade")]})
    assert [f["target"] for f in of(facts, "war_declared")] == [FRANCE, PORTUGAL]


def test_alliance_that_begins_now_binds_in_war_that_begins_now() -> None:
    """EGC-14.6: improvements come first."""
    relations = {(BRITAIN, SPAIN): "rupture", (FRANCE, SPAIN): "mpa"}
    game = position(relations=relations, proposals=proposal(SPAIN, FRANCE))
    game.resolve({BRITAIN: [act("spain", "degrade")], FRANCE: [answer("0:8:3", True)]})
    assert (game.state.relation(FRANCE, SPAIN), game.state.relation(BRITAIN, FRANCE)) == ("alliance", "imminent_war")


def test_an_eliminated_ally_is_none() -> None:
    """EGC-11.6, EGC-14.6: it neither enters a war nor costs anything."""
    out = position(
        status={"4": "eliminated"},
        owners={"japan": 2},
        levels={"japan": {}},
        relations={(JAPAN, SPAIN): "alliance", (BRITAIN, SPAIN): "rupture"},
    )
    facts = out.resolve({BRITAIN: [act("spain", "degrade")]})
    assert of(facts, "war_joined") == []
    assert of(facts, "diplomacy_settled", SPAIN)[0]["upkeep"] == 0


# --- casus belli -------------------------------------------------------------------------------------------------


RACE: dict[int, Any] = {
    0: [move("austria_hungary-1", "austria_hungary", "switzerland")],
    3: [move("france-1", "france", "switzerland")],
}


def race(**more: Any) -> Board:
    """Austria-Hungary and France come for an empty Switzerland; the former is there first and holds it."""
    armies = {0: {"austria_hungary-1": ("austria_hungary", 200, 8, 8)}, 3: {"france-1": ("france", 50, 3, 3)}}
    garrisons = more.pop("garrisons", {"switzerland": None})
    return position(armies={**armies, **more.pop("armies", {})}, garrisons=garrisons, **more)


def test_a_colonial_incident() -> None:
    """EGC-14.7, EGC-14.8: both attacked, the other one conquered; to be used in the two turns that follow."""
    game = race()
    game.resolve(RACE)
    assert game.owner("switzerland") == AUSTRIA
    assert game.state.casus_belli == {"3:0:colonial_incident": 3}
    game.file(3, act("austria_hungary", "declare_war_cb"))
    game.file(3, {"type": "cancel_order", "order": 1})
    game.resolve()
    game.file(3, act("austria_hungary", "declare_war_cb"))
    game.file(3, {"type": "cancel_order", "order": 1})
    game.resolve()
    assert game.state.casus_belli == {}
    game.refused(3, act("austria_hungary", "declare_war_cb"), "no_casus_belli", "EGC-7.12")


def test_no_incident_for_old_owner_for_supporters_or_for_allies() -> None:
    """EGC-14.7: the former owner only came to its own help, a supporter and one that turned back did not attack."""
    armies = {6: {"portugal-1": ("germany", 60, 5, 5)}, 9: {"zulu-1": ("italy", 60, 9, 5)}}
    game = race(
        armies=armies,
        owners={"switzerland": 6, "germany": 6, "italy": 9},
        relations={(0, 6): "war", (3, 6): "war", (0, 9): "alliance", (6, 9): "war"},
    )
    late = move("portugal-1", "germany", "switzerland", round=6)
    game.resolve({**RACE, 6: [late], 9: [order("zulu-1", "support", territory="switzerland")]})
    assert game.owner("switzerland") == AUSTRIA
    assert game.state.casus_belli == {"3:0:colonial_incident": 3}
    friends = race(relations={(0, 3): "alliance"})
    friends.resolve(RACE)
    assert friends.state.casus_belli == {}


@pytest.mark.parametrize(
    ("land", "holds"),
    [
        ({"protections": {"8": 0}}, True),
        ({"protections": {"8": 1}}, False),
        ({"protectorate": {"seat": 8, "since": 0}}, True),
        ({"protections": {"3": 0}}, False),
    ],
)
def test_an_attack_on_a_protected_territory(land: dict[str, Any], holds: bool) -> None:
    """EGC-14.7: whether it was taken or not, if the protection was in force; not against oneself."""
    for divisions in (300, 20):
        game = position(armies={3: {"france-1": ("france", divisions, 8, 8)}}, lands={"holland": land})
        game.resolve({3: [move("france-1", "france", "holland")]})
        assert game.owner("holland") == (3 if divisions == 300 else None)
        assert game.state.casus_belli == ({"8:3:protected_attacked": 3} if holds else {})


def test_protection_that_is_given_up_in_same_turn_still_counts() -> None:
    """EGC-14.7: as it was at the start of the turn, whatever P10 did."""
    game = position(armies={3: {"france-1": ("france", 20, 8, 8)}}, lands={"holland": {"protections": {"8": 0}}})
    game.resolve({3: [move("france-1", "france", "holland")], 8: [{"type": "drop", "territory": "holland"}]})
    assert game.state.lands["holland"].protections == {}
    assert game.state.casus_belli == {"8:3:protected_attacked": 3}


def kinds(game: Board, holder: int, against: int) -> list[str]:
    """Casus belli that the holder sees."""
    found: list[str] = game.sight(holder)["casus_belli"].get(f"{holder}:{against}", [])
    return found


def test_closed_straits_and_opened_ports() -> None:
    """EGC-14.7: derived from what is in force, and valid as long; not in the peace turn of the two."""
    game = position(
        owners={"morocco": 8},
        closed={"gibraltar:3": 8},
        open_ports={"8:2": True, "8:6": True},
        relations={(2, 9): "war", (6, 9): "imminent_war"},
    )
    assert (kinds(game, 3, 8), kinds(game, 9, 8), kinds(game, 6, 8)) == (["straits_closed"], ["ports_opened"], [])
    assert game.state.casus_belli == {}
    game.file(9, act("spain", "declare_war_cb"), {"type": "cancel_order", "order": 1})
    game.resolve({8: [{"type": "set_straits", "strait": "gibraltar", "target": "france", "closed": False}]})
    assert kinds(game, 3, 8) == []
    quiet = position(2, owners={"morocco": 8}, closed={"gibraltar:3": 8}, peace_turn={"3-8": 2})
    assert kinds(quiet, 3, 8) == []
    quiet.refused(3, act("spain", "declare_war_cb"), "no_casus_belli")
    quiet.resolve()
    assert kinds(quiet, 3, 8) == ["straits_closed"]


def test_a_new_casus_belli_of_the_same_kind_replaces_the_old() -> None:
    """EGC-14.7: and none is given between enemies."""
    game = race(casus_belli={"3:0:colonial_incident": 2})
    game.resolve(RACE)
    assert game.state.casus_belli == {"3:0:colonial_incident": 3}
    enemies = race(relations={(0, 3): "war"})
    enemies.resolve(RACE)
    assert enemies.state.casus_belli == {}


def test_declaring_by_casus_belli_is_free_whatever_the_relation() -> None:
    """EGC-14.7: it names none; an ally can be declared war on."""
    for relation in ("alliance", "mpa", "nap", "peace", "rupture"):
        game = position(relations={(3, 8): relation}, casus_belli={"3:8:ally_at_war": 1}, diplomacy={3: 0})
        game.resolve({3: [act("spain", "declare_war_cb")]})
        assert game.state.relation(3, 8) == "imminent_war"
        assert game.state.casus_belli == {}


def test_who_is_told_of_a_casus_belli() -> None:
    """EGC-14.7, EGC-14.8: incidents first, then protections, by territory, holder, culprit; to the two concerned."""
    game = race(
        armies={6: {"portugal-1": ("spain", 20, 5, 5)}},
        owners={"spain": 6, "canary_islands": 8},
        lands={"switzerland": {"protections": {"5": 0, "7": 0}}, "algeria": {"protections": {"5": 0}}},
        levels={"spain": {}},
    )
    sail = move("portugal-1", "spain", "western_mediterranean", "algeria")
    facts = game.resolve({**RACE, 6: [sail]})
    told = [(f["seat"], f["holder"], f["against"], f["kind"]) for f in of(facts, "casus_belli_gained")]
    assert [x[1:] for x in told[::2]] == [
        (3, 0, "colonial_incident"),
        (5, 6, "protected_attacked"),
        (5, 0, "protected_attacked"),
        (5, 3, "protected_attacked"),
        (7, 0, "protected_attacked"),
        (7, 3, "protected_attacked"),
    ]
    assert [x[0] for x in told] == [seat for x in told[::2] for seat in sorted(x[1:3])]


# --- straits, ports, proposals -----------------------------------------------------------------------------------


def test_closures_end_with_the_ownership() -> None:
    """EGC-14.8: and a new owner's order comes into force."""
    game = position(
        armies={3: {"france-1": ("france", 200, 8, 8)}},
        owners={"morocco": 8, "egypt": 8},
        closed={"gibraltar:3": 8, "gibraltar:6": 8, "suez:3": 8},
        relations={(3, 8): "war"},
    )
    shut = {"type": "set_straits", "strait": "gibraltar", "target": "zulu", "closed": True}
    facts = game.resolve({3: [move("france-1", "france", "western_mediterranean", "morocco")], 8: [shut]})
    assert game.owner("morocco") == 3
    assert game.state.closed == {"suez:3": 8}
    assert [(f["strait"], f["target"], f["closed"]) for f in of(facts, "strait_set")] == [
        ("gibraltar", 3, False),
        ("gibraltar", 6, False),
    ]


def test_a_proposal_lapses_when_war_is_imminent() -> None:
    """EGC-14.8: Spain proposes to Portugal, an ally of the empire on which it declares war; the price is lost."""
    game = position(relations={(2, 8): "rupture", (2, 6): "alliance"})
    game.resolve({8: [act("britain", "degrade"), act("portugal", "propose")]})
    assert game.state.relation(6, 8) == "imminent_war"
    assert game.state.proposals == {}
    assert game.state.empires[8].diplomacy == 300 - 50 - 100 + 75

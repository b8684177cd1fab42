"""Conquest, plunder, supply, elimination."""

from __future__ import annotations

from dataclasses import replace

from domain.games.egc.rules.supply import lost_to_hunger
from tests.games.egc.board import Board, home, move, of, position

FRANCE = {3: {"france-1": ("france", 300, 8, 8)}}


def taken(**more: object) -> tuple[Board, list[dict[str, object]]]:
    """France takes the Dutch territory of Spain."""
    lands = {"holland": {"conquered_turn": None}}
    game = position(
        5,
        armies=FRANCE,
        owners={"holland": 8},
        lands=lands,
        relations={(3, 8): "war"},
        levels={"holland": {"fortification": 2, "factory": 2, "farm": 1}},
        **more,  # type: ignore[arg-type]
    )
    return game, game.resolve({3: [move("france-1", "france", "holland")]})


def test_conquest() -> None:
    """EGC-11.1: owner, turn, fort, protections; a neutral territory feeds twice as many that turn."""
    game, facts = taken()
    assert of(facts, "territory_conquered") == [
        {"t": "territory_conquered", "step": "P6", "territory": "holland", "seat": 3, "turn": 5, "loser": 8}
    ]
    assert game.state.levels["holland"] == {"factory": 2, "farm": 1}
    assert game.state.lands["holland"].doubled_turn is None
    neutral = position(
        armies=FRANCE, lands={"holland": {"protections": {"8": 0}}, "italy": {"protectorate": {"seat": 3, "since": 0}}}
    )
    facts = neutral.resolve({3: [move("france-1", "france", "holland")]})
    assert (neutral.state.lands["holland"].protections, neutral.state.lands["holland"].doubled_turn) == ({}, 1)
    own = position(armies=FRANCE, lands={"italy": {"protectorate": {"seat": 3, "since": 0}}})
    own.resolve({3: [move("france-1", "france", "italy")]})
    assert (own.owner("italy"), own.state.lands["italy"].protectorate) == (3, None)


def test_plunder_of_a_colony() -> None:
    """EGC-11.2: twice what it would have brought, less corruption, factories at the old owner's rank."""
    _, facts = taken()
    income = 80_000 + 2 * 6_000
    rate = 1 * (9 + 2) // 5
    assert of(facts, "finance_settled", 8)[0]["plunder"] == 2 * income * (100 - rate) // 100


def test_plunder_of_a_metropolis() -> None:
    """EGC-11.2: twice three times its value."""
    game = position(armies=FRANCE, relations={(3, 8): "total_war"}, owners={"morocco": 8})
    facts = game.resolve({3: [move("france-1", "france", "spain")]})
    assert of(facts, "finance_settled", 8)[0]["plunder"] == 600_000


def test_lost_and_taken_territories_count_for_diplomacy() -> None:
    """EGC-11.3: neutral ones for nobody."""
    _, facts = taken()
    assert [of(facts, "diplomacy_settled", x)[0][k] for x, k in ((3, "taken"), (8, "lost"))] == [1, 1]
    neutral = position(armies=FRANCE, lands={"holland": {"protectorate": {"seat": 8, "since": 0}}})
    facts = neutral.resolve({3: [move("france-1", "france", "holland")]})
    assert [of(facts, "diplomacy_settled", x)[0][k] for x, k in ((3, "taken"), (8, "lost"))] == [0, 0]


def test_hunger() -> None:
    """EGC-11.4: the further above the capacity, the heavier; shared by strength, the rest by number."""
    assert lost_to_hunger(90, 90) == 0
    assert lost_to_hunger(175, 90) == 49
    assert lost_to_hunger(1000, 100) == 720
    game = position(
        armies={3: {"france-1": ("holland", 100, 8, 9), "france-2": ("holland", 101, 8, 9)}},
        owners={"holland": 3},
        levels={"holland": {"farm": 1}},
    )
    (hunger,) = of(game.resolve(), "supply_lost")
    # 23 above 178: over 12, 10 + 6 = 16 percent, ceil(3.68) = 4: 4*100 // 201 = 1, 4*101 // 201 = 2, one more for -1.
    assert (hunger["capacity"], hunger["total"], hunger["divisions"]) == (178, 201, 4)
    assert hunger["left"] == {"france-1": 98, "france-2": 99}


def test_neutral_armies_neither_starve_nor_grow() -> None:
    """EGC-11.5: an empty neutral territory stays neutral."""
    game = position(garrisons={"italy": (400, 5, 4), "holland": None, "germany": (3, 5, 4)})
    game.resolve()
    assert (game.state.garrisons["italy"].divisions, game.state.garrisons["germany"].divisions) == (400, 3)
    assert game.owner("holland") is None
    assert "holland" not in game.state.manned


def test_elimination() -> None:
    """EGC-11.6: armies, protections, protectorates, permissions disappear; points already counted stay."""
    game = position(
        armies=FRANCE,
        relations={(3, 8): "total_war"},
        lands={"italy": {"protectorate": {"seat": 8, "since": 0}}, "egypt": {"protections": {"8": 0}}},
        open_ports={"8:1": True},
        vp={"8": 33},
        casus_belli={"1:8:colonial_incident": 9},
    )
    facts = game.resolve({3: [move("france-1", "france", "spain")]})
    assert of(facts, "empire_eliminated")[0]["seat"] == 8
    state = game.state
    assert (state.status[8], state.vp[8]) == ("eliminated", 33)
    assert state.lands["italy"].protectorate is None
    assert (state.lands["egypt"].protections, state.open_ports, state.casus_belli) == ({}, {}, {})
    assert 8 not in state.top.asked


def test_the_last_empire_ends_the_game() -> None:
    """EGC-11.6: with a final count at once, even after one of the same turn."""
    owners = {home(x): 3 for x in (0, 1, 2, 4, 5, 6, 7, 9)}
    out = {str(x): "eliminated" for x in (0, 1, 2, 4, 5, 6, 7, 9)}
    bare: dict[str, dict[str, int]] = {t: {} for t in owners}
    game = position(14, armies=FRANCE, owners=owners, status=out, relations={(3, 8): "total_war"}, levels=bare)
    facts = game.resolve({3: [move("france-1", "france", "spain")]})
    assert len(of(facts, "victory_counted")) == 2
    assert game.state.over
    assert game.state.vp[3] == 3 * 9 * 6


def test_two_empires_play_on() -> None:
    """EGC-11.6: one of three is eliminated, and the game goes on."""
    gone = (0, 1, 2, 4, 5, 6, 7)
    game = position(
        5,
        armies=FRANCE,
        owners={home(x): 3 for x in gone},
        status={str(x): "eliminated" for x in gone},
        relations={(3, 8): "total_war"},
        levels={home(x): {} for x in gone},
    )
    facts = game.resolve({3: [move("france-1", "france", "spain")]})
    assert of(facts, "empire_eliminated")[0]["seat"] == 8
    assert not game.state.over
    # Two are left: the first rank and the last, none between (EGC-13.5).
    assert (game.state.rank(3, "naval"), game.state.rank(9, "naval")) == (1, 10)


def test_the_last_count_goes_by_the_protectorates_in_force() -> None:
    """EGC-11.6, EGC-15.1: Italy, installed earlier, counts; Serbia, installed in the last turn, does not."""
    gone = (0, 1, 2, 4, 5, 6, 7, 9)
    game = position(
        5,
        armies=FRANCE,
        owners={home(x): 3 for x in gone},
        status={str(x): "eliminated" for x in gone},
        relations={(3, 8): "total_war"},
        levels={home(x): {} for x in gone},
        lands={"italy": {"protectorate": {"seat": 3, "since": 2}}, "serbia": {"protections": {"3": 2}}},
    )
    install = {"type": "install_protectorate", "territory": "serbia"}
    (count,) = of(game.resolve({3: [move("france-1", "france", "spain"), install]}), "victory_counted")
    assert game.state.lands["serbia"].protectorate is not None
    assert count["points"][3] == 2 * (9 * 6 + 6)


def test_without_an_active_empire_nobody_plays_on() -> None:
    """EGC-4.6: resigning ends the game with the points as they stand."""
    status = {str(x): "dormant" for x in range(10) if x not in (3, 8)}
    status["3"] = "dormant"
    game = position(
        armies={8: {"spain-1": ("morocco", 300, 8, 8)}, 3: {"france-1": ("spain", 300, 8, 8)}},
        owners={"spain": 3, "morocco": 8},
        lands={"morocco": {"port": True}},
        status=status,
        relations={(3, 8): "total_war"},
    )
    give = {"type": "give_territory", "territory": "morocco", "to": "zulu"}
    game.refused(8, give, "last_territory")
    game.file(8, {"type": "resign"})
    assert game.state.over
    assert game.state.counts == ()


def test_without_an_active_empire_the_game_ends() -> None:
    """EGC-11.7: a final count is held although dormant ones are left."""
    status = {str(x): "dormant" for x in range(10) if x != 8}
    game = position(
        armies={3: {"france-1": ("france", 300, 8, 8)}},
        owners={"spain": 3, "holland": 8},
        levels={"spain": {}},
        garrisons={},
        status=status,
        relations={(3, 8): "war"},
    )
    game.match.play(8, {"type": "submit_orders"})
    assert game.state.top.kind == "resolving"
    facts = game.engine()
    assert not of(facts, "empire_eliminated")
    last = position(status=status, owners={"spain": 3, "holland": 8}, levels={"spain": {}})
    last.match.play(8, {"type": "submit_orders"})
    drown(last)
    facts = last.engine()
    assert of(facts, "empire_eliminated")[0]["seat"] == 8
    assert of(facts, "victory_counted")
    assert last.state.over


def drown(game: Board) -> None:
    """The only territory of Spain is lost by patch: nothing else is needed for the rule."""
    lands = {**game.state.lands, "holland": replace(game.state.lands["holland"], owner=3)}
    state = replace(game.state, lands=lands)
    game.match.games[-1] = game.match.game.with_state(state)


def test_corruption_of_plunder_is_that_before_its_losses() -> None:
    """EGC-11.2: five colonies at rank 9 are 5*11 // 5 = 11 %, for both that are lost."""
    owners = dict.fromkeys(("holland", "switzerland", "morocco", "algeria", "tunisia"), 8)
    armies = {3: {"france-1": ("france", 150, 8, 8), "france-2": ("france", 150, 8, 8)}}
    game = position(5, armies=armies, owners=owners, relations={(3, 8): "war"})
    facts = game.resolve({3: [move("france-1", "france", "holland"), move("france-2", "france", "switzerland")]})
    assert of(facts, "finance_settled", 8)[0]["plunder"] == 2 * 80_000 * 89 // 100 + 2 * 70_000 * 89 // 100


def test_capacity_of_conquered_neutral_territory_is_doubled() -> None:
    """EGC-11.4: farms too, at the conqueror's rank: (140 + 38)*2; the next turn they feed 178."""
    game = position(
        armies={3: {"france-1": ("france", 370, 8, 8)}}, garrisons={"holland": None}, levels={"holland": {"farm": 1}}
    )
    (hunger,) = of(game.resolve({3: [move("france-1", "france", "holland")]}), "supply_lost")
    assert (hunger["capacity"], hunger["total"]) == (356, 370)
    (hunger,) = of(game.resolve(), "supply_lost")
    assert hunger["capacity"] == 178

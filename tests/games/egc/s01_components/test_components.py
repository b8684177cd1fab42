"""Empires, territories, armies and what stands where."""

from __future__ import annotations

import pytest

from domain.errors import InvalidTable
from domain.games.egc.data import EMPIRES, HOMES, INFRASTRUCTURES, SEA_LINKS, STRAITS, TERRITORIES
from tests.games.egc.board import move, of, position
from tests.games.egc.registered import RULESET


def test_a_game_has_ten_seats() -> None:
    """EGC-1.1."""
    assert RULESET.meta.seats == (10,)
    assert len(EMPIRES) == len(HOMES) == 10
    with pytest.raises(InvalidTable):
        RULESET.make_table(9)


def test_dormant_empire_earns_and_trains_and_is_not_waited_for() -> None:
    """EGC-1.2, EGC-4.8."""
    facts = position(armies={5: {"ottoman-1": ("anatolia", 100, 5, 4)}}, status={"5": "dormant"}).resolve()
    assert of(facts, "finance_settled", 5)[0]["national"] == 300_000
    assert of(facts, "armies_drilled", 5)[0]["trained"] == {"ottoman-1": 5}
    asked = of(facts, "asked")[-1]
    assert asked["seats"] == [0, 1, 2, 3, 4, 6, 7, 8, 9]


def test_a_territory_is_data_and_state() -> None:
    """EGC-1.3: static figures from the data, the rest in the state."""
    t = TERRITORIES["italy"]
    assert (t.value, t.defence, t.supply, t.bonus, t.home_of) == (80_000, 12, 150, 5, None)
    land = position().state.lands["italy"]
    assert (land.owner, land.protectorate, land.protections, land.conquered_turn, land.doubled_turn) == (
        None,
        None,
        {},
        None,
        None,
    )


def test_a_metropolis_is_one_in_its_own_hands_only() -> None:
    """EGC-1.4: also again when it is retaken."""
    state = position(owners={"spain": 3, "morocco": 8}).state
    assert state.metropolis("portugal")
    assert not state.metropolis("spain")
    taken = position(
        armies={8: {"spain-1": ("morocco", 200, 8, 6)}},
        owners={"spain": 3, "morocco": 8},
        relations={(3, 8): "war"},
        lands={"morocco": {"port": True}},
    )
    taken.resolve({8: [move("spain-1", "morocco", "western_mediterranean", "spain")]})
    assert taken.state.metropolis("spain")
    assert taken.state.lands["spain"].conquered_turn == 1


def test_colonies_and_neutral_territories() -> None:
    """EGC-1.5: a protectorate is neutral."""
    state = position(owners={"holland": 3}, lands={"italy": {"protectorate": {"seat": 3, "since": 0}}}).state
    assert state.colonies(3) == ["holland"]
    assert state.protectorates(3) == ["italy"]
    assert state.lands["italy"].owner is None


def test_two_seas_are_linked_by_water_or_by_a_strait() -> None:
    """EGC-1.6."""
    assert SEA_LINKS["east_atlantic"]["western_mediterranean"] == "gibraltar"
    assert SEA_LINKS["north_atlantic"]["east_atlantic"] == ""
    assert len(STRAITS) == 10
    assert all(SEA_LINKS[b][a] == name for a in SEA_LINKS for b, name in SEA_LINKS[a].items())


def test_six_infrastructures() -> None:
    """EGC-1.7: a port needs a coast."""
    assert {i.id: i.top for i in INFRASTRUCTURES.values()} == {
        "port": 1,
        "recruitment_centre": 3,
        "fortification": 3,
        "farm": 3,
        "factory": 3,
        "railway": 1,
    }
    game = position(owners={"switzerland": 3})
    game.refused(3, {"type": "build", "territory": "switzerland", "infrastructure": "port"}, "not_coastal", "EGC-7.3")


def test_empty_army_is_no_more_and_its_number_not_used_again() -> None:
    """EGC-1.8."""
    game = position(armies={3: {"france-1": ("france", 5, 7, 6)}})
    game.resolve({3: [{"type": "disband", "army": "france-1", "divisions": 5}]})
    assert game.army("france-1") is None
    game.resolve({3: [{"type": "recruit", "territory": "france", "divisions": 5}]})
    assert game.army("france-50") is not None


def test_at_most_forty_armies() -> None:
    """EGC-1.8: at any moment of the sheet."""
    many = {f"france-{k}": ("france", 2, 7, 6) for k in range(1, 41)}
    game = position(armies={3: many})
    game.refused(3, {"type": "split_army", "army": "france-1", "divisions": 1}, "army_limit", "EGC-7.6")
    game.refused(3, {"type": "recruit", "territory": "france", "divisions": 1}, "army_limit", "EGC-7.5")
    game.file(3, {"type": "merge_armies", "armies": ["france-1", "france-2"]})
    game.file(3, {"type": "recruit", "territory": "france", "divisions": 1})
    game.refused(3, {"type": "cancel_order", "order": 1}, "order_has_dependents", "EGC-7.0.3")


def test_two_empires_never_share_a_territory() -> None:
    """EGC-1.9: the second to arrive fights the first."""
    game = position(
        armies={0: {"austria_hungary-1": ("austria_hungary", 200, 7, 6)}, 3: {"france-1": ("france", 200, 7, 6)}}
    )
    game.resolve(
        {
            0: [move("austria_hungary-1", "austria_hungary", "switzerland")],
            3: [move("france-1", "france", "switzerland")],
        }
    )
    assert not RULESET.check(game.state)
    assert game.owner("switzerland") in (0, 3)


def test_what_an_empire_has_of_its_own() -> None:
    """EGC-1.10."""
    own = position().sight(3)
    names = {"treasury", "diplomacy", "points", "investments", "revenue", "links", "links_done"}
    assert names <= set(own)

"""Seas, straits, and how armies move."""

from __future__ import annotations

import pytest

from domain.games.egc.rules.seas import accessible, controlled, strait_closed
from domain.types import Doc
from tests.games.egc.board import Board, move, of, position

FRANCE = {3: {"france-1": ("france", 200, 7, 6)}}


def test_sea_access() -> None:
    """EGC-8.1: by own ports and those of protectorates, and by ports that others open; not passed on."""
    lands = {"morocco": {"port": True, "protectorate": {"seat": 3, "since": 0}}}
    state = position(lands=lands, open_ports={"8:7": True, "3:8": True}).state
    assert accessible(state, 3) == {"bay_of_biscay", "english_channel", "western_mediterranean", "east_atlantic"}
    assert accessible(state, 7) == {"bay_of_biscay", "east_atlantic", "western_mediterranean"}
    assert "english_channel" in accessible(state, 8)


def test_sea_control() -> None:
    """EGC-8.2: ports times 11 less the naval rank, above every empire at war; imminent war does not count."""
    peace = position().state
    assert controlled(peace, 7) == []
    assert "bay_of_biscay" in controlled(peace, 8)
    war = position(relations={(3, 8): "war"}).state
    assert "bay_of_biscay" in controlled(war, 3)
    assert "bay_of_biscay" not in controlled(war, 8)
    assert "east_atlantic" in controlled(war, 8)
    equal = position(
        relations={(3, 8): "war"},
        owners={"morocco": 8, "algeria": 8},
        lands={"morocco": {"port": True}, "algeria": {"port": True}},
        rank={3: {"naval": 5}, 4: {"naval": 4}},
    )
    assert "western_mediterranean" not in controlled(equal.state, 3)
    assert "western_mediterranean" not in controlled(equal.state, 8)
    assert "bay_of_biscay" in controlled(position(relations={(3, 8): "imminent_war"}).state, 8)


def test_straits_are_closed_by_their_owner_only() -> None:
    """EGC-8.3: and the closure ends with the ownership."""
    state = position(owners={"morocco": 8}, closed={"gibraltar:3": 8}).state
    assert strait_closed(state, "gibraltar", 3)
    assert not strait_closed(state, "gibraltar", 6)
    assert not strait_closed(state, "", 3)
    game = position(owners={"morocco": 8}, closed={"gibraltar:3": 8}, relations={(3, 8): "war"}, armies=FRANCE)
    game.resolve({3: [move("france-1", "france", "western_mediterranean", "morocco")]})
    assert game.state.closed == {}


def test_owners_and_relations_stand_still_while_armies_move() -> None:
    """EGC-8.4: what is taken this turn is conquered in P6 only."""
    coast = ("algeria", "tunisia", "italy")
    game = position(
        armies={3: {"france-1": ("france", 200, 7, 6), "france-2": ("france", 30, 3, 3)}},
        owners=dict.fromkeys(coast, 8),
        lands={t: {"port": True} for t in coast},
        relations={(3, 8): "war"},
    )
    # Four Spanish ports at naval rank 9 weigh 8, the French one at rank 4 weighs 7; with three they would weigh 6.
    first = move("france-1", "france", "italy", round=2)
    facts = game.resolve({3: [first, move("france-2", "france", "western_mediterranean", "morocco", round=8)]})
    assert of(facts, "territory_conquered")[0]["territory"] == "italy"
    assert of(facts, "combat_fought", 3)[0]["goes"] == [["france-2", None]]


def test_rounds_go_by_activation_and_logistics() -> None:
    """EGC-8.5: the k-th node in round a + k - 1; in a round the better logistics rank first."""
    armies = {0: {"austria_hungary-1": ("austria_hungary", 100, 7, 6)}, 3: {"france-1": ("france", 100, 7, 6)}}
    neutral = {"switzerland": None}

    def defender(first: int, second: int, rank: dict[int, dict[str, int]] | None = None) -> str:
        game = position(armies=armies, garrisons=neutral, rank=rank)
        facts = game.resolve(
            {
                0: [move("austria_hungary-1", "austria_hungary", "switzerland", round=first)],
                3: [move("france-1", "france", "switzerland", round=second)],
            }
        )
        return str(of(facts, "combat_fought")[0]["defender"])

    assert defender(5, 5) == "austria_hungary-1"
    assert defender(6, 5) == "france-1"
    assert defender(5, 5, {0: {"logistics": 4}, 3: {"logistics": 1}}) == "france-1"


def test_armies_at_sea_do_not_meet() -> None:
    """EGC-8.6: two enemies cross the same sea."""
    game = position(
        armies={3: {"france-1": ("france", 100, 7, 6)}, 8: {"spain-1": ("spain", 100, 7, 6)}},
        relations={(3, 8): "war"},
        garrisons={"algeria": None, "tunisia": None},
    )
    facts = game.resolve(
        {
            3: [move("france-1", "france", "western_mediterranean", "algeria")],
            8: [move("spain-1", "spain", "western_mediterranean", "tunisia")],
        }
    )
    assert not of(facts, "combat_fought")
    assert (game.owner("algeria"), game.owner("tunisia")) == (3, 8)


def incident(relation: str) -> Board:
    """France and Austria-Hungary come for an empty Switzerland."""
    armies = {0: {"austria_hungary-1": ("austria_hungary", 100, 7, 6)}, 3: {"france-1": ("france", 100, 7, 6)}}
    return position(armies=armies, garrisons={"switzerland": None}, relations={(0, 3): relation})


INCIDENT = {
    0: [move("austria_hungary-1", "austria_hungary", "switzerland")],
    3: [move("france-1", "france", "switzerland")],
}


@pytest.mark.parametrize("relation", ["peace", "mpa", "war", "rupture"])
def test_who_comes_second_fights_who_came_first(relation: str) -> None:
    """EGC-8.7, EGC-8.8: until P6 the territory is nobody's."""
    facts = incident(relation).resolve(INCIDENT)
    assert of(facts, "combat_fought", 0)[0]["attacker"] == "france-1"


def test_allies_do_not_fight() -> None:
    """EGC-8.7.3, EGC-8.8: the later one turns back and suffers nothing else."""
    game = incident("alliance")
    facts = game.resolve(INCIDENT)
    assert not of(facts, "combat_fought")
    assert of(facts, "army_turned_back") == [
        {
            "t": "army_turned_back",
            "step": "P4",
            "seat": 3,
            "army": "france-1",
            "territory": "switzerland",
            "to": "france",
        }
    ]
    assert game.army("france-1") == ("france", 100, 7, 6)
    assert game.owner("switzerland") == 0


def test_an_army_attacked_before_its_round_goes_on_if_it_holds() -> None:
    """EGC-8.9, EGC-8.7.2."""
    game = position(
        armies={3: {"france-1": ("france", 200, 9, 9)}, 8: {"spain-1": ("spain", 40, 5, 5)}},
        relations={(3, 8): "total_war"},
        garrisons={"holland": None},
    )
    facts = game.resolve({3: [move("france-1", "france", "holland", round=7)], 8: [move("spain-1", "spain", "france")]})
    assert of(facts, "combat_fought", 3)[0]["winner"] == "france-1"
    assert game.where("france-1") == "holland"


def test_an_enemy_in_a_station_ends_a_rail_move() -> None:
    """EGC-8.7.2: the army fights and stays there even when it wins."""
    rails = {t: {"railway": 1} for t in ("france", "holland", "germany")}
    game = position(
        armies={3: {"france-1": ("france", 200, 8, 8)}, 0: {"austria_hungary-1": ("denmark_norway", 10, 5, 5)}},
        owners={"holland": 3, "germany": 3, "denmark_norway": 0},
        lands={"denmark_norway": {"port": True}},
        levels=rails,
        relations={(0, 3): "war"},
    )
    sail = move("austria_hungary-1", "denmark_norway", "north_sea", "holland", round=1)
    facts = game.resolve({0: [sail], 3: [move("france-1", "france", "holland", "germany", round=8)]})
    assert of(facts, "combat_fought", 3)[0]["winner"] == "france-1"
    assert game.where("france-1") == "holland"
    assert game.owner("holland") == 3


def test_an_army_that_retreated_has_lost_its_order() -> None:
    """EGC-8.9: it neither moves nor supports."""
    game = position(
        armies={3: {"france-1": ("france", 20, 5, 5)}, 8: {"spain-1": ("spain", 60, 8, 8)}},
        relations={(3, 8): "total_war"},
        owners={"holland": 3},
    )
    facts = game.resolve({8: [move("spain-1", "spain", "france")], 3: [move("france-1", "france", "italy", round=8)]})
    assert of(facts, "combat_fought", 3)[0]["goes"] == [["france-1", "holland"]]
    assert game.where("france-1") == "holland"


def test_armies_of_an_empire_go_by_their_numbers() -> None:
    """EGC-8.5: 2 before 10."""
    two = {"france-10": ("france", 100, 5, 5), "france-2": ("france", 100, 5, 5)}
    facts = position(armies={3: two}).resolve(
        {3: [move("france-10", "france", "holland"), move("france-2", "france", "holland")]}
    )
    assert [c["attacker"] for c in of(facts, "combat_fought", 3)] == ["france-2", "france-10"]


@pytest.mark.parametrize(("activated", "first"), [(4, "spain-1"), (5, "austria_hungary-1")])
def test_a_longer_way_takes_more_rounds(activated: int, first: str) -> None:
    """EGC-8.5: over one sea the landing comes a round after the activation."""
    game = position(
        armies={0: {"austria_hungary-1": ("tunisia", 100, 6, 6)}, 8: {"spain-1": ("spain", 100, 6, 6)}},
        owners={"tunisia": 0},
        garrisons={"algeria": None},
        rank={0: {"logistics": 9}, 8: {"logistics": 1}},
    )
    sail = move("spain-1", "spain", "western_mediterranean", "algeria", round=activated)
    facts = game.resolve({0: [move("austria_hungary-1", "tunisia", "algeria")], 8: [sail]})
    assert of(facts, "combat_fought", 0)[0]["defender"] == first


def lost_base(ally: str, garrison: tuple[int, int, int] | None) -> tuple[Board, list[Doc]]:
    """France's army is at sea when Spain enters France behind it."""
    game = position(
        armies={
            0: {"austria_hungary-1": ("tunisia", 50, 6, 6)},
            3: {"france-1": ("france", 60, 6, 6)},
            8: {"spain-1": ("spain", 50, 6, 6)},
        },
        owners={"tunisia": 0, "holland": 3},
        garrisons={"algeria": garrison},
        relations={(0, 3): ally, (3, 8): "total_war"},
    )
    sheets = {
        3: [move("france-1", "france", "western_mediterranean", "algeria")],
        8: [move("spain-1", "spain", "france")],
    }
    if garrison is None:
        sheets[0] = [move("austria_hungary-1", "tunisia", "algeria")]
    return game, game.resolve(sheets)


def test_who_turns_back_to_a_lost_base_is_destroyed() -> None:
    """EGC-8.7.3: it is told to the owner alone."""
    game, facts = lost_base("alliance", None)
    (turned,) = of(facts, "army_turned_back")
    assert (turned["seat"], turned["territory"], turned["to"]) == (3, "algeria", None)
    assert game.army("france-1") is None
    assert (game.owner("france"), game.owner("algeria")) == (8, 0)
    assert not of(facts, "combat_fought")


def test_a_beaten_attacker_whose_base_is_lost_is_destroyed() -> None:
    """EGC-9.10, EGC-8.7.2."""
    game, facts = lost_base("peace", (300, 8, 8))
    assert of(facts, "combat_fought", 3)[0]["goes"] == [["france-1", None]]
    assert game.army("france-1") is None

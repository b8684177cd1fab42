"""Battles: quality, protection, support, losses, breaking, retreat."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.egc.rules.battle import encirclement, share
from domain.types import Doc
from tests.games.egc.board import Board, move, of, order, position

TOTAL = {(3, 8): "total_war"}


def duel(
    attacker: tuple[int, int, int] = (200, 7, 6), defender: tuple[int, int, int] = (100, 5, 5), **more: Any
) -> tuple[Board, list[Doc]]:
    """France attacks Spain by land; both have divisions, morale and training as given."""
    game = position(
        armies={3: {"france-1": ("france", *attacker)}, 8: {"spain-1": ("spain", *defender)}}, relations=TOTAL, **more
    )
    return game, game.resolve({3: [move("france-1", "france", "spain")]})


def combats(facts: list[Doc]) -> list[Doc]:
    """Reports as France reads them."""
    return of(facts, "combat_fought", 3)


def test_the_attacker_meets_the_defenders_one_after_another() -> None:
    """EGC-9.1: in a drawn order, as long as it wins."""
    game = position(
        armies={
            3: {"france-1": ("france", 400, 9, 9)},
            8: {"spain-1": ("spain", 30, 5, 5), "spain-2": ("spain", 30, 5, 5), "spain-3": ("spain", 30, 5, 5)},
        },
        relations=TOTAL,
    )
    facts = game.resolve({3: [move("france-1", "france", "spain")]}, draws=[["spain-3", "spain-1", "spain-2"]])
    assert [c["defender"] for c in combats(facts)] == ["spain-3", "spain-1", "spain-2"]
    assert game.where("france-1") == "spain"


def test_the_fort_helps_its_owner_and_the_neutral_army_only() -> None:
    """EGC-9.2: an intruder has the natural defence alone."""
    levels = {"switzerland": {"fortification": 2}, "spain": {"fortification": 3}}
    _, facts = duel(levels=levels)
    assert (combats(facts)[0]["fort"], combats(facts)[0]["landing"]) == (3, False)
    neutral = position(armies={3: {"france-1": ("france", 300, 7, 6)}}, levels=levels)
    report = combats(neutral.resolve({3: [move("france-1", "france", "switzerland")]}))[0]
    assert report["fort"] == 2
    assert report["rounds"][0][2] == 100 + 5 * 20 + 30 * 2
    armies = {0: {"austria_hungary-1": ("austria_hungary", 100, 7, 6)}, 3: {"france-1": ("france", 100, 7, 6)}}
    intruder = position(armies=armies, levels=levels, garrisons={"switzerland": None})
    met = intruder.resolve(
        {
            0: [move("austria_hungary-1", "austria_hungary", "switzerland")],
            3: [move("france-1", "france", "switzerland")],
        }
    )
    assert combats(met)[0]["fort"] == 0
    assert combats(met)[0]["rounds"][0][2] == 100 + 5 * 20


def test_quality() -> None:
    """EGC-9.3: a level-3 fort weighs siegecraft three times, a landing naval technology once."""
    _, facts = duel(levels={"spain": {"fortification": 3}})
    q_att, q_def = combats(facts)[0]["rounds"][0][:2]
    assert q_att == (60 + 3 * 10 * (11 - 4)) // 4
    assert q_def == (50 + 3 * 10 * (11 - 9)) // 4
    game = position(
        armies={3: {"france-1": ("france", 300, 7, 6)}},
        neutral_ranks={"algeria": {"naval": 6, "siege": 5}, "tunisia": {"naval": None, "siege": None}},
        levels={"algeria": {"fortification": 1}},
    )
    report = combats(game.resolve({3: [move("france-1", "france", "western_mediterranean", "algeria")]}))[0]
    assert report["rounds"][0][:2] == [(60 + 70 + 70) // 3, (40 + 60 + 50) // 3]


def test_protection_of_the_defender() -> None:
    """EGC-9.4: nature, fort, landing."""
    game = position(armies={3: {"france-1": ("france", 300, 7, 6)}}, levels={"algeria": {"fortification": 1}})
    report = combats(game.resolve({3: [move("france-1", "france", "western_mediterranean", "algeria")]}))[0]
    assert {r[2] for r in report["rounds"]} == {100 + 5 * 12 + 30 + 30}


def test_an_army_breaks_past_its_morale() -> None:
    """EGC-9.5: when it has lost more than a tenth of its strength per point; losses of the turn add up."""
    _, facts = duel(defender=(100, 3, 5))
    lost = [r[5] for r in combats(facts)[0]["rounds"]]
    assert sum(lost) > 30
    assert sum(lost[:-1]) <= 30


def test_the_losses_of_a_turn_add_up() -> None:
    """EGC-9.5: the second combat costs 34, which 91 divisions of morale 4 would bear; with 9 before, 100 do not."""
    game = position(
        armies={
            3: {"france-1": ("france", 100, 3, 6)},
            8: {"spain-1": ("spain", 60, 1, 5), "spain-2": ("spain", 60, 9, 5)},
        },
        relations=TOTAL,
        levels={"spain": {}},
    )
    facts = game.resolve({3: [move("france-1", "france", "spain")]}, draws=[["spain-1", "spain-2"]])
    first, second = combats(facts)
    assert [r[4:6] for r in first["rounds"]] == [[9, 10]]
    assert [r[4:6] for r in second["rounds"]] == [[9, 9], [7, 8], [6, 8], [5, 7], [4, 7], [3, 6]]
    assert (first["winner"], second["winner"]) == ("france-1", "spain-2")
    assert game.army("france-1") == ("france", 57, 3, 6)


def test_an_army_that_retreated_is_weak_in_its_new_place() -> None:
    """EGC-9.4, EGC-9.10: no prepared defence any more, and it breaks after one round because it keeps its losses."""
    game = position(
        armies={
            3: {"france-1": ("france", 300, 8, 8), "france-2": ("algeria", 100, 8, 8)},
            8: {"spain-1": ("spain", 100, 5, 5)},
        },
        owners={"algeria": 3, "morocco": 8},
        relations=TOTAL,
    )
    facts = game.resolve(
        {
            3: [move("france-1", "france", "spain"), move("france-2", "algeria", "morocco", round=8)],
            8: [order("spain-1", "prepare_defence")],
        }
    )
    first, second = combats(facts)
    assert first["goes"] == [["spain-1", "morocco"]]
    assert first["rounds"][0][2] == 100 + 5 * 12 + 30 + 30
    assert (second["territory"], len(second["rounds"]), second["rounds"][0][2]) == ("morocco", 1, 100 + 5 * 15)
    assert second["goes"] == [["spain-1", None]]


SUPPORTED = {
    3: {"france-1": ("france", 200, 7, 6), "france-2": ("france", 50, 7, 6), "france-3": ("holland", 30, 7, 6)},
    0: {"austria_hungary-1": ("austria_hungary", 40, 7, 6)},
}


def supported(relation: str = "alliance", **more: Any) -> list[Doc]:
    """France attacks Germany, which is neutral, with all the support that there can be."""
    game = position(
        armies=SUPPORTED, owners={"holland": 3}, relations={(0, 3): relation, **more.pop("relations", {})}, **more
    )
    return game.resolve(
        {
            3: [
                move("france-1", "france", "germany"),
                order("france-2", "support", territory="germany"),
                order("france-3", "support", territory="germany"),
            ],
            0: [order("austria_hungary-1", "support", territory="germany")],
        }
    )


def test_supporters() -> None:
    """EGC-9.6: own ones first, then allies, in range; not those of an empire that is no ally."""
    assert [u[0] for u in combats(supported())[0]["supporters"]] == ["france-2", "france-3", "austria_hungary-1"]
    assert [u[0] for u in combats(supported("mpa"))[0]["supporters"]] == ["france-2", "france-3"]


def test_encirclement() -> None:
    """EGC-9.7: 15 percent for each further territory, at most 45."""
    assert [encirclement(k) for k in range(6)] == [0, 0, 15, 30, 45, 45]
    assert combats(supported())[0]["rounds"][0][3] == 30


def test_the_losses_of_a_round() -> None:
    """EGC-9.8: supporters weigh half; losses are shared by weight, the rest goes round."""
    # Germany: 220 divisions 5/4, defence 11. AP = 2*200*70 + 120*70 = 36400; 36400*130 // (800*155) = 38.
    # 220*50 // 400 = 27, by 400 : 50 : 30 : 40 of 520: 20, 2, 1, 2, and one more for the first two.
    shares = {"france-2": 3, "france-3": 1, "austria_hungary-1": 2}
    assert combats(supported())[0]["rounds"][0] == [60, 40, 155, 30, 21, 38, shares]
    assert share(10, [4, 3, 3], [9, 9, 9]) == [4, 3, 3]
    assert share(5, [4, 1, 1], [1, 9, 9]) == [1, 2, 2]
    assert share(5, [40, 1, 1], [20, 1, 1]) == [5, 0, 0]


def test_withdrawn_supporters_stay_where_they_are() -> None:
    """EGC-9.9: without a change of morale."""
    game = position(armies={3: {"france-1": ("france", 90, 9, 6), "france-2": ("france", 20, 1, 6)}})
    orders = [move("france-1", "france", "germany"), order("france-2", "support", territory="germany")]
    report = combats(game.resolve({3: orders}))[0]
    assert report["supporters"][0][2]
    assert report["rounds"][-1][6] == {}
    assert game.army("france-2")[0::2] == ("france", 1)  # type: ignore[index]


def test_when_both_break_the_attacker_gives_way() -> None:
    """EGC-9.9: and a defender that is destroyed has lost."""
    # Both have quality 60, M = 100 + 60. AP = 2*100*70: 14000*100 // (800*160) = 10 > 9; 90*70 // 400 = 15 > 10.
    _, facts = duel(attacker=(100, 1, 6), defender=(90, 1, 6), levels={"spain": {}})
    report = combats(facts)[0]
    assert report["rounds"] == [[60, 60, 160, 0, 15, 10, {}]]
    assert report["winning"] == "spain"
    _, facts = duel(attacker=(300, 9, 9), defender=(9, 9, 1))
    assert combats(facts)[0]["goes"] == [["spain-1", None]]


@pytest.mark.parametrize(("defender", "significant"), [(50, True), (49, False), (9, False)])
def test_a_significant_combat_moves_morale(defender: int, significant: bool) -> None:
    """EGC-9.10: at least ten on both sides, at most four to one."""
    game, facts = duel(attacker=(200, 7, 6), defender=(defender, 2, 2))
    assert combats(facts)[0]["significant"] == significant
    assert game.army("france-1")[2] == 7 + significant  # type: ignore[index]


def test_a_beaten_defender_retreats_to_an_own_territory() -> None:
    """EGC-9.10: neighbours by land, or over a controlled sea; drawn when there are several."""
    game = position(
        armies={3: {"france-1": ("france", 300, 7, 6)}, 8: {"spain-1": ("spain", 60, 2, 3)}},
        relations={**TOTAL, (6, 8): "peace"},
        owners={"canary_islands": 8, "algeria": 8, "azores": 8},
    )
    facts = game.resolve(
        {3: [move("france-1", "france", "spain")]}, draws=[{"label": "retreat", "value": "canary_islands"}]
    )
    assert combats(facts)[0]["goes"] == [["spain-1", "canary_islands"]]
    assert game.where("spain-1") == "canary_islands"
    alone, facts = duel(attacker=(300, 7, 6), defender=(60, 2, 3))
    assert alone.army("spain-1") is None


def test_a_beaten_attacker_goes_back() -> None:
    """EGC-9.10: by land; over one sea if it is controlled; else it is destroyed."""
    game, facts = duel(attacker=(40, 5, 5), defender=(100, 8, 8))
    assert combats(facts)[0]["goes"] == [["france-1", "france"]]
    assert game.where("france-1") == "france"
    sail = move("france-1", "france", "western_mediterranean", "algeria")
    back = position(armies={3: {"france-1": ("france", 30, 3, 3)}})
    assert combats(back.resolve({3: [sail]}))[0]["goes"] == [["france-1", "france"]]
    ports = {"lands": {"tunisia": {"port": True}}, "owners": {"tunisia": 0}, "relations": {(0, 3): "war"}}
    lost = position(armies={3: {"france-1": ("france", 30, 3, 3)}}, **ports)  # type: ignore[arg-type]
    assert combats(lost.resolve({3: [sail]}))[0]["goes"] == [["france-1", None]]
    far = position(armies={3: {"france-1": ("france", 30, 3, 3)}})
    long = move("france-1", "france", "bay_of_biscay", "english_channel", "ireland")
    assert combats(far.resolve({3: [long]}))[0]["goes"] == [["france-1", None]]


def test_a_combat_always_ends() -> None:
    """EGC-9.11: each round kills at least one on each side."""
    _, facts = duel(attacker=(10, 9, 1), defender=(10, 9, 1))
    report = combats(facts)[0]
    assert all(r[4] >= 1 and r[5] >= 1 for r in report["rounds"])
    assert len(report["rounds"]) <= 10


def test_the_battle_report() -> None:
    """EGC-9.12."""
    _, facts = duel()
    report = combats(facts)[0]
    assert report["before"] == [200, 100]
    assert {"territory", "supporters", "significant", "winner", "goes", "rounds"} <= set(report)


def test_an_ally_of_both_sides_does_not_support() -> None:
    """EGC-9.6, EGC-8.8: it may not fight the defender itself; at peace with it, it may."""
    for relation, helpers in (("alliance", []), ("peace", ["austria_hungary-1"])):
        game = position(
            armies={
                0: {"austria_hungary-1": ("austria_hungary", 40, 7, 6)},
                3: {"france-1": ("france", 100, 7, 6)},
                6: {"portugal-1": ("italy", 60, 7, 6)},
            },
            owners={"italy": 6},
            garrisons={"switzerland": None},
            relations={(0, 3): "alliance", (0, 6): relation},
        )
        facts = game.resolve(
            {
                0: [order("austria_hungary-1", "support", territory="switzerland")],
                3: [move("france-1", "france", "switzerland", round=8)],
                6: [move("portugal-1", "italy", "switzerland")],
            }
        )
        assert [u[0] for u in combats(facts)[0]["supporters"]] == helpers


def test_supporters_can_die_with_the_attacker() -> None:
    """EGC-9.8, EGC-9.9: the side loses no more than it has; 27 would be due."""
    game = position(armies={3: {"france-1": ("france", 5, 7, 6), "france-2": ("france", 1, 7, 6)}})
    orders = [move("france-1", "france", "germany"), order("france-2", "support", territory="germany")]
    report = combats(game.resolve({3: orders}))[0]
    assert (report["rounds"][0][4], report["rounds"][0][6]) == (5, {"france-2": 1})
    assert report["winning"] == "neutral"
    assert game.army("france-2") is None

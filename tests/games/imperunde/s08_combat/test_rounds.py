"""IMP-8.2 to IMP-8.6: rounds, reinforcements, boarding, outcomes."""

from __future__ import annotations

from typing import Any

from domain.games.imperunde.data import COUNTRIES, VALUE
from tests.games.imperunde.board import (
    PASS,
    attack,
    card,
    colony,
    country,
    deciding,
    dice,
    group,
    named,
    position,
    standing,
    units,
    zone,
)
from tests.spec import Given

DECLINE: Any = {"type": "reinforce", "groups": []}


def congo() -> Given:
    """The worked example: seat 1 (South Africa) attacks seat 0's Congo; 0 is at war with it."""
    return position(
        order=[1, 0, 2],
        wars=[(0, 1)],
        countries={
            "south_africa": colony(1, artillery=2, cavalry=1, infantry=1),
            "ottoman_empire": colony(1, cavalry=1),
            "congo": colony(0, posts=2, forts=1, cavalry=1, infantry=3),
        },
        zones={"indian_ocean": zone({1: {"cavalry": 1, "infantry": 1, "artillery": 1}})},
    )


def from_sea(**counts: int) -> Any:
    return group("indian_ocean", "gulf_of_guinea", "congo", **counts)


def test_the_worked_example_of_the_congo() -> None:
    """IMP-8.2.1, IMP-8.2.4, IMP-8.2.5, IMP-8.3.1, IMP-8.6.1: three rounds, figure by figure."""
    game = congo()
    game.when(1, attack(group("south_africa", "congo", artillery=1), from_sea(cavalry=1), from_sea(infantry=1)))
    # The defender has five units and chooses three.
    assert deciding(game) == ("choose_units", [0])
    facts = game.when(
        0, {"type": "choose_units", "units": units(cavalry=1, infantry=2)}, draws=dice("g4 y7 w4 y4 w5 w2")
    )
    # 7 beats 5; 4 ties with 4 and the defender wins; 4 beats 2.
    assert named(facts, "round_fought")[0]["attacker"] == [["cavalry", 7], ["artillery", 4], ["infantry", 4]]
    assert named(facts, "round_fought")[0]["defender"] == [["infantry", 5], ["cavalry", 4], ["infantry", 2]]
    assert standing(game, "congo", 0) == {"cavalry": 1, "infantry": 1}
    # One artillery has fallen: it is replaced, but not by the cavalry beyond Egypt.
    assert deciding(game) == ("reinforce", [1])
    through_egypt = group("ottoman_empire", "egypt", "congo", cavalry=1)
    game.refused(1, {"type": "reinforce", "groups": [through_egypt]}, "not_your_country", "IMP-7.2")
    more = {"type": "reinforce", "groups": [group("south_africa", "congo", artillery=1)]}
    facts = game.when(1, more, draws=dice("g5 y7 w4 r6 y6 w3"))
    # The cavalry's 7 counts 6 against the fort's 6 and loses; 5 loses to 6; 4 beats 3.
    assert named(facts, "round_fought")[0]["defender"] == [["fort", 6], ["cavalry", 6], ["infantry", 3]]
    assert (country(game, "congo").forts, standing(game, "congo", 0)) == (1, {"cavalry": 1})
    more = {"type": "reinforce", "groups": [group("south_africa", "congo", cavalry=1), from_sea(artillery=1)]}
    facts = game.when(1, more, draws=dice("g7 y6 w2 r7 y3"))
    # The artillery's 7 counts 8 against the fort's 7; 6 beats 3; the third die has no partner.
    taken = country(game, "congo")
    assert (taken.owner, taken.posts, taken.forts) == (1, 2, 0)
    assert standing(game, "congo", 1) == {"artillery": 1, "cavalry": 1, "infantry": 1}


def test_the_worked_example_of_a_free_country() -> None:
    """IMP-8.2.5, IMP-8.6.2: East India keeps all its natives when the attack fails."""
    game = position(countries={"west_india": colony(0, posts=1, artillery=1, infantry=3)})
    facts = game.when(
        0,
        attack(group("west_india", "east_india", artillery=1), group("west_india", "east_india", infantry=2)),
        draws=dice("g3 w4 w3 w5 w3 w2"),
    )
    fought = named(facts, "round_fought")[0]
    assert fought["attacker"] == [["infantry", 4], ["artillery", 3], ["infantry", 3]]
    assert fought["horde"] == 2
    facts = game.when(0, DECLINE, draws=dice("w5 w6 w1"))
    assert game.state.fight.units == ()
    facts = game.when(0, DECLINE)
    assert named(facts, "combat_ended")[0]["outcome"] == "held"
    assert country(game, "east_india").owner is None


def test_the_worked_example_of_the_arabian_sea() -> None:
    """IMP-8.4.1, IMP-8.3.2: a frigate is boarded and captured; enemies in the Indian Ocean bar the way."""
    game = position(
        order=[1, 0, 2],
        wars=[(0, 1)],
        zones={
            "tasman_sea": zone({1: {"ship_of_the_line": 1, "frigate": 1}}),
            "bay_of_bengal": zone({1: {"frigate": 2, "infantry": 1}}),
            "gulf_of_guinea": zone({1: {"frigate": 1}}),
            "indian_ocean": zone({0: {"frigate": 1}}),
            "arabian_sea": zone({0: {"ship_of_the_line": 1, "frigate": 2}}),
        },
    )
    order = attack(
        group("tasman_sea", "bay_of_bengal", "arabian_sea", ship_of_the_line=1),
        group("bay_of_bengal", "arabian_sea", frigate=2),
    )
    facts = game.when(1, order, draws=dice("g4 w6 w1 g8 w4 w2 g7 w5"))
    # 6 loses to 8; 4 ties with 4 and boards, 7 against 5; 1 loses to 2.
    assert named(facts, "ship_captured")[0]["by"] == 1
    assert standing(game, "arabian_sea", 1) == {"ship_of_the_line": 1, "frigate": 1}
    assert [x.pinned for x in game.state.lots_in(1, "arabian_sea") if x.unit == "frigate"] == [True]
    barred = group("gulf_of_guinea", "indian_ocean", "arabian_sea", frigate=1)
    game.refused(1, {"type": "reinforce", "groups": [barred]}, "enemy_warships_present", "IMP-7.2")
    come = group("tasman_sea", "bay_of_bengal", "arabian_sea", frigate=1)
    facts = game.when(1, {"type": "reinforce", "groups": [come]}, draws=dice("g8 w6 w5 g3 w1"))
    assert game.state.controller("arabian_sea") == 1
    assert named(facts, "combat_ended")[0]["outcome"] == "won"


def test_who_chooses() -> None:
    """IMP-8.2.1: more than three that are not all alike; the attacker first; exactly three."""
    fleet = {"frigate": 3, "ship_of_the_line": 1}
    game = position(step="cleanup", wars=[(0, 1)], zones={"north_sea": zone({0: fleet, 1: fleet})})
    assert deciding(game) == ("choose_units", [0])
    choice = {"type": "choose_units", "units": units(frigate=3)}
    game.refused(0, {**choice, "units": units(frigate=2)}, "wrong_number_of_units", "IMP-8.2.1")
    game.refused(0, {**choice, "units": units(ship_of_the_line=2, frigate=1)}, "not_enough_units")
    game.when(0, choice)
    assert deciding(game) == ("choose_units", [1])
    assert len(game.state.fight.chosen["attacker"]) == 1


def test_all_alike_need_no_choice() -> None:
    """IMP-8.2.1: and pirates take ships of the line first."""
    black = {"frigate": 3, "ship_of_the_line": 1}
    game = position(
        zones={"north_sea": zone({0: {"frigate": 3}}), "norwegian_sea": zone(black=black)},
    )
    facts = game.when(
        0,
        attack(group("north_sea", "norwegian_sea", frigate=3)),
        draws=dice("w6 w6 w6 g3 w1 w1 w6 w6 w6 w1"),
    )
    assert named(facts, "round_fought")[0]["defender"] == [["ship_of_the_line", 3], ["frigate", 1], ["frigate", 1]]


def test_the_round_window() -> None:
    """IMP-8.2.2, IMP-11.6: on land from round 2, for those who fight with cavalry and hold a card."""
    game = position(
        countries={"france": colony(0, cavalry=1, posts=1)},
        hands={0: ["coup_de_main"], 1: ["coup_de_main"]},
    )
    game.when(0, attack(group("france", "netherlands", cavalry=1), pass_window=True), draws=dice("y7 w1 w2"))
    assert deciding(game) == ("round_window", [0])
    game.refused(1, card("coup_de_main"), "card_not_playable_now", "IMP-9.3")
    game.when(0, card("coup_de_main"))
    assert deciding(game) == ("counter_window", [1])
    facts = game.when(1, PASS, draws=dice("y2 w3"))
    # The bonus makes a 3 of the 2, a tie, which the defender wins.
    assert named(facts, "round_fought")[0]["attacker"] == [["cavalry", 3]]


def test_the_order_of_the_dice() -> None:
    """IMP-8.2.3: fort, artillery, cavalry, infantry; each die belongs to its unit."""
    game = position(
        wars=[(0, 1)],
        countries={
            "france": colony(0, artillery=1, cavalry=1, infantry=1, posts=1),
            "spain": colony(1, 1, 1, infantry=1),
        },
    )
    groups = [group("france", "spain", **{u: 1}) for u in ("infantry", "cavalry", "artillery")]
    game.when(0, attack(*groups), draws=dice("g8 y7 w6 r4 w1"))
    assert country(game, "spain").owner == 0


def test_sorting_looks_at_moves_left() -> None:
    """IMP-8.2.4: equal values and colours: more moves first."""
    game = position(
        zones={
            "north_sea": zone({0: {"frigate": 1}}),
            "baltic_sea": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone(pirates=2),
        }
    )
    groups = [
        group("north_sea", "norwegian_sea", frigate=1),
        group("baltic_sea", "north_sea", "norwegian_sea", frigate=1),
    ]
    # Both attackers roll 3; the one with a move left is compared with the better black ship and lost.
    facts = game.when(0, attack(*groups), draws=dice("w3 w3 w4 w2 w6 w1"))
    gone = named(facts, "units_lost")[0]["units"]
    assert gone == [{"unit": "frigate", "count": 1, "moves_left": 1}]


def test_modifiers_against_a_fort() -> None:
    """IMP-8.2.5: for this comparison only; dice without a partner do nothing."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, cavalry=2, posts=1), "spain": colony(1, posts=1, forts=1)},
    )
    facts = game.when(0, attack(group("france", "spain", cavalry=2)), draws=dice("y5 y4 r4 y6 r4"))
    # 5 - 1 = 4 ties with the fort's 4 and loses, the second die has no partner; then 6 - 1 = 5 beats 4.
    assert [(f["seat"], f["units"][0]["unit"]) for f in named(facts, "units_lost")] == [(0, "cavalry"), (1, "fort")]
    assert country(game, "spain").owner == 0


def test_how_a_round_ends() -> None:
    """IMP-8.2.6: no defender, then reinforcements, then no attacker, else the next round."""
    game = position(countries={"france": colony(0, infantry=2, posts=1)})
    game.when(0, attack(group("france", "netherlands", infantry=1)), draws=dice("w1 w2 w3"))
    assert deciding(game) == ("reinforce", [0])
    facts = game.when(
        0, {"type": "reinforce", "groups": [group("france", "netherlands", infantry=1)]}, draws=dice("w6 w1 w2 w6 w1")
    )
    assert named(facts, "combat_ended")[0]["outcome"] == "won"


def test_reinforcements() -> None:
    """IMP-8.3.1: after a loss, up to three in all; an empty list declines; asked again after every such round."""
    game = position(countries={"france": colony(0, infantry=5, posts=1)})
    game.when(0, attack(group("france", "spain", infantry=3)), draws=dice("w1 w2 w3 w4 w4 w1"))
    # 3 loses to 4, 2 loses to 4, 1 ties with 1: all are lost.
    assert deciding(game) == ("reinforce", [0])
    too_many = {"type": "reinforce", "groups": [group("france", "spain", infantry=4)]}
    game.refused(0, too_many, "too_many_units", "IMP-8.1.1")
    elsewhere = {"type": "reinforce", "groups": [group("france", "italy", infantry=1)]}
    game.refused(0, elsewhere, "malformed_move")
    more = {"type": "reinforce", "groups": [group("france", "spain", infantry=1)]}
    game.when(0, more, draws=dice("w1 w6 w6 w6"))
    assert deciding(game) == ("reinforce", [0])


def test_who_can_come() -> None:
    """IMP-8.3.2: nobody within its moves: nobody is asked."""
    game = position(
        countries={
            "france": colony(0, infantry=1, posts=1),
            "portugal": colony(0, infantry=1),
            "china": colony(0, cavalry=9),
        }
    )
    game.when(0, attack(group("france", "netherlands", infantry=1)), draws=dice("w1 w2 w3"))
    assert (deciding(game), game.state.combat) == (("movement", [0]), None)


def test_no_reinforcements_elsewhere() -> None:
    """IMP-8.3.3: neither for defenders nor in the clean-up."""
    game = position(
        step="cleanup",
        wars=[(0, 1)],
        zones={"baltic_sea": zone({0: {"frigate": 1}, 1: {"frigate": 1}}), "tasman_sea": zone({0: {"frigate": 3}})},
        frames=[
            {"n": 1, "kind": "game", "data": {"step": "cleanup"}},
            {"n": 2, "kind": "investment", "asked": [2], "owing": [2]},
        ],
    )
    game.when(2, {"type": "end_investments"}, draws=dice("w1 w2"))
    assert standing(game, "baltic_sea", 1) == {"frigate": 1}
    assert deciding(game) == ("movement", [0])


def test_boarding_until_the_dice_differ() -> None:
    """IMP-8.4.1: the attacker's die first; the ship takes the captor's colour, pinned."""
    game = position(
        wars=[(0, 1)], zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone({1: {"frigate": 1}})}
    )
    facts = game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)), draws=dice("w3 w3 w5 w5 w6 w2"))
    assert named(facts, "ship_captured")[0]["from"] == 1
    assert {(x.count, x.pinned) for x in game.state.lots_in(0, "norwegian_sea")} == {(1, False), (1, True)}
    assert game.state.supply(1, "frigate") == 30


def test_pirates_board_and_a_supply_can_be_empty() -> None:
    """IMP-8.4.2: a prize of pirates is black; without a piece of the captor the ship is sunk."""
    game = position(zones={"north_sea": zone({0: {"ship_of_the_line": 1}}), "norwegian_sea": zone(pirates=1)})
    facts = game.when(0, attack(group("north_sea", "norwegian_sea", ship_of_the_line=1)), draws=dice("g3 w3 g3 w6"))
    assert named(facts, "ship_captured")[0]["by"] == "pirates"
    assert game.state.zone("norwegian_sea").pirates == {"frigate": 1, "ship_of_the_line": 1}
    full = {"norwegian_sea": zone(black={"frigate": 1, "ship_of_the_line": 5})}
    game = position(zones={"north_sea": zone({0: {"ship_of_the_line": 3}}), **full})
    facts = game.when(
        0,
        attack(group("north_sea", "norwegian_sea", ship_of_the_line=3)),
        draws=dice("g8 g8 g3 g3 g3 g3 g3 g4 g8 g8 g3 g3 g3 g8 g8 g3 g3 w1 g8 g8 w1"),
    )
    # Two black ships are sunk first, so there is a piece for the prize.
    assert named(facts, "ship_captured")[0]["by"] == "pirates"


def test_embarked_armies_do_not_fight() -> None:
    """IMP-8.4.3: the sinking test comes after the combat."""
    game = position(
        wars=[(0, 1)],
        zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone({1: {"frigate": 1, "infantry": 4}})},
    )
    facts = game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)), draws=dice("w6 w1"))
    assert [f["t"] for f in facts if f["t"] in ("combat_ended", "transports_sunk")] == [
        "combat_ended",
        "transports_sunk",
    ]


def test_bonuses_belong_to_the_value() -> None:
    """IMP-8.5.1: they are sorted, add up with each other, and end after the first round but for `coup_de_main`."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, cavalry=1, infantry=1, posts=1), "spain": colony(1, posts=2, cavalry=2)},
        hands={0: ["surprise_attack", "coup_de_main"], 1: ["ambush"]},
    )
    game.when(0, attack(group("france", "spain", cavalry=1), group("france", "spain", infantry=1)))
    game.when(0, card("surprise_attack"))
    game.when(1, PASS)
    game.when(0, card("coup_de_main"))
    game.when(1, PASS)
    game.when(1, card("ambush"), draws=dice("y4 w6 y7 y3 y4 y4"))
    first, second = (f["attacker"] for f in named(game.match.records[-1].public["facts"], "round_fought"))
    assert (first, second) == ([["infantry", 8], ["cavalry", 7]], [["cavalry", 5]])


def test_a_new_attack_is_a_new_combat() -> None:
    """IMP-8.5.2: old bonuses are gone."""
    game = position(countries={"france": colony(0, cavalry=2, posts=1)}, hands={0: ["coup_de_main"]})
    game.when(0, attack(group("france", "netherlands", cavalry=1)))
    game.when(0, card("coup_de_main"), draws=dice("y2 w6 w6"))
    game.when(0, DECLINE)
    facts = game.when(0, attack(group("france", "netherlands", cavalry=1)), draws=dice("y2 w6 w6"))
    assert named(facts, "round_fought")[0]["attacker"] == [["cavalry", 2]]


def test_conquest() -> None:
    """IMP-8.6.1: posts are exchanged, forts are not left, fresh posts settle, the marker stays."""
    spain = colony(1, posts=3, fresh_posts=1, infantry=1, famine=True)
    game = position(wars=[(0, 1)], countries={"france": colony(0, infantry=1, posts=1), "spain": spain})
    game.when(0, attack(group("france", "spain", infantry=1)), draws=dice("w6 w1"))
    taken = country(game, "spain")
    assert (taken.owner, taken.posts, taken.fresh_posts, taken.famine) == (0, 3, 0, True)
    assert game.state.supply(1, "trading_post") == 90


def test_a_free_canal_country_gives_posts() -> None:
    """IMP-8.6.1: two, at once."""
    game = position(countries={"congo": colony(0, infantry=3, posts=1)}, canals=["suez"])
    game.when(0, attack(group("congo", "egypt", infantry=3)), draws=dice("w6 w6 w6 w1 w1"))
    assert country(game, "egypt").posts == 2


def test_posts_beyond_the_supply_are_lost() -> None:
    """IMP-8.6.1: 45 are all that a seat of four can have."""
    many = {c: colony(0, posts=3) for c in ("china", "east_india", "west_india", "ottoman_empire", "prussia", "france")}
    rest = [c for c in COUNTRIES if VALUE[c] == 2 and c not in ("portugal", "south_africa", "victoria")][:12]
    many |= {c: colony(0, posts=2) for c in rest}
    many["spain"] = colony(0, posts=2, infantry=1)
    game = position(4, wars=[(0, 1)], goal=99, countries={**many, "portugal": colony(1, posts=2)})
    assert game.state.supply(0, "trading_post") == 1
    game.when(0, attack(group("spain", "portugal", infantry=1)))
    assert country(game, "portugal").posts == 1


def test_a_failed_attack_leaves_survivors() -> None:
    """IMP-8.6.2: where they are."""
    game = position(
        wars=[(0, 1)], countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, 1, infantry=2)}
    )
    game.when(0, attack(group("france", "spain", infantry=1)), draws=dice("w4 w5 w1"))
    assert standing(game, "spain", 1) == {"infantry": 2}


def rebellion(**spain: Any) -> Given:
    game = position(countries={"spain": colony(1, **spain)}, hands={0: ["rebellion"]})
    game.when(0, card("rebellion", country="spain"))
    return game


def test_insurgents_take_a_colony_without_defence_at_once() -> None:
    """IMP-8.6.3, IMP-8.6.4: all posts are removed, the country is free."""
    game = rebellion(posts=3)
    assert (country(game, "spain").owner, country(game, "spain").posts) == (None, 0)


def test_the_colony_wins_ties_against_insurgents() -> None:
    """IMP-8.6.4: at most three of them fight at once."""
    game = position(countries={"spain": colony(1, posts=3, infantry=3)}, hands={0: ["rebellion"]})
    facts = game.when(0, card("rebellion", country="spain"), draws=dice("w3 w2 w1 w3 w2 w1 w1 w1 w6 w6 w6"))
    assert [f["horde"] for f in named(facts, "round_fought")] == [2, 0]
    assert standing(game, "spain", 1) == {"infantry": 3}

"""SOE-8.3: support by allies."""

from __future__ import annotations

from domain.games.struggle_of_empires.rules.combat.support import eligible_allies
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position
from tests.spec import kinds

FOUR = {seat: {"units": army("baltic", 2, navy=1)} for seat in range(4)}


def test_an_ally_is_eligible_with_a_unit_that_could_take_part() -> None:
    """SOE-8.3.1: an army in the region, or a navy in the zone against players and Pirates; never a fort."""
    units = {
        2: {"units": army("india")},
        4: {"units": army("india", 0, navy=1)},
        6: {"units": army("india", 0, fort=1)},
        1: {"units": army("india")},
    }
    state = position(7, empires=units).state
    assert eligible_allies(state, 0, "india", "player") == [2, 4]
    assert eligible_allies(state, 0, "india", "neutral") == [2]
    assert eligible_allies(state, 0, "india", "slave_revolt") == [2]
    assert eligible_allies(state, 0, "india", "pirates") == [4]
    assert eligible_allies(state, 0, "africa", "player") == []


def test_allies_are_asked_in_turn_order_after_the_attacker() -> None:
    """SOE-8.3.2: each commits what takes part in this combat only; the units stay where they are."""
    units = {seat: {"units": army("baltic")} for seat in (0, 2, 4, 1)}
    game = position(5, turn=2, empires=units)
    assert game.at("/turn_order") == [0, 1, 2, 3, 4]
    game.when(2, attack("baltic", 1))
    assert asked(game) == ("support", 4)
    game.refused(4, move("support", armies=2, navies=0), "exceeds_available", "SOE-8.3.2")
    game.refused(4, move("support", armies=0, navies=1), "exceeds_available", "SOE-8.3.2")
    game.when(4, move("support", armies=1, navies=0))
    assert asked(game) == ("support", 0)
    facts = game.when(0, move("support", armies=0, navies=0), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [2, 1]
    assert empire(game, 4)["units"] == army("baltic")


def test_navies_cannot_be_committed_against_a_marker() -> None:
    """SOE-8.3.2: numbers that cannot take part must be 0."""
    game = position(empires=FOUR, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"))
    game.refused(2, move("support", armies=0, navies=1), "exceeds_available", "SOE-8.3.2")
    game.when(2, move("support", armies=2, navies=0), draws=[1, 1, 1, 1])


def test_an_offer_is_paid_when_its_conditions_are_met() -> None:
    """SOE-8.3.3: the gold passes at once from seat to seat."""
    game = position(4, empires=FOUR)
    offer = {"seat": 2, "gold": 4, "min_armies": 1, "min_navies": 1}
    game.when(0, attack("baltic", 1, offers=[offer]))
    facts = game.when(2, move("support", armies=1, navies=1))
    assert "gold_given" in kinds(facts)
    assert (empire(game, 0)["gold"], empire(game, 2)["gold"]) == (10 - 2 - 4, 10 + 4)
    assert game.at("/combat/attacker/offers/0/accepted") is True


def test_offer_is_not_paid_otherwise_and_the_help_still_counts() -> None:
    """SOE-8.3.3: fewer units than asked for, or none at all."""
    for offer, armies in (({"min_armies": 2}, 1), ({}, 0)):
        game = position(4, empires=FOUR)
        game.when(0, attack("baltic", 1, offers=[{"seat": 2, "gold": 4, **offer}]))
        game.when(2, move("support", armies=armies, navies=0))
        assert empire(game, 2)["gold"] == 10
        assert game.at("/combat/attacker/support") == ({"2": {"army": 1}} if armies else {})


def test_then_the_defender_asks_his_allies() -> None:
    """SOE-8.3.4: in turn order after him, with the same meaning and refusals."""
    game = position(4, empires=FOUR)
    game.when(0, attack("baltic", 1, ask=[]))
    assert asked(game) == ("request_support", 1)
    assert game.decision.context == {"eligible": [3]}
    game.refused(1, move("request_support", ask=[2]), "invalid_ask", "SOE-8.3.4")
    too_much = [{"seat": 3, "gold": 11}]
    game.refused(1, move("request_support", offers=too_much), "offer_exceeds_gold", "SOE-8.3.4")
    game.when(1, move("request_support", offers=[{"seat": 3, "gold": 10}]))
    assert asked(game) == ("support", 3)
    game.when(3, move("support", armies=0, navies=1))
    assert (empire(game, 1)["gold"], empire(game, 3)["gold"]) == (0, 20)


def test_surprised_defender_asks_nobody_but_uses_his_own_tiles() -> None:
    """SOE-8.3.4: his own tiles still work."""
    empires = {**FOUR, 0: {**FOUR[0], "tiles": ["surprise_attack"]}, 1: {**FOUR[1], "tiles": ["sweden", "reserve"]}}
    game = position(4, empires=empires)
    game.when(0, attack("baltic", 1, surprise=True, ask=[]))
    assert asked(game) == ("naval_choice", 0)
    game.when(0, move("naval_choice", fight=False), draws=[1, 1, 1, 1])
    assert game.at("/combat/totals") == [2, 2 + 1 + 1]
    assert asked(game) == ("reserve", 1)


def test_a_defender_without_eligible_ally_is_not_asked() -> None:
    """SOE-8.3.4: at least one eligible ally is needed."""
    game = position(4, empires={0: {"units": army("baltic")}, 1: {"units": army("baltic")}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", 0)


def test_markers_and_tiles_get_no_help() -> None:
    """SOE-8.3.5: an attacker of them may be helped by his own allies."""
    game = position(4, empires=FOUR, pirates={"region": "india", "token_of": 1}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"))
    assert asked(game) == ("support", 2)
    game.when(2, move("support", armies=1, navies=0), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", 0)


def test_an_ally_adds_only_his_units() -> None:
    """SOE-8.3.6: his training, alliance tiles and Reserve do not count; he gains nothing."""
    helper = {"units": army("baltic"), "tiles": ["army_training", "sweden", "reserve"]}
    empires = {0: {"units": army("baltic")}, 2: helper, 1: {"tokens": {"baltic": 1}}}
    game = position(empires=empires)
    game.when(0, attack("baltic", 1))
    facts = game.when(2, move("support", armies=1, navies=0), draws=[1, 1, 1, 1])
    assert next(f for f in facts if f["t"] == "battle_rolled")["totals"] == [2, 0]
    assert (empire(game, 0)["tokens"], empire(game, 2)["tokens"]) == ({"baltic": 1}, {})
    assert asked(game) == ("turn", 0)

"""SOE-8.8 to SOE-8.10: losses, who chooses them, Fighting Withdrawal."""

from __future__ import annotations

from typing import Any

from domain.types import Doc, Json, Seat
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position, unrest
from tests.spec import Given


def lost(facts: list[Doc]) -> list[tuple[Seat, str]]:
    """Whose units were lost, in order."""
    return [(f["seat"], f["unit"]) for f in facts if f["t"] == "unit_lost"]


def fight(a: Any, b: Any, dice: list[int], seats: int = 2) -> tuple[Given, list[Doc]]:
    """Seat 0 attacks seat 1 in German States; nobody is asked for help."""
    game = position(seats, empires={0: a, 1: b})
    return game, game.when(0, attack("german_states", 1, ask=[]), draws=dice)


def land(armies: int, **more: Any) -> dict[str, Any]:
    return {"units": army("german_states", armies, **more)}


def choice(*picks: tuple[Seat, str]) -> Json:
    return move("choose_loss", choices=[{"seat": seat, "unit": unit} for seat, unit in picks])


def test_the_loser_loses_one_unit_that_took_part() -> None:
    """SOE-8.8.1: one own unit; nothing if he has none."""
    game, facts = fight(land(3), land(2), [1, 1, 1, 1])
    assert lost(facts) == [(1, "army")]
    game, facts = fight(land(3), {"tokens": {"german_states": 1}}, [1, 1, 1, 1])
    assert lost(facts) == []
    assert empire(game, 0)["tokens"] == {"german_states": 1}


def test_allies_never_pay_for_the_defeat_itself() -> None:
    """SOE-8.8.1: a beaten principal without units loses nothing though allies helped."""
    game = position(4, empires={0: land(5), 1: {"tokens": {"german_states": 1}}, 3: land(1)})
    game.when(0, attack("german_states", 1))
    game.when(1, move("request_support"))
    facts = game.when(3, move("support", armies=1, navies=0), draws=[1, 1, 1, 1])
    assert lost(facts) == []


def test_a_tie_costs_both_a_unit_but_never_a_fort() -> None:
    """SOE-8.8.2: not even through a natural seven; markers lose nothing."""
    game, facts = fight(land(2), land(0, fort=1), [1, 1, 1, 1])
    assert lost(facts) == [(0, "army")]
    game, facts = fight(land(7), land(0, fort=1), [1, 1, 1, 6])
    assert lost(facts) == [(0, "army")]
    game = position(2, empires={0: land(3)}, markers=["gs_baden"])
    facts = game.when(0, attack("german_states", "gs_baden"), draws=[1, 1, 1, 1])
    assert lost(facts) == [(0, "army")]
    assert game.at("/markers/german_states") == ["gs_baden"]


def test_a_natural_seven_costs_winner_and_loser_one_more() -> None:
    """SOE-8.8.3: case (b), own units that took part."""
    game, facts = fight(land(5), land(5), [2, 5, 1, 6])
    assert lost(facts) == [(0, "army"), (0, "army"), (1, "army")]
    assert (unrest(game, 0), unrest(game, 1)) == (2, 1)


def test_the_seven_of_a_beaten_side_costs_an_ally_who_helped() -> None:
    """SOE-8.8.3: case (a); the only helping ally is no choice."""
    game = position(3, empires={0: land(1), 2: land(2), 1: land(9)})
    game.when(0, attack("german_states", 1))
    facts = game.when(2, move("support", armies=1, navies=0), draws=[3, 4, 1, 1])
    assert lost(facts) == [(0, "army"), (2, "army")]
    assert [unrest(game, seat) for seat in range(3)] == [1, 0, 1]


def test_the_seven_of_a_winner_or_in_a_tie_costs_an_own_unit() -> None:
    """SOE-8.8.3: with allies too."""
    for enemy, gone in ((1, [(0, "army"), (1, "army")]), (3, [(0, "army"), (0, "army"), (1, "army")])):
        game = position(3, empires={0: land(2), 2: land(2), 1: land(enemy)})
        game.when(0, attack("german_states", 1))
        dice = [3, 4, 1, 1] if enemy == 1 else [3, 4, 1, 2]
        facts = game.when(2, move("support", armies=1, navies=0), draws=dice)
        assert lost(facts) == gone


def test_an_ally_at_sea_pays_for_no_seven_on_land() -> None:
    """SOE-8.8.3: units of this battle's type must be committed."""
    helper = {"units": army("baltic", 0, navy=1)}
    game = position(3, empires={0: {"units": army("baltic", 2)}, 2: helper, 1: {"units": army("baltic", 9)}})
    game.when(0, attack("baltic", 1))
    facts = game.when(2, move("support", armies=0, navies=1), draws=[3, 4, 1, 1])
    assert lost(facts) == [(0, "army"), (0, "army")]


def test_sevens_of_markers_and_tiles_have_no_effect() -> None:
    """SOE-8.8.4: nobody's units are there."""
    game = position(2, empires={0: land(9)}, markers=["gs_baden"])
    assert lost(game.when(0, attack("german_states", "gs_baden"), draws=[1, 1, 6, 1])) == []


def test_forts_are_lost_by_the_defender_and_never_too_many() -> None:
    """SOE-8.8.5: on land armies, and forts of the defending principal; at sea navies in the zone."""
    _game, facts = fight(land(1, fort=1), land(4), [3, 4, 1, 2])
    assert lost(facts) == [(0, "army")]
    _game, facts = fight(land(9), land(0, fort=1), [1, 1, 1, 6])
    assert lost(facts) == [(1, "fort")]


def test_losses_are_applied_together_with_one_unrest_each() -> None:
    """SOE-8.8.6: after the choices."""
    game, facts = fight(land(9), land(1, fort=1), [2, 5, 1, 1])
    assert asked(game) == ("choose_loss", 1)
    assert (lost(facts), unrest(game, 0)) == ([], 0)
    facts = game.when(1, choice((1, "fort")))
    assert lost(facts) == [(0, "army"), (1, "fort")]
    assert [unrest(game, seat) for seat in (0, 1)] == [1, 1]


def test_losses_never_change_the_result() -> None:
    """SOE-8.8.7: an attacker whose last army dies in a won battle still takes the token."""
    game, facts = fight(land(1), {"tokens": {"german_states": 1}}, [1, 6, 2, 2])
    assert lost(facts) == [(0, "army")]
    assert (empire(game, 0)["units"], empire(game, 0)["tokens"]) == ({}, {"german_states": 1})


def test_items_begin_with_attacker_and_fill_in_sole_choices() -> None:
    """SOE-8.9.1: defeat or tie before seven; if all own units must go nothing is asked."""
    _game, facts = fight(land(9), land(1, fort=1), [1, 1, 1, 6])
    assert lost(facts) == [(1, "army"), (1, "fort")]
    resolved = next(f for f in facts if f["t"] == "battle_resolved")
    assert [(i["side"], i["cause"]) for i in resolved["losses"]] == [("defender", "defeat"), ("defender", "seven")]


def test_a_principal_chooses_for_all_his_open_items_at_once() -> None:
    """SOE-8.9.2: as many choices as items, each still available after those before it."""
    game, _ = fight(land(12), land(1, fort=2), [1, 1, 1, 6])
    both = [{"seat": 1, "unit": "army"}, {"seat": 1, "unit": "fort"}]
    assert game.decision.context == {"items": [both, both]}
    for bad in (choice((1, "fort")), choice((1, "army"), (1, "army")), choice((0, "army"), (1, "fort")), choice()):
        game.refused(1, bad, "invalid_choice", "SOE-8.9.2")
    facts = game.when(1, choice((1, "fort"), (1, "fort")))
    assert lost(facts) == [(1, "fort"), (1, "fort")]


def test_the_attacker_chooses_before_the_defender() -> None:
    """SOE-8.9.2: with several helping allies the principal chooses which; both have open items here."""
    empires = {0: land(1), 2: land(1), 4: land(1), 1: land(2, fort=1)}
    game = position(5, empires=empires)
    game.when(0, attack("german_states", 1))
    game.when(2, move("support", armies=1, navies=0))
    game.when(4, move("support", armies=1, navies=0), draws=[3, 4, 1, 6])
    assert asked(game) == ("choose_loss", 0)
    assert game.decision.context["items"] == [[{"seat": 2, "unit": "army"}, {"seat": 4, "unit": "army"}]]
    game.refused(0, choice((1, "army")), "invalid_choice", "SOE-8.9.2")
    game.when(0, choice((4, "army")))
    assert asked(game) == ("choose_loss", 1)
    facts = game.when(1, choice((1, "army")))
    assert lost(facts) == [(0, "army"), (4, "army"), (1, "army")]


WITHDRAWS = {"tiles": ["fighting_withdrawal"]}


def test_a_beaten_defender_may_save_an_army_or_navy() -> None:
    """SOE-8.10.1: one loss of that seat is cancelled, with its unrest; the choice of losses comes before."""
    game, _ = fight(land(9), {**land(1, fort=1), **WITHDRAWS}, [1, 1, 1, 1])
    assert asked(game) == ("choose_loss", 1)
    game.when(1, choice((1, "army")))
    assert asked(game) == ("fighting_withdrawal", 1)
    game.refused(1, move("fighting_withdrawal", use=True, save=0), "invalid_choice", "SOE-8.10.1")
    game.refused(1, move("fighting_withdrawal", use=True), "malformed_move")
    game.refused(1, move("fighting_withdrawal", use=False, save=1), "malformed_move")
    facts = game.when(1, move("fighting_withdrawal", use=True, save=1))
    assert (lost(facts), unrest(game, 1)) == ([], 0)


def test_an_ally_can_be_saved() -> None:
    """SOE-8.10.1: the ally who would lose a unit."""
    game = position(4, empires={0: land(9), 1: {**land(1), **WITHDRAWS}, 3: land(1)})
    game.when(0, attack("german_states", 1))
    game.when(1, move("request_support"))
    game.when(3, move("support", armies=1, navies=0), draws=[1, 1, 3, 4])
    assert game.decision.context == {"saves": [1, 3]}
    facts = game.when(1, move("fighting_withdrawal", use=True, save=3))
    assert lost(facts) == [(1, "army")]


def test_withdrawal_is_not_asked_after_tie_or_lost_fort() -> None:
    """SOE-8.10.1: a fort cannot be saved, and a tie is not a defeat."""
    game, facts = fight(land(3), {**land(3), **WITHDRAWS}, [1, 1, 1, 1])
    assert lost(facts) == [(0, "army"), (1, "army")]
    game, facts = fight(land(3), {**land(0, fort=1), **WITHDRAWS}, [1, 1, 1, 1])
    assert lost(facts) == [(1, "fort")]
    assert asked(game) == ("turn", 0)


def test_the_token_is_lost_all_the_same_and_the_tile_is_banned() -> None:
    """SOE-8.10.2: back to the stock, banned for the user this round; refused, it stays in hand."""
    defender = {**land(1), **WITHDRAWS, "tokens": {"german_states": 1}}
    game, _ = fight(land(9), defender, [1, 1, 1, 1])
    game.when(1, move("fighting_withdrawal", use=True, save=1))
    assert (empire(game, 0)["tokens"], empire(game, 1)["tokens"]) == ({"german_states": 1}, {})
    assert empire(game, 1)["banned_tiles"] == ["fighting_withdrawal"]
    assert game.at("/stock/fighting_withdrawal") == 1
    game, _ = fight(land(9), defender, [1, 1, 1, 1])
    facts = game.when(1, move("fighting_withdrawal", use=False))
    assert (lost(facts), game.state.empires[1].owned("fighting_withdrawal")) == ([(1, "army")], 1)


def test_withdrawal_works_at_sea() -> None:
    """SOE-8.10.2: at sea and on land."""
    empires = {0: {"units": army("baltic", 9, navy=9 - 2)}, 1: {"units": army("baltic", 1, navy=1), **WITHDRAWS}}
    game = position(2, empires=empires)
    game.when(0, attack("baltic", 1))
    game.when(0, move("naval_choice", fight=True))
    game.when(1, move("naval_choice", fight=True), draws=[1, 1, 1, 1])
    assert asked(game) == ("fighting_withdrawal", 1)
    facts = game.when(1, move("fighting_withdrawal", use=True, save=1), draws=[1, 1, 1, 1])
    assert lost(facts) == [(1, "army")]
    assert empire(game, 1)["units"] == army("baltic", 0, navy=1)

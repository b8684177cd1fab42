"""SOE-4: the sequence of a War."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import (
    army,
    asked,
    attack,
    empire,
    end_of_war,
    last_turn,
    move,
    position,
)
from tests.spec import kinds


def test_a_war_ends_with_income_scoring_and_clearing_up() -> None:
    """SOE-4.1: phases 4, 5 and 6 are automatic."""
    game = last_turn(empires={0: {"tokens": {"india": 1}, "units": army("india")}})
    facts = kinds(end_of_war(game))
    order = ["turn_ended", "gold_received", "gold_paid", "population_grown", "region_scored", "war_ended"]
    assert [facts.index(kind) for kind in order] == sorted(facts.index(kind) for kind in order)


def test_exactly_one_seat_decides() -> None:
    """SOE-4.2: one decision of one seat at any moment."""
    game = position(2)
    assert (game.decision.must, game.decision.may) == ((0,), ())
    assert len(game.match.decisions()) == 1


def test_a_combat_interrupts_a_turn_which_then_goes_on() -> None:
    """SOE-4.3: the same turn goes on."""
    units = {0: {"units": army("india", 2, navy=1)}, 1: {"units": army("india", 1, navy=1)}}
    game = position(2, empires=units)
    turn = game.decision.id
    game.when(0, attack("india", 1))
    assert asked(game) == ("naval_choice", 0)
    game.when(0, move("naval_choice", fight=False), draws=[1, 1, 1, 1])
    assert (asked(game), game.decision.id) == (("turn", 0), turn)
    assert game.at("/turn/actions_left") == 1


def test_a_question_with_one_answer_is_not_asked() -> None:
    """SOE-4.4: a single loss is filled in, and an ally without units is not asked."""
    game = position(4, empires={0: {"units": army("baltic", 2)}, 1: {"units": army("baltic", 1)}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", 0)
    assert empire(game, 1)["units"] == {}


def test_the_next_war_begins_with_new_markers() -> None:
    """SOE-4.5: War 2 begins with phase 1, the game ends after War 3."""
    assert kinds(end_of_war(last_turn(1)))[-3:] == ["war_started", "markers_drawn", "auction_opened"]
    assert kinds(end_of_war(last_turn(3)))[-3:] == ["unrest_revealed", "unrest_revealed", "finished"]

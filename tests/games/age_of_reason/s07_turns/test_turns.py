"""AOR-7.1 to AOR-7.3: turns."""

from __future__ import annotations

from tests.games.age_of_reason.board import asked, attack, commit, move, offers, position
from tests.spec import kinds

TOKENS = {"prussia": {"central_europe": 2}, "austria": {"central_europe": 3}}
CONVERT = move("convert", marker="ca_cuba", card="prussia_0s1n")


def test_every_seat_has_one_turn_in_each_round() -> None:
    """AOR-7.1.1: in turn order; a token, an attack, one of them or neither."""
    game = position(3, to_play=[2, 1])
    assert game.state.turn_order == (0, 2, 1)
    game.when(0, move("pass"))
    assert asked(game) == ("turn", (2,))
    game.when(2, move("place", space="finance"))
    game.when(2, move("pass"))
    game.when(1, move("pass"))
    assert (game.state.round, asked(game)) == (2, ("turn", (0,)))


def test_the_turn_record() -> None:
    """AOR-7.1.2: public; recomputed after a placement."""
    game = position(2)
    assert game.sight("public")["turn"] == {"seat": 0, "placed": False, "attacks_made": 0, "attacks_allowed": 1}
    game.when(0, move("place", space="ministry_of_war"))
    assert game.sight("public")["turn"] == {"seat": 0, "placed": True, "attacks_made": 0, "attacks_allowed": 2}
    game.when(0, move("pass"))
    game.when(1, move("pass"))
    assert game.sight("public")["turn"]["attacks_allowed"] == 2


def test_an_attack_made_first_forfeits_the_placement() -> None:
    """AOR-7.2.1: and only one token is placed."""
    game = position(2, markers=["ca_cuba"], spaces={"ministry_of_war": [0]}, turn_record={"attacks_allowed": 2})
    game.when(0, CONVERT)
    game.refused(0, move("place", space="finance"), "already_placed", "AOR-7.4.6")
    assert "place" not in offers(game, 0)
    game = position(2)
    game.when(0, move("place", space="finance"))
    game.refused(0, move("place", space="denmark"), "already_placed", "AOR-7.4.6")


def test_conversions_and_attacks_both_count() -> None:
    """AOR-7.2.2: each is one attack."""
    game = position(
        2,
        markers=["ca_cuba"],
        tokens=TOKENS,
        spaces={"ministry_of_war": [0]},
        turn_record={"attacks_allowed": 2},
    )
    game.when(0, CONVERT)
    assert game.state.acting.attacks_made == 1
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    facts = game.when(1, commit("austria_bluff"), draws=[1, 1, 1, 1])
    assert kinds(facts)[-2:] == ["turn_ended", "turn_started"]


def test_ministry_of_war_makes_two_attacks_in_a_row() -> None:
    """AOR-7.2.3: also with a token placed in this very turn; never more than two."""
    game = position(2, markers=["ca_cuba", "ca_bahamas", "ca_jamaica"], spaces={"finance": [1]})
    game.when(0, move("place", space="ministry_of_war"))
    game.when(0, CONVERT)
    assert asked(game) == ("turn", (0,))
    game.when(0, move("convert", marker="ca_bahamas", card="prussia_1s1n"))
    assert asked(game) == ("turn", (1,))
    game = position(5, spaces={"ministry_of_war": [0]}, turn_record={"attacks_allowed": 2})
    game.when(0, move("place", space="ministry_of_war"))
    assert game.state.acting.attacks_allowed == 2


def test_seat_may_always_pass_and_acts_again_in_the_next_round() -> None:
    """AOR-7.2.4."""
    game = position(2, round=1)
    game.when(0, move("pass"))
    game.when(1, move("pass"))
    assert asked(game) == ("turn", (0,))


def test_a_turn_ends_by_itself_with_the_last_attack() -> None:
    """AOR-7.3.1: when the last battle is over."""
    game = position(2, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    assert game.state.turn is not None
    game.when(1, commit("austria_bluff"), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", (1,))
    game = position(2, markers=["ca_cuba"])
    game.when(0, CONVERT)
    assert asked(game) == ("turn", (1,))

"""AOR-3: set-up."""

from __future__ import annotations

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import DECKS, MARKERS, POWERS
from tests.games.age_of_reason.board import asked, facts_of, move
from tests.spec import Given, kinds

FIVES = [list(MARKERS)[5 * i : 5 * i + 5] for i in range(7)]
"""Five markers for each power, and ten that are laid then."""
DRAWN = [marker for five in FIVES for marker in five]
LAID = list(MARKERS)[35:45]


def chosen() -> Given:
    """Two seats, seat 1 first; both choose."""
    game = Given(RULESET, 2, draws=[1])
    game.when(1, move("choose_power", power="france"))
    game.when(0, move("choose_power", power="russia"), draws=[*DRAWN, *LAID])
    return game


def test_all_markers_begin_in_the_bag() -> None:
    """AOR-3.1."""
    assert RULESET.blank(RULESET.make_table(3)).bag == tuple(MARKERS)


def test_the_first_player_is_drawn_or_named() -> None:
    """AOR-3.2."""
    assert Given(RULESET, 3, draws=[2]).state.first_player == 2
    assert Given(RULESET, 3, options={"first_player": 1}, draws=[]).state.first_player == 1


def test_powers_are_chosen_clockwise_from_the_first_player() -> None:
    """AOR-3.3: each power once."""
    game = Given(RULESET, 3, draws=[2])
    assert asked(game) == ("choose_power", (2,))
    game.refused(2, move("choose_power", power="poland"), "unknown_power", "AOR-3.3")
    game.when(2, move("choose_power", power="spain"))
    assert asked(game) == ("choose_power", (0,))
    game.refused(0, move("choose_power", power="spain"), "power_taken", "AOR-3.3")
    game.when(0, move("choose_power", power="russia"))
    assert asked(game) == ("choose_power", (1,))


def test_powers_can_be_drawn() -> None:
    """AOR-3.3: for each seat clockwise from the first player, among those left; the last of seven is not drawn."""
    options = {"power_assignment": "random", "first_player": 1}
    game = Given(RULESET, 2, options=options, draws=["russia", "spain", *DRAWN, *LAID])
    assert (game.state.power(1), game.state.power(0)) == ("russia", "spain")
    game = Given(RULESET, 7, options=options, draws=[*POWERS[:6], *DRAWN, *LAID])
    assert game.state.power(0) == POWERS[6]


def test_what_a_seat_begins_with() -> None:
    """AOR-3.4: gold 14, no points, unrest 4, all cards, 22 tokens of which five lie on the map."""
    game = chosen()
    shown = game.sight("public")["empires"][0]
    assert [shown[key] for key in ("gold", "vp", "unrest", "hand_size", "reserve")] == [14, 0, 4, 11, 17]
    assert game.sight(0)["hand"] == list(DECKS["russia"])


def test_each_power_has_five_tokens_where_its_markers_say() -> None:
    """AOR-3.5: in the order of the powers; the markers leave the game, and 30 remain."""
    game = Given(RULESET, 2, draws=[1])
    game.when(1, move("choose_power", power="france"))
    facts = game.when(0, move("choose_power", power="russia"), draws=[*DRAWN, *LAID])
    drawn = facts_of(facts, "empire_drawn")
    assert [(f["power"], f["markers"]) for f in drawn] == list(zip(POWERS, FIVES, strict=True))
    assert game.state.tokens["britain"] == {"german_states": 5}
    assert game.state.gone == tuple(DRAWN)
    assert len(game.state.bag) == 20
    assert game.state.empires[0].gold == 14


def test_the_first_game_turn_begins() -> None:
    """AOR-3.6: with phase 1."""
    game = chosen()
    assert (game.state.game_turn, game.state.round) == (1, 0)
    assert kinds(game.match.records[-1].public["facts"])[-4:] == [
        "game_turn_started",
        "markers_drawn",
        "opener_drawn",
        "auction_opened",
    ]

"""SOE-3: set-up."""

from __future__ import annotations

from domain.games.struggle_of_empires import RULESET
from tests.games.struggle_of_empires.board import asked, empire, move
from tests.spec import Given, kinds

MARKERS = [
    "gs_hanover",
    "gs_cologne",
    "ce_poland",
    "ba_norway",
    "me_savoy",
    "ot_crimea",
    "na_virginia",
    "ca_cuba",
    "in_bengal",
    "ei_java",
]
FIRST_EMPIRE = ["gs_baden", "gs_munster", "na_carolina", "af_cape", "in_oudh"]
SECOND_EMPIRE = ["ba_livonia", "ba_pomerania", "me_venice", "sa_chile", "ei_sumatra"]


def chosen() -> Given:
    """Two seats, seat 1 first; both have chosen a power, so that units are placed next."""
    game = Given(RULESET, 2, draws=[*MARKERS, 1])
    game.when(1, move("choose_power", power="france"))
    game.when(0, move("choose_power", power="russia"), draws=[*FIRST_EMPIRE, *SECOND_EMPIRE])
    return game


def test_ten_markers_are_drawn_and_laid_in_their_regions() -> None:
    """SOE-3.1: ten markers, without replacement, face up."""
    game = Given(RULESET, 2, draws=[*MARKERS, 1])
    assert game.at("/markers/german_states") == ["gs_hanover", "gs_cologne"]
    assert sum(len(lying) for lying in game.state.markers.values()) == 10
    assert len(game.state.bag) == 55


def test_the_first_player_is_drawn_among_the_seats() -> None:
    """SOE-3.2: a draw labelled `first_player` with a seat number."""
    game = Given(RULESET, 2, draws=[*MARKERS, {"label": "first_player", "value": 1}])
    assert game.state.first_player == 1


def test_powers_are_chosen_clockwise_from_the_first_player() -> None:
    """SOE-3.3: one seat at a time; a power can be taken once."""
    game = Given(RULESET, 3, draws=[*MARKERS, 1])
    assert asked(game) == ("choose_power", 1)
    game.refused(1, move("choose_power", power="poland"), "unknown_power", "SOE-3.3")
    game.when(1, move("choose_power", power="france"))
    assert asked(game) == ("choose_power", 2)
    game.refused(2, move("choose_power", power="france"), "power_taken", "SOE-3.3")
    game.when(2, move("choose_power", power="spain"))
    assert asked(game) == ("choose_power", 0)


def test_random_powers_are_drawn_clockwise_from_first_player() -> None:
    """SOE-3.3: each seat draws among the powers that are left of all seven."""
    draws = [*MARKERS, 1, {"label": "power", "value": "spain"}, "britain", *FIRST_EMPIRE, *SECOND_EMPIRE]
    game = Given(RULESET, 2, options={"power_assignment": "random"}, draws=draws)
    assert [e.power for e in game.state.empires] == ["britain", "spain"]


def test_every_seat_starts_alike() -> None:
    """SOE-3.4: population 5, gold 10, nothing else."""
    game = Given(RULESET, 2, draws=[*MARKERS, 1])
    for seat in (0, 1):
        parts = empire(game, seat)
        assert (parts["population"], parts["gold"], parts["vp"], parts["tiles"]) == (5, 10, 0, [])
    assert game.state.unrest == (0, 0)


def test_five_markers_become_the_first_tokens_of_each_seat() -> None:
    """SOE-3.5: clockwise from the first player; faces are ignored, the markers leave the game."""
    game = chosen()
    assert empire(game, 1)["tokens"] == {"german_states": 2, "north_america": 1, "africa": 1, "india": 1}
    assert empire(game, 0)["tokens"] == {"baltic": 2, "mediterranean": 1, "south_america": 1, "east_indies": 1}
    assert list(game.state.gone) == [*FIRST_EMPIRE, *SECOND_EMPIRE]
    assert len(game.state.bag) == 45
    assert (empire(game, 1)["gold"], empire(game, 1)["population"]) == (10, 5)


def test_units_are_placed_one_at_a_time_five_times_round() -> None:
    """SOE-3.6: free of charge, in any scoring region, without a token or ship there."""
    game = chosen()
    for seat in (1, 0) * 5:
        assert asked(game) == ("place_units", seat)
        game.when(seat, move("place_unit", unit="army", region="india"))
    assert [empire(game, seat)["units"] for seat in (0, 1)] == [{"india": {"army": 5}}] * 2
    assert (empire(game, 0)["gold"], empire(game, 0)["population"]) == (10, 5)


def test_what_cannot_be_placed() -> None:
    """SOE-3.6: the errors, in their order; the decision cannot be declined."""
    game = chosen()
    game.refused(1, move("place_unit", unit="navy", region="atlantis"), "unknown_region", "SOE-3.6")
    game.refused(1, move("place_unit", unit="navy", region="home_france"), "invalid_region", "SOE-3.6")
    game.refused(1, move("place_unit", unit="navy", region="ottoman_empire"), "navy_cannot_enter", "SOE-3.6")
    game.refused(1, move("pass"), "wrong_phase")
    for _ in range(2):
        game.when(1, move("place_unit", unit="fort", region="africa"))
        game.when(0, move("place_unit", unit="army", region="africa"))
    game.refused(1, move("place_unit", unit="fort", region="africa"), "no_unit_available", "SOE-3.6")


def test_the_first_war_begins_with_the_auctions() -> None:
    """SOE-3.7: the ten markers of phase 1 already lie on the map."""
    game = chosen()
    for seat in (1, 0) * 4:
        game.when(seat, move("place_unit", unit="army", region="india"))
    game.when(1, move("place_unit", unit="army", region="india"))
    facts = game.when(0, move("place_unit", unit="army", region="india"))
    assert kinds(facts) == ["unit_placed", "war_started", "auction_opened"]
    assert asked(game) == ("auction_bid", 1)

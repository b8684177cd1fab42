"""SOE-18: time-outs."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.struggle_of_empires import ANSWERS, RULESET, TURNS
from domain.games.struggle_of_empires.data import DOC
from domain.types import Json
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position
from tests.spec import Given

MARKERS = ["gs_hanover", "gs_cologne", "ce_poland", "ba_norway", "me_savoy"]
MARKERS += ["ot_crimea", "na_virginia", "ca_cuba", "in_bengal", "ei_java"]
FOUR: dict[int, Any] = {seat: {"units": army("baltic", 2, navy=1)} for seat in range(4)}


def lapse(game: Given, draws: list[int] | None = None) -> Json:
    """The deadline passes; returns the move that was played."""
    game.deadline(draws or [])
    return game.match.records[-1].public["acts"][0][1]


def test_a_power_is_the_first_free_one() -> None:
    """SOE-18.1: in the order of the data."""
    game = Given(RULESET, 2, draws=[*MARKERS, 0])
    assert lapse(game) == move("choose_power", power="britain")
    assert lapse_power(game) == move("choose_power", power="france")


def lapse_power(game: Given) -> Json:
    """The second power, with the draws of both empires."""
    game.deadline(
        [
            "gs_baden",
            "gs_munster",
            "na_carolina",
            "af_cape",
            "in_oudh",
            "ba_livonia",
            "ba_pomerania",
            "me_venice",
            "sa_chile",
            "ei_sumatra",
        ]
    )
    return game.match.records[-1].public["acts"][0][1]


def test_army_is_placed_in_the_first_region_with_an_own_token() -> None:
    """SOE-18.1: German States if there is none."""
    game = Given(RULESET, 2, draws=[*MARKERS, 0])
    lapse(game)
    lapse_power(game)
    assert lapse(game) == move("place_unit", unit="army", region="german_states")
    assert lapse(game) == move("place_unit", unit="army", region="baltic")


def test_an_auction_is_opened_with_nothing_and_later_passed() -> None:
    """SOE-18.1: the first two unaligned seats clockwise from the opener; a single one as a."""
    game = position(4, turn=None)
    assert lapse(game) == move("bid", amount=0, a=0, b=1)
    assert lapse(game) == move("pass_bid")
    game = position(3, turn=None, alliances={"grey": [0], "white": [1]}, auction={"opener": 1, "passes": 0})
    assert lapse(game) == move("bid", amount=0, a=2, b=None)


def test_a_turn_is_passed() -> None:
    """SOE-18.1: the rest of the turn is forfeited."""
    game = position(2)
    game.when(0, move("build", unit="army", to="baltic"))
    assert lapse(game) == move("pass")
    assert asked(game) == ("turn", 1)


def test_the_defaults_of_a_combat() -> None:
    """SOE-18.1: allies refuse, all are asked, no ship fights."""
    game = position(4, empires=FOUR)
    game.when(0, attack("baltic", 1))
    assert lapse(game) == move("support", armies=0, navies=0)
    assert lapse(game) == move("request_support")
    assert asked(game) == ("support", 3)
    lapse(game)
    assert lapse(game, [1, 1, 1, 1]) == move("naval_choice", fight=False)


def test_tiles_stay_on_land_and_unused() -> None:
    """SOE-18.1: none at sea; Blockade, Reserve and Fighting Withdrawal are not used."""
    tiles = ["sweden", "blockade", "reserve", "fighting_withdrawal"]
    empires = {0: {"units": army("baltic", 1, navy=1)}, 1: {"units": army("baltic", 4, navy=2), "tiles": tiles}}
    game = position(2, empires=empires)
    game.when(0, attack("baltic", 1))
    game.when(0, move("naval_choice", fight=True))
    game.when(1, move("naval_choice", fight=True))
    assert lapse(game, [1, 1, 1, 1]) == move("assign_alliance_tiles", naval=[])
    assert lapse(game) == move("reserve", use=False)
    assert lapse(game, [6, 1, 1, 1]) == move("use_blockade", use=False)
    assert lapse(game) == move("reserve", use=False)
    assert asked(game) == ("turn", 0)
    beaten = {"units": army("german_states"), "tiles": ["fighting_withdrawal"]}
    game = position(2, empires={0: {"units": army("german_states", 4)}, 1: beaten})
    game.when(0, attack("german_states", 1), draws=[1, 1, 1, 1])
    assert lapse(game) == move("fighting_withdrawal", use=False)


def test_armies_go_before_forts_as_long_as_one_is_left() -> None:
    """SOE-18.1: two losses, one army, two forts."""
    empires = {0: {"units": army("german_states", 12)}, 1: {"units": army("german_states", 1, fort=2)}}
    game = position(2, empires=empires)
    game.when(0, attack("german_states", 1), draws=[1, 1, 1, 6])
    chosen = [{"seat": 1, "unit": "army"}, {"seat": 1, "unit": "fort"}]
    assert lapse(game) == move("choose_loss", choices=chosen)
    assert empire(game, 1)["units"] == army("german_states", 0, fort=1)


def test_the_first_ally_in_turn_order_after_the_principal_pays() -> None:
    """SOE-18.1: here seat 4 comes after seat 2, before seat 0."""
    units = {seat: {"units": army("german_states")} for seat in (0, 2, 4)}
    game = position(5, turn=2, empires={**units, 1: {"units": army("german_states", 9)}})
    game.when(2, attack("german_states", 1))
    game.when(4, move("support", armies=1, navies=0))
    game.when(0, move("support", armies=1, navies=0), draws=[3, 4, 1, 1])
    assert lapse(game) == move("choose_loss", choices=[{"seat": 4, "unit": "army"}])


def test_every_decision_has_a_default_and_a_clock() -> None:
    """SOE-18.1: by kind of decision; two deadline classes in two paces."""
    kinds = {*TURNS, *ANSWERS}
    assert set(DOC["timeouts"]["defaults"]) == kinds | {"auction_bid_opening"}
    assert set(RULESET.meta.clocks) == kinds
    for pace in ("live", "correspondence"):
        assert set(RULESET.meta.paces[pace]) == {"move", "answer"}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_that_was_left_is_played_by_defaults(seat: int) -> None:
    """SOE-18.2: there is no resignation; the seat is scored normally."""
    game = position(2, empires={seat: {"vp": 9}})
    game.match.leave(seat)
    assert game.state.vacant == (seat,)
    assert RULESET.scores(game.state)[seat].points == 9
    lapse(game)
    assert asked(game) == ("turn", 1)

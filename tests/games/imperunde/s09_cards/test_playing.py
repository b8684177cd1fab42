"""IMP-9.1 to IMP-9.3, IMP-9.5, IMP-9.6: playing cards."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.imperunde import RULESET
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
    zone,
)
from tests.spec import Given


def test_a_card_is_shown_and_can_be_countered() -> None:
    """IMP-9.1: face up among the discards; its effect comes after the counter window."""
    game = position(hands={0: ["sabotage"], 1: ["ambush"]}, zones={"north_sea": zone({1: {"frigate": 1}})})
    game.when(0, card("sabotage", target_seat=1, zone="north_sea", unit="frigate"))
    assert (game.state.discard, deciding(game)) == (("sabotage",), ("counter_window", [1]))
    assert game.state.zone("north_sea").fleets
    game.when(1, PASS)
    assert not game.state.zone("north_sea").fleets


def test_cards_work_against_friends() -> None:
    """IMP-9.2: against any other seat, but never against a home."""
    game = position(hands={0: ["rebellion"]}, countries={"spain": colony(1, posts=1)})
    game.refused(0, card("rebellion", country="south_africa"), "target_is_home_country", "IMP-9.4.15")
    game.when(0, card("rebellion", country="spain"))
    assert country(game, "spain").owner is None


@pytest.mark.parametrize(
    ("move", "code"),
    [
        (card("love_letter"), "unknown_card"),
        (card("pirates"), "malformed_move"),
        (card("love_letter", zone="north_sea"), "malformed_move"),
        (card("pirates", zone="north_sea"), "card_not_in_hand"),
        (card("ambush"), "card_not_playable_now"),
    ],
)
def test_the_first_checks(move: Any, code: str) -> None:
    """IMP-9.3: parameters of the named card, then card, hand, moment."""
    position(hands={0: ["ambush"]}).refused(0, move, code)


def test_no_cards_during_the_set_up() -> None:
    """IMP-0.3, IMP-11.2: the only time when a card is in the wrong phase."""
    Given(RULESET, 3).refused(0, card("ambush"), "wrong_phase")


def test_the_board_is_still_while_a_combat_window_is_open() -> None:
    """IMP-9.5: sabotage, rebellion and the like wait for a safe point."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1)},
        zones={"north_sea": zone({1: {"frigate": 1}})},
        hands={0: ["sabotage", "rebellion", "declaration_of_war"]},
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    assert deciding(game) == ("combat_window", [0])
    for move in (
        card("sabotage", target_seat=1, zone="north_sea", unit="frigate"),
        card("rebellion", country="spain"),
        card("declaration_of_war", target_seat=2),
    ):
        game.refused(0, move, "card_not_playable_now", "IMP-9.3")


def test_combats_started_by_cards_are_fought_at_once() -> None:
    """IMP-9.6: in any phase, without reinforcements."""
    game = position(
        step="investment",
        hands={1: ["pirates"]},
        zones={"north_sea": zone({0: {"frigate": 1}}), "baltic_sea": zone({0: {"frigate": 5}})},
    )
    facts = game.when(1, card("pirates", zone="north_sea"), draws=dice("w1 w6 w5"))
    assert named(facts, "combat_ended")[0]["outcome"] == "won"
    assert deciding(game) == ("investment", [0])

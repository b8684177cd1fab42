"""IMP-6.4: investments."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.imperunde.data import DECK
from tests.games.imperunde.board import buy, colony, country, deciding, dice, position, standing, zone
from tests.spec import Given


def investing(available: int = 30, **more: Any) -> Given:
    """The first seat's investments; it owns Egypt with two posts."""
    countries = {"egypt": colony(0, posts=2), **more.pop("countries", {})}
    return position(step="investment", nations={0: {"available": available}}, countries=countries, **more)


def test_the_rest_becomes_surplus() -> None:
    """IMP-6.4.1: seat by seat in turn order."""
    game = investing(7)
    game.when(0, buy("infantry", 2, "great_britain"))
    game.when(0, {"type": "end_investments"})
    assert (game.state.nations[0].surplus, game.state.nations[0].available) == (5, 0)
    assert deciding(game) == ("investment", [1])


@pytest.mark.parametrize(
    ("purchase", "code"),
    [
        (buy("balloon", 1, "egypt"), "unknown_item"),
        (buy("infantry", 1, "atlantis"), "unknown_region"),
        (buy("frigate", 1, "egypt", "atlantis"), "unknown_region"),
        (buy("infantry", 0, "egypt"), "invalid_amount"),
        (buy("infantry", 1, "france"), "not_your_country"),
        (buy("fort", 1, "great_britain"), "not_allowed_at_home"),
        (buy("trading_post", 1, "great_britain"), "not_allowed_at_home"),
        (buy("infantry", 1, "china"), "investment_blocked"),
        (buy("trading_post", 1, "china"), "investment_blocked"),
        (buy("frigate", 1, "egypt", "north_sea"), "zone_not_adjacent"),
        (buy("frigate", 1, "egypt", "arabian_sea"), "friendly_warships_present"),
        (buy("trading_post", 1, "egypt"), "post_limit"),
        (buy("infantry", 1, "spain"), "no_trading_post"),
        (buy("fort", 3, "egypt"), "fort_limit"),
        (buy("infantry", 7, "egypt"), "colony_budget_exceeded"),
        (buy("infantry", 31, "great_britain"), "insufficient_funds"),
    ],
)
def test_refused_purchases(purchase: Any, code: str) -> None:
    """IMP-6.4.2: the checks in the order of the rule."""
    game = investing(
        countries={"china": colony(0, posts=1, famine=True), "spain": colony(0, infantry=1)},
        zones={"arabian_sea": zone({1: {"frigate": 1}})},
    )
    game.refused(0, purchase, code, "IMP-6.4.2")


def test_enemies_do_not_bar_a_harbour() -> None:
    """IMP-6.4.2: enemy warships, pirates and transports do not matter."""
    fleets = zone({1: {"frigate": 1}, 2: {"infantry": 1}}, pirates=1)
    game = investing(wars=[(0, 1)], zones={"arabian_sea": fleets})
    game.when(0, buy("frigate", 1, "egypt", "arabian_sea"))
    assert standing(game, "arabian_sea", 0) == {"frigate": 1}


def test_the_budget_of_a_colony() -> None:
    """IMP-6.4.2: 3 for each post that is not fresh, all military purchases of the turn together."""
    game = investing()
    game.when(0, buy("artillery", 1, "egypt"))
    game.when(0, buy("frigate", 1, "egypt", "arabian_sea"))
    game.refused(0, buy("infantry", 1, "egypt"), "colony_budget_exceeded")
    assert game.state.nations[0].spent == {"egypt": 6}


def test_fresh_posts_count_for_the_goal_only() -> None:
    """IMP-6.4.2, IMP-6.4.6: neither budget nor room for forts this turn."""
    game = investing(countries={"china": colony(0, posts=1)})
    game.when(0, buy("trading_post", 2, "china"))
    assert (game.state.posts(0), country(game, "china").fresh_posts) == (5, 2)
    game.refused(0, buy("fort", 2, "china"), "fort_limit")
    for seat in range(3):
        game.when(seat, {"type": "end_investments"})
    assert country(game, "china").fresh_posts == 0


def test_a_warship_rolls_in_a_storm() -> None:
    """IMP-6.4.2, IMP-7.7: at once, when it is placed."""
    game = investing(zones={"arabian_sea": zone(marker="storm")})
    game.when(0, buy("frigate", 2, "egypt", "arabian_sea"), draws=dice("w3 w4"))
    assert standing(game, "arabian_sea", 0) == {"frigate": 1}


def test_the_home_has_no_limit() -> None:
    """IMP-6.4.2: except money and supply."""
    game = investing()
    game.when(0, buy("artillery", 10, "great_britain"))
    assert game.state.nations[0].available == 0


def test_posts_use_no_colony_budget() -> None:
    """IMP-6.4.3: they are investments of the home."""
    game = investing(countries={"china": colony(0, posts=1)})
    game.when(0, buy("trading_post", 2, "china"))
    game.when(0, buy("infantry", 3, "china"))
    assert game.state.nations[0].spent == {"china": 3}


def test_canals() -> None:
    """IMP-6.4.4: cost, two fresh posts, one of each."""
    game = investing(9, countries={"mosquito_coast": colony(0, infantry=1)})
    build = {"type": "build_canal", "canal": "suez"}
    game.refused(0, {**build, "canal": "kiel"}, "unknown_canal", "IMP-6.4.4")
    game.refused(0, {**build, "canal": "panama"}, "insufficient_funds")
    game.when(0, build)
    assert (country(game, "egypt").posts, country(game, "egypt").fresh_posts) == (4, 2)
    assert (game.state.canals, game.state.nations[0].available) == (("suez",), 1)
    game.refused(0, build, "canal_exists")


def test_canals_need_the_country_without_marker() -> None:
    """IMP-6.4.4: own, and not blocked; no post is needed before."""
    game = investing(countries={"egypt": colony(0, posts=1, famine=True)})
    game.refused(0, {"type": "build_canal", "canal": "panama"}, "not_your_country")
    game.refused(0, {"type": "build_canal", "canal": "suez"}, "investment_blocked")
    bare = investing(countries={"mosquito_coast": colony(0, infantry=1)})
    bare.when(0, {"type": "build_canal", "canal": "panama"})
    assert country(bare, "mosquito_coast").posts == 2


def test_cards() -> None:
    """IMP-6.4.5: 5 each, three a turn, from the top, face down."""
    game = investing(19, deck=["ambush", "capture", "treason", "pirates"])
    bought = {"type": "buy_cards", "quantity": 2}
    game.refused(0, {**bought, "quantity": 0}, "invalid_amount", "IMP-6.4.5")
    game.refused(0, {**bought, "quantity": 4}, "card_purchase_limit")
    game.when(0, bought)
    assert game.sight(0)["hand"] == ["ambush", "capture"]
    assert game.sight("public")["nations"][0]["cards"] == 2
    game.refused(0, bought, "card_purchase_limit")
    game.when(0, {**bought, "quantity": 1})
    assert game.state.nations[0].available == 4


def test_an_empty_pile_and_an_empty_purse() -> None:
    """IMP-6.4.5: `deck_empty` goes before the money."""
    game = investing(4, hands={1: list(DECK[1:])}, deck=[])
    if deciding(game)[0] == "open_window":
        game.when(1, {"type": "pass"})
    game.refused(0, {"type": "buy_cards", "quantity": 2}, "deck_empty", "IMP-6.4.5")
    game.refused(0, {"type": "buy_cards", "quantity": 1}, "insufficient_funds")

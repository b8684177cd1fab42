"""IMP-3: countries, zones, control, canals."""

from __future__ import annotations

import pytest

from domain.games.imperunde.data import ANTARCTICA, COUNTRIES, ZONES
from tests.games.imperunde.board import attack, buy, card, colony, country, dice, group, move, named, position, zone


def test_the_map() -> None:
    """IMP-3.1, IMP-3.9: 86 countries and 34 zones, symmetric; Antarctica is on no wheel."""
    assert (len(COUNTRIES), len(ZONES)) == (86, 34)
    assert ANTARCTICA not in {*COUNTRIES, *ZONES}
    assert all(c.id in COUNTRIES[n].lands for c in COUNTRIES.values() for n in c.lands)
    assert all(z.id in ZONES[n].seas for z in ZONES.values() for n in z.seas)
    assert all((c in ZONES[z].shores) == (z in COUNTRIES[c].coasts) for c in COUNTRIES for z in ZONES)


def test_a_home_in_play_cannot_be_attacked() -> None:
    """IMP-3.2: the home of a nation that is not in play is an ordinary free country."""
    armies = zone({0: {"infantry": 1}})
    game = position(3, wars=[(0, 2)], zones={"china_sea": armies, "tasman_sea": armies})
    game.refused(0, attack(group("china_sea", "japan", infantry=1)), "target_is_home_country", "IMP-8.1.1")
    game.when(0, attack(group("tasman_sea", "victoria", infantry=1)), draws=dice("w1 w2 w3"))


def test_a_free_country_has_all_its_natives_again() -> None:
    """IMP-3.3: as many as its value, after every failed attack."""
    game = position(countries={"france": colony(0, posts=1, infantry=2)})
    game.when(0, attack(group("france", "spain", infantry=1)), draws=dice("w6 w1 w2 w3 w1 w2 w4"))
    game.when(0, {"type": "reinforce", "groups": []})
    facts = game.when(0, attack(group("france", "spain", infantry=1)), draws=dice("w6 w5 w4 w1 w6 w5 w4 w6 w5"))
    assert [f["horde"] for f in named(facts, "round_fought")] == [2, 1, 0]
    assert country(game, "spain").owner == 0


def test_posts_alone_give_ownership_but_no_defence() -> None:
    """IMP-3.4, IMP-8.1.4: the colony falls without dice."""
    game = position(wars=[(0, 1)], countries={"france": colony(0, infantry=2), "spain": colony(1, posts=2)})
    game.when(0, attack(group("france", "spain", infantry=1)))
    assert (country(game, "spain").owner, country(game, "spain").posts) == (0, 2)


def test_one_owner() -> None:
    """IMP-3.5: a friend's colony can be neither entered nor attacked."""
    game = position(countries={"france": colony(0, infantry=1), "spain": colony(1, posts=1)})
    game.refused(0, move("france", "spain", infantry=1), "not_your_country", "IMP-7.2")
    game.refused(0, attack(group("france", "spain", infantry=1)), "not_at_war", "IMP-8.1.1")


def test_limits_of_posts_and_forts() -> None:
    """IMP-3.6: posts up to the value, two more with a canal; forts up to the posts."""
    game = position(
        step="investment",
        countries={"egypt": colony(0, posts=2, forts=2), "france": colony(0, posts=1)},
        nations={0: {"available": 30}},
    )
    game.refused(0, buy("trading_post", 1, "egypt"), "post_limit", "IMP-6.4.2")
    game.refused(0, buy("fort", 1, "egypt"), "fort_limit", "IMP-6.4.2")
    game.when(0, {"type": "build_canal", "canal": "suez"})
    assert country(game, "egypt").posts == 4
    game.refused(0, buy("trading_post", 1, "egypt"), "post_limit", "IMP-6.4.2")


def test_control() -> None:
    """IMP-3.7: the only party of a zone; transports are none, pirates are one."""
    game = position(
        zones={
            "north_sea": zone({0: {"frigate": 1}, 1: {"infantry": 1}}),
            "baltic_sea": zone({0: {"frigate": 1}, 1: {"frigate": 1}}),
            "indian_ocean": zone({0: {"frigate": 1}}, pirates=1),
            "tasman_sea": zone({0: {"infantry": 1}}),
        }
    )
    zones = ("north_sea", "baltic_sea", "indian_ocean", "tasman_sea", "china_sea")
    assert [game.state.controller(z) for z in zones] == [0, None, None, None, None]


def test_friends_and_enemies() -> None:
    """IMP-3.8: presence is enough; pirates are everybody's enemy."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({1: {"frigate": 1}, 2: {"frigate": 1}}),
            "baltic_sea": zone(pirates=1),
            "tasman_sea": zone({1: {"infantry": 1}}),
        },
    )
    s = game.state
    assert [s.hostile(z, 0) for z in ("north_sea", "baltic_sea", "tasman_sea")] == [True, True, False]
    assert [s.friendly(z, 0) for z in ("north_sea", "baltic_sea", "tasman_sea")] == [True, False, False]


def test_antarctica_takes_no_piece() -> None:
    """IMP-3.10: neither as a target nor on a path."""
    game = position(zones={"indian_ocean": zone({0: {"infantry": 1, "frigate": 1}})})
    game.refused(0, attack(group("indian_ocean", "antarctica", infantry=1)), "antarctica_forbidden", "IMP-3.10")


@pytest.mark.parametrize(
    ("owner", "wars", "canals", "opens"),
    [
        (None, [], ["suez"], True),
        (0, [], ["suez"], True),
        (1, [], ["suez"], True),
        (1, [(0, 1)], ["suez"], False),
        (0, [], [], False),
    ],
)
def test_canals(owner: int | None, wars: list[tuple[int, int]], canals: list[str], opens: bool) -> None:
    """IMP-3.11: for the owner, his friends, and everybody while the country is free; one ship move."""
    egypt = {"egypt": colony(owner, posts=1)} if owner is not None else {}
    fleet = {"mediterranean_sea": zone({0: {"frigate": 1}})}
    game = position(wars=wars, countries=egypt, zones=fleet, canals=canals)
    through = move("mediterranean_sea", "arabian_sea", frigate=1)
    if opens:
        game.when(0, through)
        assert game.state.zone("arabian_sea").fleet(0)[0].moves_left == 1
    else:
        game.refused(0, through, "canal_closed", "IMP-3.11")


def test_a_canal_counts_for_forged_orders_against_its_user() -> None:
    """IMP-3.11: the two zones are adjacent for the target in every respect."""
    fleet = {"mediterranean_sea": zone({1: {"frigate": 1}})}
    order = card("forged_naval_orders", target_seat=1, start="mediterranean_sea", to="arabian_sea")
    game = position(zones=fleet, hands={0: ["forged_naval_orders"]}, canals=["suez"])
    game.when(0, order)
    assert not game.state.zone("mediterranean_sea").fleets
    closed = position(zones=fleet, hands={0: ["forged_naval_orders"]})
    closed.refused(0, order, "canal_closed", "IMP-9.4.9")


def test_the_passages_are_ordinary_zones() -> None:
    """IMP-3.12: ships sail through them."""
    game = position(zones={"barents_sea": zone({0: {"frigate": 1}})})
    game.when(0, move("barents_sea", "northeast_passage", "bering_sea", frigate=1))
    assert game.state.controller("bering_sea") == 0

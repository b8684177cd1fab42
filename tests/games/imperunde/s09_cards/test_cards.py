"""IMP-9.4: the eighteen cards."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.imperunde.board import (
    PASS,
    attack,
    buy,
    card,
    colony,
    country,
    deciding,
    dice,
    group,
    lot,
    moves_left,
    named,
    position,
    standing,
    units,
    zone,
)
from tests.spec import Given


def fight(*hand: str, seat: int = 0, spain: Any = None, france: Any = None, **more: Any) -> Given:
    """Seat 0 attacks seat 1's Spain; one seat holds cards."""
    countries = {
        "france": france or colony(0, infantry=1, cavalry=1, posts=1),
        "spain": spain or colony(1, posts=1, infantry=2),
    }
    game = position(wars=[(0, 1)], countries=countries, hands={seat: list(hand)}, **more)
    unit = "cavalry" if game.state.country("france").units[0].unit == "cavalry" else "infantry"
    game.when(0, attack(group("france", "spain", **{unit: 1})))
    return game


def test_armistice() -> None:
    """IMP-9.4.1: peace between enemies until the next phase 2; only against an enemy."""
    game = position(wars=[(0, 1)], hands={0: ["armistice"]})
    game.refused(0, card("armistice", target_seat=0), "invalid_target", "IMP-9.4.1")
    game.refused(0, card("armistice", target_seat=2), "not_at_war")
    game.when(0, card("armistice", target_seat=1))
    assert game.state.relation(0, 1) == "peace"


def test_armistice_in_a_combat_window() -> None:
    """IMP-9.4.1: attacker and defender only, against each other."""
    third = fight("armistice", seat=2)
    third.refused(2, card("armistice", target_seat=0), "not_at_war")
    game = position(
        wars=[(0, 1), (0, 2)],
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1)},
        hands={0: ["armistice"]},
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    game.refused(0, card("armistice", target_seat=2), "card_not_playable_now", "IMP-9.4.1")
    game.when(0, card("armistice", target_seat=1))
    assert (deciding(game), country(game, "spain").owner) == (("movement", [0]), 1)


def test_treason() -> None:
    """IMP-9.4.2: one fort of another seat's colony; as often as it is held."""
    own = fight("treason", seat=1, spain=colony(1, 2, 2))
    own.refused(1, card("treason"), "invalid_target", "IMP-9.4.2")
    bare = fight("treason")
    bare.refused(0, card("treason"), "no_fort")
    game = fight("treason", "treason", spain=colony(1, 2, 2))
    game.when(0, card("treason"))
    assert country(game, "spain").forts == 1
    game.when(0, card("treason"))
    assert country(game, "spain").owner == 0


def test_filibuster() -> None:
    """IMP-9.4.3: all pirates of a zone change sides; 2 moves in the own part of phase 6."""
    zones = {"north_sea": zone(pirates=2), "baltic_sea": zone({1: {"frigate": 1}}, pirates=1), "tasman_sea": zone()}
    game = position(hands={0: ["filibuster"]}, zones=zones)
    game.refused(0, card("filibuster", zone="france"), "unknown_region", "IMP-9.4.3")
    game.refused(0, card("filibuster", zone="tasman_sea"), "no_pirates")
    game.refused(0, card("filibuster", zone="baltic_sea"), "friendly_warships_present")
    game.when(0, card("filibuster", zone="north_sea"))
    assert (standing(game, "north_sea", 0), moves_left(game, "north_sea", 0)) == ({"frigate": 2}, {"frigate": 2})


def test_filibuster_beyond_the_supply() -> None:
    """IMP-9.4.3: the others are removed; enemies there do not matter; no moves outside the own part."""
    fleets = {z: zone({1: {"frigate": 14}}) for z in ("tasman_sea",)}
    game = position(
        4, hands={1: ["filibuster"]}, zones={"north_sea": zone({0: {"frigate": 1}}, pirates=3), **fleets}, wars=[(0, 1)]
    )
    game.when(1, card("filibuster", zone="north_sea"))
    assert standing(game, "north_sea", 1) == {"frigate": 1}
    assert (game.state.zone("north_sea").pirates, moves_left(game, "north_sea", 1)) == ({}, {"frigate": 0})


def test_pirates() -> None:
    """IMP-9.4.4: two black frigates, one if only one is left, and they attack."""
    game = position(
        hands={1: ["pirates"]}, zones={"north_sea": zone({0: {"infantry": 2}}), "tasman_sea": zone(pirates=19)}
    )
    game.refused(1, card("pirates", zone="atlantis"), "unknown_region", "IMP-9.4.4")
    game.when(1, card("pirates", zone="north_sea"))
    assert (game.state.zone("north_sea").pirates, standing(game, "north_sea", 0)) == ({"frigate": 1}, {})
    none = position(hands={1: ["pirates"]}, zones={"tasman_sea": zone(pirates=20)})
    none.refused(1, card("pirates", zone="north_sea"), "supply_exhausted")


def test_coup_de_main() -> None:
    """IMP-9.4.5: for a side of the combat with cavalry in it, once."""
    game = fight("coup_de_main", seat=2)
    game.refused(2, card("coup_de_main"), "not_in_combat", "IMP-9.4.5")
    foot = fight("coup_de_main", seat=1)
    foot.refused(1, card("coup_de_main"), "no_cavalry")
    game = fight("coup_de_main", "coup_de_main")
    game.when(0, card("coup_de_main"))
    game.refused(0, card("coup_de_main"), "already_in_effect")
    game.when(0, PASS, draws=dice("y6 w1 w2 y6 w1"))
    assert country(game, "spain").owner == 0


def test_declaration_of_war() -> None:
    """IMP-9.4.6: on a friend; it ends an armistice; in the own part one may attack at once."""
    game = position(
        wars=[(0, 2)],
        overrides={(0, 1): "peace"},
        hands={0: ["declaration_of_war"]},
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1)},
    )
    game.refused(0, card("declaration_of_war", target_seat=5), "invalid_target", "IMP-9.4.6")
    game.refused(0, card("declaration_of_war", target_seat=2), "already_at_war")
    game.when(0, card("declaration_of_war", target_seat=1))
    game.when(0, attack(group("france", "spain", infantry=1)))
    assert country(game, "spain").owner == 0


def test_ambush() -> None:
    """IMP-9.4.7: for the defender, against a seat or insurgents, once."""
    game = fight("ambush")
    game.refused(0, card("ambush"), "not_the_defender", "IMP-9.4.7")
    game = fight("ambush", "ambush", seat=1)
    game.when(1, card("ambush"))
    game.refused(1, card("ambush"), "already_in_effect")
    game.when(1, PASS, draws=dice("y5 w3 w1"))
    assert country(game, "spain").owner == 1
    game = position(hands={0: ["rebellion"], 1: ["ambush"]}, countries={"spain": colony(1, 1, infantry=3)})
    game.when(0, card("rebellion", country="spain"))
    game.when(1, PASS)
    assert deciding(game) == ("combat_window", [1])
    game.when(1, card("ambush"), draws=dice("w6 w2 w1 w4 w1 w1 w1 w1 w2 w1 w1"))


def test_surprise_attack() -> None:
    """IMP-9.4.8: for the attacker, against a free country or a colony, once."""
    game = fight("surprise_attack", seat=1)
    game.refused(1, card("surprise_attack"), "not_the_attacker", "IMP-9.4.8")
    game = position(countries={"france": colony(0, infantry=1, posts=1)}, hands={0: ["surprise_attack"] * 2})
    game.when(0, attack(group("france", "netherlands", infantry=1)))
    game.when(0, card("surprise_attack"))
    game.refused(0, card("surprise_attack"), "already_in_effect")
    game.when(0, PASS, draws=dice("w5 w6 w1 w5 w4"))
    assert country(game, "netherlands").owner == 0


NAVAL: Any = {"target_seat": 1, "start": "north_sea", "to": "baltic_sea"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"target_seat": 0}, "invalid_target"),
        ({"start": "france"}, "unknown_region"),
        ({"start": "hudson_bay"}, "no_ships"),
        ({"to": "tasman_sea"}, "not_adjacent"),
        ({"start": "tasman_sea", "to": "indian_ocean"}, "becalmed"),
        ({"to": "norwegian_sea"}, "zone_not_empty"),
        ({"to": "north_atlantic"}, "zone_has_marker"),
    ],
)
def test_refused_naval_orders(change: Any, code: str) -> None:
    """IMP-9.4.9: the checks in their order."""
    game = naval()
    game.refused(0, card("forged_naval_orders", **{**NAVAL, **change}), code, "IMP-9.4.9")


def naval() -> Given:
    fleet = [lot("frigate", 1, pinned=True), lot("infantry", 2)]
    return position(
        hands={0: ["forged_naval_orders"]},
        zones={
            "north_sea": zone({1: fleet}),
            "norwegian_sea": zone({2: {"infantry": 1}}),
            "north_atlantic": zone(marker="storm"),
            "tasman_sea": zone({1: {"frigate": 1}}, marker="calm"),
        },
    )


def test_forged_naval_orders() -> None:
    """IMP-9.4.9: all ships of the target go; moves and pins stay."""
    game = naval()
    game.when(0, card("forged_naval_orders", **NAVAL))
    assert standing(game, "baltic_sea", 1) == {"frigate": 1, "infantry": 2}
    assert [x.pinned for x in game.state.lots_in(1, "baltic_sea") if x.unit == "frigate"] == [True]


MARCH: Any = {"target_seat": 1, "start": "spain", "to": "france", "units": [{"unit": "infantry", "count": 2}]}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"target_seat": 0}, "invalid_target"),
        ({"to": "north_sea"}, "unknown_region"),
        ({"to": "south_africa"}, "target_is_home_country"),
        ({"to": "portugal"}, "invalid_target"),
        ({"to": "italy", "start": "spain"}, "not_adjacent"),
        ({"units": units(dragon=1)}, "unknown_item"),
        ({"units": units(frigate=1)}, "wrong_unit_for_target"),
        ({"units": []}, "no_units"),
        ({"units": units(infantry=4)}, "too_many_units"),
        ({"units": units(cavalry=1)}, "not_enough_units"),
        ({"units": units(infantry=3)}, "garrison_required"),
    ],
)
def test_refused_march_orders(change: Any, code: str) -> None:
    """IMP-9.4.10: the checks in their order."""
    march().refused(0, card("forged_march_orders", **{**MARCH, **change}), code, "IMP-9.4.10")


def march() -> Given:
    colonies = {"spain": colony(1, posts=1, infantry=3), "france": colony(1, posts=1), "italy": colony(1, posts=1)}
    return position(hands={0: ["forged_march_orders"]}, countries=colonies)


def test_forged_march_orders() -> None:
    """IMP-9.4.10: the armies move, an army or a fort stays."""
    game = march()
    game.when(0, card("forged_march_orders", **MARCH))
    assert (standing(game, "spain", 1), standing(game, "france", 1)) == ({"infantry": 1}, {"infantry": 2})


def smuggler(**more: Any) -> Given:
    countries = {"egypt": colony(0, posts=1, fresh_posts=1, famine=True), "france": colony(1, posts=1)}
    return position(step="investment", countries=countries, hands={0: ["smuggling"], 1: ["smuggling"]}, **more)


def smuggle(country_id: str, *purchases: Any) -> Any:
    return card("smuggling", country=country_id, purchases=list(purchases))


def item(name: str, quantity: int = 1, zone_id: str = "") -> Any:
    return {"item": name, "quantity": quantity} | ({"zone": zone_id} if zone_id else {})


@pytest.mark.parametrize(
    ("move", "code"),
    [
        (smuggle("atlantis", item("infantry")), "unknown_region"),
        (smuggle("great_britain", item("infantry")), "target_is_home_country"),
        (smuggle("france", item("infantry")), "not_your_country"),
        (smuggle("egypt", item("trading_post")), "unknown_item"),
        (smuggle("egypt", item("infantry", 6)), "invalid_amount"),
        (smuggle("egypt", item("infantry", 0)), "invalid_amount"),
        (smuggle("egypt", item("frigate", 1, "north_sea")), "zone_not_adjacent"),
        (smuggle("egypt", item("frigate", 1, "arabian_sea")), "friendly_warships_present"),
        (smuggle("egypt", item("cavalry"), item("fort"), item("fort", 0)), "invalid_amount"),
    ],
)
def test_refused_smuggling(move: Any, code: str) -> None:
    """IMP-9.4.11: the checks in their order."""
    game = smuggler(zones={"arabian_sea": zone({1: {"frigate": 1}})})
    while deciding(game)[0] == "open_window":
        game.when(deciding(game)[1][0], PASS)
    game.refused(0, move, code, "IMP-9.4.11")


def test_smuggling() -> None:
    """IMP-9.4.11: at the card's cost, markers do not matter, fresh posts count; ships roll in a storm."""
    game = smuggler(zones={"arabian_sea": zone(marker="storm")})
    game.refused(1, smuggle("france", item("infantry")), "card_not_playable_now", "IMP-9.3")
    game.when(0, smuggle("egypt", item("frigate", 1, "arabian_sea"), item("infantry", 2)))
    game.when(1, PASS, draws=dice("w2"))
    assert standing(game, "arabian_sea", 0) == {"frigate": 1}
    assert standing(game, "egypt", 0) == {"infantry": 2}
    assert game.state.nations[0].available == 0


def test_smuggled_forts_are_bound_to_posts() -> None:
    """IMP-9.4.11, IMP-3.6: at most one for each."""
    countries = {"egypt": colony(0, posts=1, forts=1)}
    game = position(step="investment", countries=countries, hands={0: ["smuggling"]})
    game.refused(0, smuggle("egypt", item("fort")), "fort_limit", "IMP-9.4.11")


def test_sabotage() -> None:
    """IMP-9.4.12: one ship, an army with it; without pin and with most moves left first; not pirates."""
    fleet = [lot("frigate", 1, pinned=True), lot("frigate", 1), lot("infantry", 1)]
    game = position(hands={0: ["sabotage"] * 2}, zones={"north_sea": zone({1: fleet}, pirates=1)})
    strike = card("sabotage", target_seat=1, zone="north_sea", unit="frigate")
    game.refused(0, {**strike, "target_seat": 9}, "invalid_target", "IMP-9.4.12")
    game.refused(0, {**strike, "zone": "france"}, "unknown_region")
    game.refused(0, {**strike, "unit": "artillery"}, "not_enough_units")
    game.when(0, strike)
    assert [x.pinned for x in game.state.zone("north_sea").warships(1)] == [True]
    game.when(0, {**strike, "unit": "infantry"})
    assert not game.state.zone("north_sea").transports(1)


def test_peace_treaty() -> None:
    """IMP-9.4.13: in the talks, between any two enemies."""
    top = {"n": 2, "kind": "diplomacy", "asked": [0, 1, 2], "owing": [0, 1, 2], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "revenue"}}, top]
    game = position(step="revenue", frames=frames, opened=2, wars=[(1, 2)], hands={0: ["peace_treaty"]})
    game.refused(0, card("peace_treaty", seats=[1, 1]), "invalid_target", "IMP-9.4.13")
    game.refused(0, card("peace_treaty", seats=[0, 1]), "already_at_peace")
    game.when(0, card("peace_treaty", seats=[1, 2]))
    assert game.state.relation(1, 2) == "peace"
    later = position(wars=[(1, 2)], hands={0: ["peace_treaty"]})
    later.refused(0, card("peace_treaty", seats=[1, 2]), "card_not_playable_now")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("north_sea", "unknown_region"),
        ("south_africa", "target_is_home_country"),
        ("france", "invalid_target"),
        ("spain", "not_at_war"),
        ("tibet", "landlocked"),
        ("congo", "already_plundered"),
    ],
)
def test_refused_plunder(target: str, code: str) -> None:
    """IMP-9.4.14: the checks in their order."""
    countries = {
        "spain": colony(2, posts=1),
        "tibet": colony(1, posts=1),
        "congo": colony(1, posts=1, plundered_by=2),
    }
    game = position(step="revenue", wars=[(0, 1)], hands={0: ["plunder"]}, countries=countries)
    game.refused(0, card("plunder", country=target), code, "IMP-9.4.14")


def test_plunder() -> None:
    """IMP-9.4.14: its posts pay the player this turn, and nothing can be bought there."""
    game = position(step="revenue", wars=[(0, 1)], hands={0: ["plunder"]}, countries={"congo": colony(1, posts=2)})
    game.when(0, card("plunder", country="congo"))
    assert (country(game, "congo").plundered_by, country(game, "congo").black) == (0, True)
    assert [n.ledger["colonial_tax"] for n in game.state.nations] == [2, 0, 0]
    for seat in range(3):
        game.when(seat, {"type": "set_budget", "repay": 0, "borrow": 0})
    game.when(0, {"type": "end_investments"})
    game.refused(1, buy("infantry", 1, "congo"), "investment_blocked")


def test_rebellion() -> None:
    """IMP-9.4.15: five insurgents attack another seat's colony at once."""
    game = position(hands={0: ["rebellion"]}, countries={"spain": colony(1, 2, 1), "china": colony(0, 1)})
    game.refused(0, card("rebellion", country="china"), "invalid_target", "IMP-9.4.15")
    game.refused(0, card("rebellion", country="france"), "invalid_target")
    facts = game.when(0, card("rebellion", country="spain"), draws=dice("w1 w2 w3 r4 w6 w5 w4 r4"))
    assert named(facts, "combat_started")[0]["horde"] == 5
    assert country(game, "spain").owner is None


def test_unmask_spies() -> None:
    """IMP-9.4.16: the player sees the hand and takes a card into the draw pile."""
    game = position(hands={0: ["unmask_spies"], 1: ["ambush", "capture"]})
    game.refused(0, card("unmask_spies", target_seat=2), "no_cards", "IMP-9.4.16")
    game.when(0, card("unmask_spies", target_seat=1))
    game.when(1, PASS)
    assert deciding(game) == ("theft", [0])
    assert (game.sight(0)["seen"], game.sight(2)["seen"], game.sight("public")["seen"]) == (
        ["ambush", "capture"],
        [],
        [],
    )
    game.refused(0, {"type": "choose_stolen_card", "card": "treason"}, "card_not_in_hand", "IMP-9.4.16")
    pile = [*game.state.deck, "capture"]
    game.when(0, {"type": "choose_stolen_card", "card": "capture"}, draws=[{"label": "shuffle.deck", "value": pile}])
    assert game.sight(1)["hand"] == ["ambush"]
    assert game.sight("public")["nations"][1]["cards"] == 1
    assert game.sight(0)["seen"] == []
    assert '"capture"' not in str(game.match.records[-1].public)


def test_unmask_spies_for_all() -> None:
    """IMP-9.4.16: with `reveal` everybody sees the hand, and the card that is stolen."""
    game = position(hands={0: ["unmask_spies"], 1: ["ambush"]})
    game.when(0, card("unmask_spies", target_seat=1, reveal=True))
    game.when(1, PASS)
    assert game.sight("public")["seen"] == ["ambush"]
    facts = game.deadline(
        [{"label": "pick.card", "value": "ambush"}, {"label": "shuffle.deck", "value": [*game.state.deck, "ambush"]}]
    )
    assert named(facts, "card_stolen")
    assert named(game.match.records[-1].public["facts"], "card_stolen")


def test_an_emptied_hand_shows_nothing() -> None:
    """IMP-9.4.16: when its last card has been played as a counter that was itself countered."""
    game = position(hands={0: ["unmask_spies", "counter_espionage"], 1: ["counter_espionage"]})
    game.when(0, card("unmask_spies", target_seat=1))
    game.when(1, card("counter_espionage"))
    facts = game.when(0, card("counter_espionage"))
    assert named(facts, "card_resolved")
    assert deciding(game) == ("movement", [0])


def test_counter_espionage() -> None:
    """IMP-9.4.17: in a counter window, not against one's own card."""
    hands = {0: ["declaration_of_war", "counter_espionage"], 1: ["counter_espionage"], 2: ["ambush"]}
    game = position(hands=hands)
    game.refused(1, card("counter_espionage"), "card_not_playable_now", "IMP-9.3")
    game.when(0, card("declaration_of_war", target_seat=1))
    game.refused(0, card("counter_espionage"), "own_card", "IMP-9.4.17")
    game.when(1, card("counter_espionage"))
    assert deciding(game) == ("counter_window", [0, 2])
    game.when(2, PASS)
    facts = game.when(0, PASS)
    assert named(facts, "card_countered")
    assert game.state.relation(0, 1) == "peace"


def sea_fight(defenders: Any, *hand: str, wars: Any = ((0, 1),), seat: int = 0) -> Given:
    game = position(
        wars=wars,
        zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone(defenders)},
        hands={seat: list(hand)},
    )
    game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)))
    return game


def test_capture() -> None:
    """IMP-9.4.18: a frigate of the defender becomes the attacker's, pinned; the last one wins the zone."""
    late = sea_fight({1: {"frigate": 1}}, "capture", seat=1)
    late.refused(1, card("capture"), "not_the_attacker", "IMP-9.4.18")
    none = sea_fight({1: {"ship_of_the_line": 1}}, "capture")
    none.refused(0, card("capture"), "no_frigate")
    game = sea_fight({1: {"frigate": 1}}, "capture")
    facts = game.when(0, card("capture"))
    assert named(facts, "combat_ended")[0]["outcome"] == "won"
    assert {(x.count, x.pinned) for x in game.state.lots_in(0, "norwegian_sea")} == {(1, False), (1, True)}


def test_capture_from_one_of_several() -> None:
    """IMP-9.4.18: then the seat must be named."""
    game = sea_fight({1: {"frigate": 1}, 2: {"frigate": 1}}, "capture", wars=[(0, 1), (0, 2)])
    game.refused(0, card("capture"), "invalid_target", "IMP-9.4.18")
    game.when(0, card("capture", target_seat=2), draws=dice("w6 w5 w1"))
    assert standing(game, "norwegian_sea", 0) == {"frigate": 2}

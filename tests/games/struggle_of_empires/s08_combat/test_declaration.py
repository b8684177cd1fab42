"""SOE-8.1, SOE-8.2: declaring an attack."""

from __future__ import annotations

from typing import Any

from domain.games.struggle_of_empires.data import REGIONS
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position, unrest
from tests.spec import kinds


def test_optional_fields_may_be_left_out() -> None:
    """SOE-8.1.1: `ask` omitted means all eligible allies, `[]` nobody; minima omitted mean 0."""
    units = {seat: {"units": army("baltic", 2)} for seat in range(4)}
    game = position(4, empires=units)
    game.when(0, attack("baltic", 1))
    assert asked(game) == ("support", 2)
    game = position(4, empires=units)
    game.when(0, attack("baltic", 1, ask=[]))
    assert asked(game) == ("request_support", 1)
    game = position(4, empires=units)
    game.when(0, attack("baltic", 1, offers=[{"seat": 2, "gold": 3}]))
    assert game.decision.context["offer"] == {"gold": 3, "min_armies": 0, "min_navies": 0}


def test_the_region_and_target_must_exist() -> None:
    """SOE-8.1.2: points 1 to 3, in their order."""
    game = position(empires={0: {"tiles": ["mercenaries"]}}, turn_record={"actions_left": 0})
    game.refused(0, attack("atlantis", 1), "no_actions_left", "SOE-8.1.2")
    game = position()
    game.refused(0, attack("atlantis", 9), "unknown_region", "SOE-8.1.2")
    game.refused(0, attack("home_austria", 9), "invalid_region", "SOE-8.1.2")
    game.refused(0, attack("baltic", 9), "invalid_target", "SOE-8.1.2")
    for target in ({"kind": "player"}, {"kind": "neutral"}, {"kind": "city"}, {"kind": "pirates"}):
        game.refused(0, move("attack", region="africa", target=target), "invalid_target", "SOE-8.1.2")
    pirates = position(pirates={"region": "india", "token_of": 1})
    pirates.refused(0, attack("africa", "pirates"), "invalid_target", "SOE-8.1.2")


def test_the_target_must_be_an_enemy_who_is_there() -> None:
    """SOE-8.1.2: point 4; a navy in the Mediterranean is not in the Ottoman Empire."""
    game = position(empires={1: {"units": army("mediterranean", 0, navy=1)}})
    game.refused(0, attack("ottoman_empire", 0), "cannot_attack_self", "SOE-8.1.2")
    game.refused(0, attack("ottoman_empire", 2), "cannot_attack_ally", "SOE-8.1.2")
    game.refused(0, attack("ottoman_empire", 1), "target_absent", "SOE-8.1.2")


def test_a_marker_must_lie_there_and_have_a_number() -> None:
    """SOE-8.1.2: point 5."""
    game = position(markers=["na_virginia", "na_iroquois", "ca_cuba"])
    game.refused(0, attack("north_america", "ca_caribs"), "unknown_marker", "SOE-8.1.2")
    game.refused(0, attack("caribbean", "na_iroquois"), "unknown_marker", "SOE-8.1.2")
    game.refused(0, attack("north_america", "na_virginia"), "marker_not_attackable", "SOE-8.1.2")
    game.refused(0, attack("caribbean", "ca_cuba"), "marker_not_attackable", "SOE-8.1.2")


def test_attack_needs_own_army_or_against_pirates_an_own_navy() -> None:
    """SOE-8.1.2: point 6."""
    present = {0: {"units": army("india", 0, navy=1)}, 1: {"tokens": {"india": 1}}}
    game = position(empires=present)
    game.refused(0, attack("india", 1), "no_army_in_region", "SOE-8.1.2")
    pirates = {"region": "india", "token_of": 1}
    game = position(empires={0: {"units": army("india")}}, pirates=pirates)
    game.refused(0, attack("india", "pirates"), "no_navy_in_region", "SOE-8.1.2")


def test_surprise_needs_the_tile_and_a_player_as_target() -> None:
    """SOE-8.1.2: point 7."""
    game = position(empires={0: {"units": army("baltic")}, 1: {"units": army("baltic")}})
    game.refused(0, attack("baltic", 1, surprise=True), "tile_not_owned", "SOE-8.1.2")
    owner = {0: {"units": army("baltic"), "tiles": ["surprise_attack"]}}
    game = position(empires=owner, markers=["ba_norway"])
    game.refused(0, attack("baltic", "ba_norway", surprise=True), "tile_not_applicable", "SOE-8.1.2")


def test_eligible_allies_are_asked_once_and_paid_from_the_rest() -> None:
    """SOE-8.1.2: point 8; offers are judged after the 2 gold are paid."""
    units = {seat: {"units": army("baltic"), "gold": 5} for seat in (0, 1, 2)}
    game = position(5, empires=units)
    offer = {"seat": 2, "gold": 1}
    bad: list[Any] = [
        {"ask": [1]},
        {"ask": [0]},
        {"ask": [4]},
        {"ask": [-1]},
        {"ask": [2, 2]},
        {"ask": [], "offers": [offer]},
        {"offers": [offer, offer]},
        {"offers": [{"seat": 3, "gold": 1}]},
        {"offers": [{"seat": 2, "gold": -1}]},
        {"offers": [{**offer, "min_armies": -1}]},
    ]
    for more in bad:
        game.refused(0, attack("baltic", 1, **more), "invalid_ask", "SOE-8.1.2")
    refusal = game.refused(0, attack("baltic", 1, offers=[{"seat": 2, "gold": 4}]), "offer_exceeds_gold")
    assert refusal.detail == {"gold": 3, "offered": 4}
    game.when(0, attack("baltic", 1, offers=[{"seat": 2, "gold": 3}]))


def test_two_gold_are_paid_at_once_and_surprise_tile_is_banned() -> None:
    """SOE-8.1.3: before any dice; with Surprise Attack the tile returns to the stock."""
    holdings = {"units": army("baltic", 2, navy=1), "gold": 1, "tiles": ["surprise_attack"]}
    game = position(2, empires={0: holdings, 1: {"units": army("baltic", 1, navy=1)}})
    facts = game.when(0, attack("baltic", 1, surprise=True))
    assert kinds(facts)[:5] == ["action_taken", "attack_declared", "loan_taken", "gold_paid", "tile_returned"]
    assert (empire(game, 0)["gold"], unrest(game, 0)) == (1, 1)
    assert (game.at("/stock/surprise_attack"), empire(game, 0)["banned_tiles"]) == (1, ["surprise_attack"])
    assert asked(game) == ("naval_choice", 0)


def test_target_with_units_only_can_be_beaten_for_nothing() -> None:
    """SOE-8.1.4: no token changes hands."""
    game = position(2, empires={0: {"units": army("baltic", 3)}, 1: {"units": army("baltic")}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["tokens"], empire(game, 1)["units"]) == ({}, {})


def test_naval_battles_are_fought_in_the_zone_of_the_region() -> None:
    """SOE-8.2.1: the region itself, the Mediterranean for the Ottoman Empire, none inland."""
    own = {r.id for r in REGIONS.values() if r.scores and r.zone == r.id}
    assert own == {r.id for r in REGIONS.values() if r.kind == "colony"} | {"baltic", "mediterranean"}
    zones = {r.id: r.zone for r in REGIONS.values() if r.scores and r.zone != r.id}
    assert zones == {"ottoman_empire": "mediterranean", "german_states": None, "central_europe": None}


def test_fleet_in_mediterranean_supports_in_the_ottoman_empire() -> None:
    """SOE-8.2.1: only navies in the zone matter; armies are those of the attacked region."""
    units = {**army("ottoman_empire"), **army("mediterranean", 5, navy=1)}
    game = position(empires={0: {"units": units}}, markers=["ot_wallachia"])
    facts = game.when(0, attack("ottoman_empire", "ot_wallachia"), draws=[1, 1, 1, 1])
    rolled = next(f for f in facts if f["t"] == "battle_rolled")
    assert rolled["totals"] == [1 + 1, 3]

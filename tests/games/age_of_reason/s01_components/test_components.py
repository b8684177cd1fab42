"""AOR-1: components and limits."""

from __future__ import annotations

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import CARDS, DECKS, MARKERS, REGIONS, SCORING, TOKENS
from tests.games.age_of_reason.board import TEN, attack, figures, last_turn, move, offers, position
from tests.spec import kinds


def test_eleven_regions_score_and_homes_are_never_attacked() -> None:
    """AOR-1.1: three values in Europe, two in colonies, none at home, where nothing lies."""
    values = {kind: {len(r.vp) for r in REGIONS.values() if r.kind == kind} for kind in ("europe", "colony", "home")}
    assert values == {"europe": {3}, "colony": {2}, "home": {0}}
    assert len(SCORING) == 11
    game = position()
    game.refused(0, attack("home_prussia", "austria", "prussia_bluff"), "invalid_region", "AOR-8.2.4")


def test_ships_matter_in_naval_regions_alone() -> None:
    """AOR-1.2: colonies, Baltic, Mediterranean; elsewhere any card, and its ships add nothing."""
    naval = {r.id for r in REGIONS.values() if r.naval}
    assert naval == {r.id for r in REGIONS.values() if r.kind == "colony"} | {"baltic", "mediterranean"}
    tokens = {"prussia": {"german_states": 1}, "spain": {"german_states": 1}}
    game = position(2, tokens=tokens, upper=("prussia", "austria", "britain", "france"))
    game.when(0, attack("german_states", "spain", "prussia_2s1n"), draws=[1, 1, 6, 1])
    rolled = game.match.records[-1].public["facts"]
    assert next(f for f in rolled if f["t"] == "battle_rolled")["strength"] == [2, 9]


def test_reserve_is_what_lies_neither_on_map_nor_on_the_board() -> None:
    """AOR-1.3: 22 in all; no move takes a token back."""
    game = position(2, tokens={"prussia": {"baltic": 3}}, spaces={"finance": [0]})
    assert TOKENS == 22
    assert game.sight("public")["empires"][0]["reserve"] == 18
    assert offers(game, 0) == ["pass", "place"]


FULL = {"prussia": {"baltic": 12, "central_europe": 10}, "austria": {"central_europe": 1}}


def test_an_empty_reserve_places_and_converts_nothing() -> None:
    """AOR-1.4: `no_control_token`."""
    game = position(2, tokens=FULL, markers=["ca_cuba"])
    game.refused(0, move("place", space="finance"), "no_control_token", "AOR-1.4")
    game.refused(0, move("convert", marker="ca_cuba", card="prussia_0s1n"), "no_control_token", "AOR-1.4")
    assert offers(game, 0) == ["pass", "attack"]


def test_an_attack_with_an_empty_reserve_only_removes() -> None:
    """AOR-1.4: the loser's token goes, nothing is placed; a marker's gold and points are taken."""
    game = position(2, tokens=FULL)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    facts = game.when(1, move("commit", card="austria_bluff"), draws=[6, 1, 1, 1])
    assert "token_placed" not in kinds(facts)
    assert game.at("/tokens/austria") == {}
    assert game.at("/tokens/prussia") == FULL["prussia"]
    full = {"prussia": {"baltic": 21, "ottoman_empire": 1}}
    game = position(2, tokens=full, markers=["ot_belgrade"])
    game.when(0, attack("ottoman_empire", "ot_belgrade", "prussia_4s0n"), draws=[6, 1, 1, 1])
    assert (figures(game, 0)[2], game.at("/tokens/prussia")) == (1, full["prussia"])


def test_each_power_has_nine_force_cards_bluff_and_an_alliance() -> None:
    """AOR-1.5: eleven cards, 77 in all; what a soldier card without ship is."""
    for deck in DECKS.values():
        assert sorted(CARDS[c].kind for c in deck) == ["alliance", "bluff"] + ["force"] * 9
    assert len(CARDS) == 77
    assert not CARDS["prussia_1s1n"].soldiers_alone
    assert CARDS["prussia_3s0n"].soldiers_alone
    assert not CARDS["prussia_bluff"].soldiers_alone


def test_coins_are_unlimited_and_public() -> None:
    """AOR-1.6."""
    game = position(2, empires={0: {"gold": 5000}})
    assert game.sight("public")["empires"][0]["gold"] == 5000


def test_unrest_stays_between_0_and_22() -> None:
    """AOR-1.7: what exceeds 22 is lost; the reform stops at 0."""
    tokens = {"prussia": {"central_europe": 1}, "austria": {"central_europe": 1}}
    game = position(2, tokens=tokens, empires={0: {"unrest": 21}})
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(1, move("commit", card="austria_4s0n"), draws=[1, 1, 1, 1])
    assert figures(game, 0) == (10, 22, 0)
    game = position(2, empires={0: {"unrest": 1}})
    game.when(0, move("place", space="government_reform"))
    assert figures(game, 0)[1] == 0


def test_points_never_fall_below_0() -> None:
    """AOR-1.8: unrest takes no more than there are."""
    game = last_turn(empires={0: {"unrest": 12, "vp": 2}})
    game.when(1, move("pass"), draws=[2, 2, 2, 2, 2, 2, *TEN, 0])
    assert figures(game, 0)[2] == 0


def test_there_are_65_markers() -> None:
    """AOR-1.9: Aktion in colonies alone; two bring a point, two bring gold."""
    assert len(MARKERS) == 65
    assert all(REGIONS[m.region].kind == "colony" for m in MARKERS.values() if m.kind == "aktion")
    assert [m.region for m in MARKERS.values() if m.vp] == ["ottoman_empire"] * 2
    assert [m.region for m in MARKERS.values() if m.gold] == ["india"] * 2


def test_a_battle_has_two_dice_on_each_side_and_none_for_unrest() -> None:
    """AOR-1.10: four dice."""
    game = position(2, tokens={"prussia": {"central_europe": 1}}, markers=["ce_poland"])
    game.when(0, attack("central_europe", "ce_poland", "prussia_4s0n"), draws=[6, 6, 6, 6])
    assert RULESET.scores(game.state)[0].points == 0

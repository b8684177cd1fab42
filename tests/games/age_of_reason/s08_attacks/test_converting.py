"""AOR-8.1: converting an Aktion marker."""

from __future__ import annotations

from domain.kernel.schema.canonical_json import canonical
from tests.games.age_of_reason.board import figures, move, offers, position
from tests.spec import kinds

SHIPS = ["prussia_0s1n", "prussia_1s1n", "prussia_2s1n"]


def convert(card: str, marker: str = "ca_cuba") -> dict[str, object]:
    return move("convert", marker=marker, card=card)


def test_an_aktion_marker_anywhere_can_be_converted() -> None:
    """AOR-8.1.1: without token or neighbour."""
    game = position(2, markers=["ca_cuba", "ei_java", "gs_baden"])
    assert offers(game, 0, "convert") == ["ca_cuba", "ei_java"]
    game.when(0, convert("prussia_0s1n", "ei_java"))
    assert game.at("/tokens/prussia") == {"east_indies": 1}


def test_a_ship_card_is_needed_or_the_bluff_without_any() -> None:
    """AOR-8.1.2: whatever the card's numbers."""
    game = position(2, markers=["ca_cuba"])
    assert offers(game, 0, "convert", "ca_cuba") == SHIPS
    game.refused(0, convert("prussia_bluff"), "bluff_not_allowed", "AOR-8.3.5")
    game = position(2, markers=["ca_cuba"], discards={0: SHIPS})
    assert offers(game, 0, "convert", "ca_cuba") == ["prussia_bluff"]


def test_it_costs_two_gold_and_brings_a_token_without_a_battle() -> None:
    """AOR-8.1.3: the marker leaves the game; not the card's cost; no unrest."""
    game = position(2, markers=["ca_cuba"])
    facts = game.when(0, convert("prussia_2s1n"))
    assert kinds(facts) == [
        "marker_converted",
        "gold_paid",
        "token_placed",
        "card_discarded",
        "discard_counted",
        "turn_ended",
        "turn_started",
    ]
    assert figures(game, 0) == (8, 0, 0)
    assert (game.state.gone, game.at("/tokens/prussia")) == (("ca_cuba",), {"caribbean": 1})


def test_the_ship_card_is_not_shown_and_the_bluff_goes_back() -> None:
    """AOR-8.1.4: others see the hand size alone, which tells whether it was the Bluff."""
    game = position(2, markers=["ca_cuba"])
    game.when(0, convert("prussia_2s1n"))
    assert "prussia_2s1n" not in canonical(game.match.records[-1].public).decode()
    assert game.sight(0)["discard"] == ["prussia_2s1n"]
    assert game.sight("public")["empires"][0]["hand_size"] == 10
    pair = [position(2, markers=["ca_cuba"]) for _ in range(2)]
    for game, card in zip(pair, SHIPS, strict=False):
        game.when(0, convert(card))
    assert pair[0].sight("public") == pair[1].sight("public")
    game = position(2, markers=["ca_cuba"], discards={0: SHIPS})
    game.when(0, convert("prussia_bluff"))
    assert "prussia_bluff" in game.sight(0)["hand"]
    assert game.sight("public")["empires"][0]["hand_size"] == 8


def test_what_cannot_be_converted() -> None:
    """AOR-8.1.5: the errors, in their order."""
    spent = {"attacks_made": 1}
    position(2, turn_record=spent).refused(0, convert("prussia_4s0n"), "no_attack_left", "AOR-8.2.6")
    full = {"prussia": {"baltic": 22}}
    poor = {0: {"gold": 1, "unrest": 22}}
    game = position(2, markers=["gs_baden", "ca_cuba"], tokens=full, empires=poor)
    game.refused(0, convert("prussia_4s0n", "ei_java"), "unknown_marker", "AOR-8.1.5")
    game.refused(0, convert("prussia_4s0n", "ca_atlantis"), "unknown_marker", "AOR-8.1.5")
    game.refused(0, convert("prussia_4s0n", "gs_baden"), "wrong_marker_kind", "AOR-8.1.5")
    game.refused(0, convert("prussia_4s0n"), "no_control_token", "AOR-1.4")
    game = position(2, markers=["ca_cuba"], empires=poor)
    game.refused(0, convert("france_0s2n"), "card_not_in_hand", "AOR-8.3.5")
    game.refused(0, convert("prussia_alliance"), "card_not_allowed", "AOR-8.3.5")
    game.refused(0, convert("prussia_4s0n"), "ship_card_required", "AOR-8.3.5")
    game.refused(0, convert("prussia_bluff"), "bluff_not_allowed", "AOR-8.3.5")
    game.refused(0, convert("prussia_0s1n"), "insufficient_funds", "AOR-15.3")
    assert "convert" not in offers(game, 0)

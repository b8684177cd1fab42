"""AOR-7.4: placing a token on the action board."""

from __future__ import annotations

from domain.games.age_of_reason.data import SPACES
from tests.games.age_of_reason.board import figures, move, offers, position
from tests.spec import kinds

SPENT = ["prussia_3s0n", "prussia_1s1n"]


def test_fields_that_a_space_asks_for_and_no_others() -> None:
    """AOR-7.4.1: a card, a region, or neither; where one is asked for, absent is null."""
    game = position(2, discards={0: SPENT})
    game.refused(0, move("place", space="finance", card=None), "malformed_move")
    game.refused(0, move("place", space="tobacco", region="north_america"), "malformed_move")
    game.refused(0, move("place", space="militia", region="india"), "malformed_move")
    game.refused(0, move("place", space="militia"), "card_required")
    game.refused(0, move("place", space="levant_company"), "invalid_region")
    game.refused(0, move("place", space="levant_company", region=None), "invalid_region")
    game.when(0, move("place", space="militia", card="prussia_3s0n"))


def test_how_many_places_a_space_has() -> None:
    """AOR-7.4.2: by the number of seats; a seat may hold several of one kind."""
    for seats, places in ((4, 1), (5, 2)):
        game = position(seats)
        assert game.state.places("finance") == places
        assert [game.state.places(x) for x in ("reserves", "denmark", "tobacco")] == [2, 1, 1]
    game = position(5, spaces={"finance": [0]})
    game.when(0, move("place", space="finance"))
    assert game.at("/spaces/finance") == [0, 0]


def test_cost_is_paid_then_token_placed_then_the_effect_applied() -> None:
    """AOR-7.4.3."""
    game = position(2, empires={0: {"gold": 0}})
    assert kinds(game.when(0, move("place", space="denmark"))) == ["loan_taken", "gold_paid", "space_placed"]
    assert figures(game, 0) == (1, 1, 0)
    game = position(2)
    assert kinds(game.when(0, move("place", space="finance"))) == ["space_placed", "gold_received"]


def test_a_placement_without_effect_is_legal() -> None:
    """AOR-7.4.4: to block a space."""
    game = position(2)
    assert kinds(game.when(0, move("place", space="tobacco"))) == ["space_placed"]
    game = position(2)
    game.when(0, move("place", space="militia", card=None))
    assert game.at("/spaces/militia") == [0]


def test_tokens_stay_on_the_board() -> None:
    """AOR-7.4.5: in later rounds the space is still taken."""
    game = position(2)
    game.when(0, move("place", space="finance"))
    game.when(0, move("pass"))
    game.refused(1, move("place", space="finance"), "space_occupied", "AOR-7.4.6")


def test_what_cannot_be_placed() -> None:
    """AOR-7.4.6: the errors, in their order."""
    full = {"prussia": {"baltic": 22}}
    game = position(2, turn_record={"placed": True})
    game.refused(0, move("place", space="harem"), "already_placed", "AOR-7.4.6")
    game = position(2, tokens=full, spaces={"denmark": [1]})
    game.refused(0, move("place", space="harem"), "unknown_space", "AOR-7.4.6")
    game.refused(0, move("place", space="denmark"), "space_occupied", "AOR-7.4.6")
    game.refused(0, move("place", space="sweden"), "no_control_token", "AOR-1.4")
    game = position(2, empires={0: {"gold": 0, "unrest": 22}}, discards={0: SPENT})
    game.refused(0, move("place", space="sweden"), "insufficient_funds", "AOR-15.3")
    assert "sweden" not in offers(game, 0, "place")
    game.refused(0, move("place", space="militia", card=None), "card_required", "AOR-7.4.6")
    game.refused(0, move("place", space="militia", card="prussia_4s0n"), "card_not_in_discard", "AOR-7.4.6")
    game.refused(0, move("place", space="militia", card="prussia_1s1n"), "card_not_eligible", "AOR-7.4.6")
    game.refused(0, move("place", space="pressgangs", card="prussia_3s0n"), "card_not_eligible", "AOR-7.4.6")
    game.refused(0, move("place", space="levant_company", region="india"), "invalid_region", "AOR-7.4.6")
    assert len(SPACES) == 26

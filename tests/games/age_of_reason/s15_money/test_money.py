"""AOR-15: gold and unrest."""

from __future__ import annotations

import pytest

from domain.games.common.loans import loan
from tests.games.age_of_reason.board import attack, commit, facts_of, figures, move, offers, position
from tests.spec import kinds


def test_nothing_but_reform_and_end_of_game_turn_lowers_unrest() -> None:
    """AOR-15.1: gold never does."""
    game = position(2, empires={0: {"gold": 99, "unrest": 9}})
    for space in ("finance", "denmark"):
        other = position(2, empires={0: {"gold": 99, "unrest": 9}})
        other.when(0, move("place", space=space))
        assert figures(other, 0)[1] == 9
    game.when(0, move("place", space="government_reform"))
    assert figures(game, 0)[1] == 7


@pytest.mark.parametrize(
    ("gold", "cost", "lent", "unrest", "left"),
    [(5, 5, 0, 0, 0), (4, 5, 2, 1, 1), (3, 5, 2, 1, 0), (0, 5, 6, 3, 1), (0, 4, 4, 2, 0)],
)
def test_what_is_missing_is_borrowed(gold: int, cost: int, lent: int, unrest: int, left: int) -> None:
    """AOR-15.2: two gold for each point, never more than needed."""
    assert loan(gold, cost, 2) == (lent, unrest)
    assert gold + lent - cost == left


def test_a_payment_of_several_parts_is_one_sum() -> None:
    """AOR-15.2, AOR-9.5.1: card and hirings together."""
    tokens = {key: {"central_europe": 1} for key in ("prussia", "austria", "spain")}
    game = position(2, tokens=tokens, empires={0: {"gold": 0}})
    game.when(0, attack("central_europe", "austria", "prussia_1s0n_a"))
    game.when(1, commit("austria_bluff"))
    facts = game.when(0, move("hire", powers=["spain"]), draws=[6, 1, 1, 1])
    assert [(f["gold"], f["unrest"]) for f in facts_of(facts, "loan_taken")] == [(2, 1)]
    assert figures(game, 0) == (0, 1, 0)


def test_means_are_gold_and_what_loans_could_bring() -> None:
    """AOR-15.3: at unrest 22 only the gold in hand."""
    game = position(2, empires={0: {"gold": 3, "unrest": 20}})
    assert game.state.empires[0].means == 7
    game = position(2, empires={0: {"gold": 0, "unrest": 22}})
    game.refused(0, move("place", space="denmark"), "insufficient_funds", "AOR-15.3")
    assert "denmark" not in offers(game, 0, "place")


def test_all_payments_go_to_the_bank() -> None:
    """AOR-15.4: nobody else has more after one."""
    game = position(2)
    assert kinds(game.when(0, move("place", space="denmark"))) == ["gold_paid", "space_placed"]
    assert (figures(game, 0)[0], figures(game, 1)[0]) == (9, 10)


def test_gold_points_and_unrest_are_public() -> None:
    """AOR-15.5."""
    shown = position(2, empires={1: {"gold": 7, "vp": 3, "unrest": 5}}).sight("public")["empires"][1]
    assert (shown["gold"], shown["vp"], shown["unrest"]) == (7, 3, 5)

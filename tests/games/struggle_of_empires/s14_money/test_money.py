"""SOE-14: gold and unrest."""

from __future__ import annotations

import pytest

from domain.games.struggle_of_empires.rules.money import after_paying, loan
from domain.games.struggle_of_empires.state import Empire, Tile
from tests.games.struggle_of_empires.board import army, attack, empire, move, position, unrest


def test_unrest_comes_from_loans_and_losses_goes_by_reform() -> None:
    """SOE-14.1: and from nothing else."""
    game = position(2, empires={0: {"gold": 0, "units": army("baltic", 2)}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    assert unrest(game, 0) == 1 + 1
    game.when(0, move("buy_tile", tile="government_reform"))
    assert unrest(game, 0) == 0


@pytest.mark.parametrize(
    ("gold", "cost", "banking", "borrowed", "added", "left"),
    [
        (5, 3, False, 0, 0, 2),
        (3, 3, False, 0, 0, 0),
        (0, 1, False, 2, 1, 1),
        (0, 2, False, 2, 1, 0),
        (1, 6, False, 6, 3, 1),
        (0, 1, True, 3, 1, 2),
        (0, 3, True, 3, 1, 0),
        (1, 6, True, 6, 2, 1),
    ],
)
def test_a_loan_is_never_more_than_needed(
    gold: int, cost: int, banking: bool, borrowed: int, added: int, left: int
) -> None:
    """SOE-14.2: s = c - g, u = ceil(s / 2), with Banking ceil(s / 3)."""
    purse = Empire(gold=gold, tiles=(Tile("banking"),) if banking else ())
    assert loan(purse, cost) == (borrowed, added)
    assert after_paying(purse, cost) == left


def test_every_payment_goes_to_the_bank() -> None:
    """SOE-14.3: nobody else has more after it, except gold for support."""
    game = position(3)
    game.when(0, move("buy_tile", tile="banking"))
    assert [empire(game, seat)["gold"] for seat in range(3)] == [7, 10, 10]

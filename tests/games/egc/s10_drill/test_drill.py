"""Training and rest."""

from __future__ import annotations

import pytest

from tests.games.egc.board import move, order, position


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("train", (5, 8), (5, 9)),
        ("train", (5, 9), (5, 9)),
        ("train", (5, 10), (5, 10)),
        ("rest", (7, 5), (8, 5)),
        ("rest", (8, 5), (8, 5)),
    ],
)
def test_up_to_the_caps_of_the_ranks(kind: str, before: tuple[int, int], after: tuple[int, int]) -> None:
    """EGC-10.1: France's are 9 and 8; who is above stays there."""
    game = position(armies={3: {"france-1": ("france", 10, *before)}})
    game.resolve({3: [order("france-1", kind)]})
    assert game.army("france-1") == ("france", 10, *after)


def test_who_retreated_does_not_train_and_who_held_does() -> None:
    """EGC-10.1."""
    game = position(
        armies={3: {"france-1": ("france", 20, 5, 5)}, 8: {"spain-1": ("spain", 60, 8, 8)}},
        relations={(3, 8): "total_war"},
        owners={"holland": 3},
    )
    game.resolve({8: [move("spain-1", "spain", "france")], 3: [order("france-1", "train")]})
    assert game.army("france-1")[3] == 5  # type: ignore[index]
    held = position(
        armies={3: {"france-1": ("france", 100, 8, 5)}, 8: {"spain-1": ("spain", 20, 3, 3)}},
        relations={(3, 8): "total_war"},
    )
    held.resolve({8: [move("spain-1", "spain", "france")], 3: [order("france-1", "train")]})
    assert held.army("france-1")[3] == 6  # type: ignore[index]

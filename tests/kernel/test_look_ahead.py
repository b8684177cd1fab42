"""The move builder's answers to further picks: forced ones, then each option while few moves are possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from domain.kernel.rules.choices import Choice, look_ahead, one, some, span

Tree = dict[Any, Any]


def walk(tree: Any, picks: Sequence[Any]) -> Any:
    """A question for each mapping; a leaf is a move."""
    for pick in picks:
        tree = tree[tuple(pick) if isinstance(pick, list) else pick]
    if not isinstance(tree, dict):
        return tree
    keys = list(tree)
    if isinstance(keys[0], tuple):
        return some("several", keys[0], len(keys[0]), len(keys[0]))
    return span("number", min(keys), max(keys)) if isinstance(keys[0], int) else one("each", keys)


def moves(tree: Tree, most: int) -> tuple[list[Any], int]:
    """The moves found, and the number of answers."""
    found = look_ahead(lambda picks: walk(tree, picks), [], walk(tree, []), most)
    assert all(step == walk(tree, picks) for picks, step in found)
    seen = [[], *(picks for picks, _ in found)]
    assert all(picks[:-1] in seen[: n + 1] for n, (picks, _) in enumerate(found))
    return [step for _, step in found if not isinstance(step, Choice)], len(found)


@pytest.mark.parametrize(
    ("tree", "most", "found", "answers"),
    [
        ({"a": "A", "b": "B"}, 2, ["A", "B"], 2),
        ({"a": "A", "b": "B"}, 1, [], 0),
        ({"a": {3: {"x": "A", "y": "B"}}}, 2, ["A", "B"], 4),
        ({("p", "q"): "A"}, 1, ["A"], 1),
        ({1: "A", 2: "B"}, 9, [], 0),
        ({"a": {1: "A", 2: "B"}, "b": "B"}, 9, [], 1),
        ({"a": {"x": "A", "y": "B"}, "b": {"x": "C", "y": "D"}}, 4, ["A", "B", "C", "D"], 6),
        ({"a": {"x": "A", "y": "B"}, "b": {"x": "C", "y": "D"}}, 3, [], 2),
        ({"a": {"b": {"c": {"d": "A"}}}, "e": "B"}, 2, ["A", "B"], 5),
    ],
)
def test_answers_are_told_while_few_moves_are_possible(tree: Tree, most: int, found: list[str], answers: int) -> None:
    told, count = moves(tree, most)
    assert (sorted(told), count) == (found, answers)


def test_options_are_picked_at_most_twice_as_often_as_moves() -> None:
    deep: Tree = {"n": "end"}
    for _ in range(9):
        deep = {"n": "end", "y": deep}
    assert moves(deep, 10)[1] == 20 - 1
    for _ in range(9):
        deep = {"n": deep, "y": "end"}
    assert moves(deep, 30)[1] <= 60

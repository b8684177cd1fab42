"""Every legal move of the builder has one spelling by small numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.environments.pick_steps import ACTIONS, PickStep, move_steps, spell_number
from domain.kernel.rules.choices import Builder, Choice, one, some, span
from domain.kernel.schema import declarations
from domain.types import Doc, Json


class Given(msgspec.Struct, frozen=True):
    picks: tuple[Json, ...]


def build(*asks: Choice) -> Builder:
    picks: tuple[Json, ...] = ()
    for ask in asks:
        picks += ((yield ask),)
    return Given(picks)  # type: ignore[return-value]


def spell_all(*asks: Choice) -> Iterator[tuple[tuple[int, ...], Json]]:
    """Yield every sequence of actions with the picks that it gives."""
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        actions = waiting.pop()
        steps = move_steps(build(*asks))
        try:
            step = next(steps)
            for action in actions:
                step = steps.send(action)
        except StopIteration as end:
            yield actions, end.value.picks
        else:
            assert 1 < step.allowed <= ACTIONS
            waiting += [(*actions, action) for action in range(step.allowed)]


@pytest.fixture(autouse=True)
def _plain_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "doc", lambda move: move)


@pytest.mark.parametrize(
    ("ask", "ways"),
    [
        (one("a", ["x", "y", "z"]), 3),
        (one("a", ["x"]), 1),
        (span("a", 3, 3), 1),
        (span("a", -2, 500), 503),
        (span("a", 0, ACTIONS), ACTIONS + 1),
        (some("a", ["x", "y", "z"], 0, 3), 8),
        (some("a", ["x", "y", "z"], 2, 2), 3),
        (some("a", ["x", "y", "z"], 1, 2), 6),
        (some("a", ["x", "y", "z"], 3, 3), 1),
        (some("a", [], 0, 0), 1),
    ],
)
def test_each_pick_has_one_spelling(ask: Choice, ways: int) -> None:
    found = [str(picks) for _, picks in spell_all(ask)]
    assert len(found) == len(set(found)) == ways


def test_questions_follow_each_other_and_tell_what_was_picked() -> None:
    steps = move_steps(build(one("a", ["x", "y"]), one("b", ["only"]), span("c", 1, 4)))
    assert (next(steps).field, steps.send(1)) == ("a", PickStep("c", "range", range(1, 5), ("y", "only")))
    with pytest.raises(StopIteration) as end:
        steps.send(3)
    assert end.value.value.picks == ("y", "only", 4)


def test_digits_tell_where_they_lead() -> None:
    step = next(spell_number(PickStep("a", "range", range(100), ())))
    assert (step.allowed, step.value_of(0), step.value_of(1)) == (2, [0, 63], [64, 99])
    assert PickStep("a", "one", ("x", "y"), ()).value_of(1) == "y"


@given(st.integers(1, ACTIONS**3 + 5), st.data())
def test_any_number_below_n_is_spelled(n: int, data: st.DataObject) -> None:
    wanted, found = data.draw(st.integers(0, n - 1)), list[int]()

    def spell() -> Iterator[None]:
        found.append((yield from spell_number(PickStep("a", "range", range(n)))))  # type: ignore[misc]

    steps: Any = spell()
    step = next(steps, None)
    while step is not None:
        step = next_step(steps, min(wanted // step.weight % ACTIONS, step.allowed - 1))
    assert found == [wanted]


def next_step(steps: Any, action: int) -> PickStep | None:
    try:
        step: PickStep = steps.send(action)
    except StopIteration:
        return None
    return step


def test_a_builder_is_asked_for_documents() -> None:
    docs: list[Doc] = [{"a": 1}, {"a": 2}]
    assert sorted(picks[0]["a"] for _, picks in spell_all(one("a", docs))) == [1, 2]

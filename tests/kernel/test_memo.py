"""Costly values are made once, and never outlive what they were made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from domain.kernel.rules.flow import State, assign
from domain.kernel.rules.ruleset import memo, share_memo


@dataclass(frozen=True)
class Map(State):
    """Two parts of a state."""

    lands: dict[str, int] = field(default_factory=dict)
    sheet: tuple[str, ...] = ()


def counted(made: list[int]) -> Callable[[Map], int]:
    """The sum of the lands, kept by them; notes each time that it is made."""

    def total(s: Map) -> int:
        def make() -> int:
            made.append(sum(s.lands.values()))
            return made[-1]

        return memo(s, "total", make, (s.lands,))

    return total


def test_value_of_whole_state_is_made_once_for_each_state() -> None:
    state, made = Map(lands={"a": 1}), []

    def make() -> int:
        made.append(1)
        return len(made)

    assert [memo(state, "n", make), memo(state, "n", make)] == [1, 1]
    assert memo(assign(state, sheet=("x",)), "n", make) == 2


def test_a_value_of_a_part_is_kept_while_other_parts_change() -> None:
    made: list[int] = []
    total, state = counted(made), Map(lands={"a": 1})
    assert total(state) == total(assign(state, sheet=("x",))) == total(assign(state, sheet=("y",), over=True)) == 1
    assert made == [1]


def test_value_of_a_part_is_made_anew_when_the_part_is_replaced() -> None:
    made: list[int] = []
    total, state = counted(made), Map(lands={"a": 1})
    assert total(state) == 1
    later = assign(state, lands={"a": 1, "b": 5})
    assert total(later) == 6
    assert total(assign(later, lands=dict(later.lands))) == 6
    assert made == [1, 6, 6]


def test_lines_that_part_do_not_mix() -> None:
    """A rewind goes back to an older state, whose values are its own."""
    total, state = counted([]), Map(lands={"a": 1})
    assert total(state) == 1
    one, other = assign(state, lands={"a": 2}), assign(state, lands={"a": 3})
    assert [total(one), total(other), total(state), total(other), total(one)] == [2, 3, 1, 3, 2]


def test_states_made_before_a_value_can_share_it() -> None:
    """A replay that goes back asks for the later state first."""
    made: list[int] = []
    total, state = counted(made), Map(lands={"a": 1})
    share_memo(state)
    earlier = assign(state, sheet=("x",))
    later = assign(earlier, sheet=("y",))
    assert [total(later), total(earlier), total(state)] == [1, 1, 1]
    assert made == [1]


def test_what_is_kept_is_no_part_of_the_state() -> None:
    state, other = Map(lands={"a": 1}), Map(lands={"a": 1})
    counted([])(state)
    assert state == other

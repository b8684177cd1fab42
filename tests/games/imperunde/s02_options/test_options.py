"""IMP-2: seats and options."""

from __future__ import annotations

import pytest

from domain.errors import InvalidTable
from domain.games.imperunde import RULESET
from tests.games.imperunde.board import position


@pytest.mark.parametrize(
    ("seats", "goals"), [(3, (35, 40, 45)), (4, (28, 31, 34)), (5, (24, 27, 30)), (6, (21, 24, 27))]
)
def test_goals(seats: int, goals: tuple[int, ...]) -> None:
    """IMP-2.1: by number of players; `normal` unless another is chosen."""
    presets = [RULESET.blank(RULESET.make_table(seats, {"goal_preset": p})).goal for p in ("sprint", "normal", "long")]
    assert tuple(presets) == goals
    assert RULESET.blank(RULESET.make_table(seats)).goal == goals[1]


@pytest.mark.parametrize(
    ("seats", "options", "pointer"),
    [
        (2, {}, "/seats"),
        (7, {}, "/seats"),
        (3, {"goal_preset": "endless"}, "/options/goal_preset"),
        (3, {"goal": 5}, "/options/goal"),
        (4, {"goal": 46}, "/options/goal"),
        (4, {"turn_limit": 3}, "/options/turn_limit"),
    ],
)
def test_tables_that_are_not_possible(seats: int, options: dict[str, object], pointer: str) -> None:
    """IMP-2.1, IMP-2.2: refused with the place that is wrong."""
    with pytest.raises(InvalidTable) as caught:
        RULESET.make_table(seats, options)
    assert caught.value.pointer == pointer


def test_a_goal_of_ones_own() -> None:
    """IMP-2.2: replaces the preset; 46 to 90 with three players only."""
    assert RULESET.blank(RULESET.make_table(3, {"goal": 90})).goal == 90
    assert RULESET.blank(RULESET.make_table(3, {"turn_limit": 4})).turn_limit == 4


def test_paces() -> None:
    """IMP-2.3: every kind of decision has its time in both paces."""
    paces = RULESET.meta.paces
    assert paces["live"].keys() == paces["correspondence"].keys() == RULESET.meta.clocks.keys()
    assert paces["live"]["movement"] == 900


def test_nobody_is_eliminated() -> None:
    """IMP-2.4: a seat without pieces goes on playing."""
    game = position(4)
    game.when(0, {"type": "end_movement"})
    assert game.decision.must == (1,)

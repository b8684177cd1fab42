"""Deadlines: a covered decision stands still, an interruption costs nobody time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import InvalidTable
from domain.kernel.game.deadlines import NO_DEADLINES, FrameClock, TimeControl, first_due_time, parse_time_control, tick
from domain.kernel.rules.flow import Frame
from tests.kernel.flows import windows

META = replace(windows.RULESET.meta, paces={"live": {"move": 60, "window": 15}})
PACE = TimeControl({"move": 60, "window": 15}, grace=5)
TURN = Frame(1, "turn", (0,), (0,))
COMBAT = Frame(2, "combat")
WINDOW = Frame(3, "window", (0, 1), (0, 1), secret=True)


def test_a_question_asked_anew_has_the_deadline_of_the_first() -> None:
    """Also when it was asked anew several times, and twice within one record."""
    clocks = tick(META, PACE, (), (TURN,), 0)
    for n, timer, at in ((2, 1, 30_000), (4, 1, 50_000)):
        frame = replace(TURN, n=n, timed_as=timer)
        clocks = tick(META, PACE, clocks, (frame,), at)
        assert first_due_time(PACE, clocks, (frame,)) == 65_000
        assert frame.timer == 1
    assert (
        first_due_time(PACE, tick(META, PACE, clocks, (replace(TURN, n=5),), 50_000), (replace(TURN, n=5),)) == 115_000
    )


def test_interrupted_decision_goes_on_with_the_time_it_had_left() -> None:
    """40 s of the turn are gone when a window covers it; 20 s are left after the window, however long that took."""
    clocks = tick(META, PACE, (), (TURN,), 1_000)
    assert first_due_time(PACE, clocks, (TURN,)) == 1_000 + 65_000
    clocks = tick(META, PACE, clocks, (TURN, COMBAT, WINDOW), 41_000)
    assert clocks == (FrameClock(1, 20_000, None), FrameClock(3, 15_000, 41_000))
    assert first_due_time(PACE, clocks, (TURN, COMBAT, WINDOW)) == 41_000 + 20_000
    clocks = tick(META, PACE, clocks, (TURN,), 50_000)
    assert clocks == (FrameClock(1, 20_000, 50_000),)


def test_other_records_do_not_move_a_deadline() -> None:
    """Changes of stance, reopened sheets, auto-pass."""
    clocks = tick(META, PACE, (), (WINDOW,), 0)
    later = tick(META, PACE, clocks, (replace(WINDOW, owing=(1,), done=(0,)),), 9_000)
    assert later == clocks


def test_a_window_that_starts_again_has_a_new_deadline() -> None:
    """It is another frame."""
    clocks = tick(META, PACE, (), (TURN, WINDOW), 0)
    again = tick(META, PACE, clocks, (TURN, replace(WINDOW, n=5)), 10_000)
    assert [c.n for c in again] == [1, 5]
    assert first_due_time(PACE, again, (TURN, replace(WINDOW, n=5))) == 10_000 + 20_000


def test_what_has_no_deadline() -> None:
    """Batch work, a pace without that class, no pace, the end of the game."""
    engine = Frame(4, "resolve", engine=True)
    assert tick(META, PACE, (), (engine,), 0) == ()
    assert tick(META, TimeControl({"window": 3}), (), (TURN,), 0) == ()
    assert first_due_time(NO_DEADLINES, tick(META, NO_DEADLINES, (), (TURN,), 0), (TURN,)) is None
    assert tick(META, PACE, (FrameClock(1, 5, 0),), (), 9) == ()


def test_paces_by_name_and_by_class() -> None:
    """A preset of the ruleset, or seconds per class."""
    assert parse_time_control(META, "live") == TimeControl({"move": 60, "window": 15})
    assert parse_time_control(META, None) == parse_time_control(META, "none") == NO_DEADLINES
    assert parse_time_control(META, {"seconds": {"window": 3}, "grace": 2}).to_json() == {
        "seconds": {"window": 3},
        "grace": 2,
    }


@pytest.mark.parametrize(
    ("doc", "pointer"),
    [
        ("blitz", "/pace"),
        ([], "/pace"),
        ({}, "/pace"),
        ({"seconds": {}, "x": 1}, "/pace"),
        ({"seconds": {"era": 1}}, "/pace/seconds/era"),
        ({"seconds": {"move": 0}}, "/pace/seconds/move"),
        ({"seconds": {"move": True}}, "/pace/seconds/move"),
        ({"seconds": {"move": 10**9}}, "/pace/seconds/move"),
        ({"seconds": {"move": 1}, "grace": -1}, "/pace/grace"),
    ],
)
def test_a_pace_that_makes_no_sense_is_named(doc: Any, pointer: str) -> None:
    """With its pointer."""
    with pytest.raises(InvalidTable) as caught:
        parse_time_control(META, doc)
    assert caught.value.pointer == pointer

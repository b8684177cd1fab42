"""Deadlines: a covered decision stands still, an interruption costs nobody time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import InvalidTable
from domain.kernel.game.deadlines import NO_PACE, Clock, Pace, due_at, pace_of, tick
from domain.kernel.rules.flow import Frame
from tests.kernel.flows import windows

META = replace(windows.RULESET.meta, paces={"live": {"move": 60, "window": 15}})
PACE = Pace({"move": 60, "window": 15}, grace=5)
TURN = Frame(1, "turn", (0,), (0,))
COMBAT = Frame(2, "combat")
WINDOW = Frame(3, "window", (0, 1), (0, 1), secret=True)


def test_a_question_asked_anew_has_the_deadline_of_the_first() -> None:
    """Also when it was asked anew several times, and twice within one record."""
    clocks = tick(META, PACE, (), (TURN,), 0)
    for n, timer, at in ((2, 1, 30_000), (4, 1, 50_000)):
        frame = replace(TURN, n=n, timed_as=timer)
        clocks = tick(META, PACE, clocks, (frame,), at)
        assert due_at(PACE, clocks, (frame,)) == 65_000
        assert frame.timer == 1
    assert due_at(PACE, tick(META, PACE, clocks, (replace(TURN, n=5),), 50_000), (replace(TURN, n=5),)) == 115_000


def test_an_interrupted_decision_goes_on_with_the_time_it_had_left() -> None:
    """40 s of the turn are gone when a window covers it; 20 s are left after the window, however long that took."""
    clocks = tick(META, PACE, (), (TURN,), 1_000)
    assert due_at(PACE, clocks, (TURN,)) == 1_000 + 65_000
    clocks = tick(META, PACE, clocks, (TURN, COMBAT, WINDOW), 41_000)
    assert clocks == (Clock(1, 20_000, None), Clock(3, 15_000, 41_000))
    assert due_at(PACE, clocks, (TURN, COMBAT, WINDOW)) == 41_000 + 20_000
    clocks = tick(META, PACE, clocks, (TURN,), 50_000)
    assert clocks == (Clock(1, 20_000, 50_000),)


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
    assert due_at(PACE, again, (TURN, replace(WINDOW, n=5))) == 10_000 + 20_000


def test_what_has_no_deadline() -> None:
    """Batch work, a pace without that class, no pace, the end of the game."""
    engine = Frame(4, "resolve", engine=True)
    assert tick(META, PACE, (), (engine,), 0) == ()
    assert tick(META, Pace({"window": 3}), (), (TURN,), 0) == ()
    assert due_at(NO_PACE, tick(META, NO_PACE, (), (TURN,), 0), (TURN,)) is None
    assert tick(META, PACE, (Clock(1, 5, 0),), (), 9) == ()


def test_paces_by_name_and_by_class() -> None:
    """A preset of the ruleset, or seconds per class."""
    assert pace_of(META, "live") == Pace({"move": 60, "window": 15})
    assert pace_of(META, None) == pace_of(META, "none") == NO_PACE
    assert pace_of(META, {"seconds": {"window": 3}, "grace": 2}).to_json() == {"seconds": {"window": 3}, "grace": 2}


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
        pace_of(META, doc)
    assert caught.value.pointer == pointer

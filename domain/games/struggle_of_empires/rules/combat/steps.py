"""Types of a combat's flow. The frame `combat` owes nobody and holds the remaining steps (`todo`).

A step looks at the state, may add facts, and returns the things to do before the rest: further steps, or one question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.state import D, Side, Struggle
from domain.kernel.schema.declarations import Context
from domain.types import Json, Seat

Step = Sequence[Json]
"""Name of the step and its arguments, as stored in the frame."""


@dataclass(frozen=True)
class Question:
    """A decision interrupting the combat."""

    about: Context
    seat: Seat


Next = Sequence[Step] | Question

NOTHING: Next = ()

LAND_ATTACK: list[Step] = [["naval"], ["blockade"], ["roll", "land"], ["outcome"]]
"""SOE-8.4 to SOE-8.7, SOE-8.11: naval stage, land battle, result."""

NAVAL_ATTACK: list[Step] = [["roll", "naval"], ["outcome"]]
"""SOE-8.12: Pirates fight at sea only."""


def begin(d: D, *steps: Step) -> None:
    """Begin a combat, interrupting the turn (SOE-4.3)."""
    d.ask(frames.Combat(steps))


def answer(d: D, seat: Seat, *steps: Step) -> None:
    """Mark a question as answered, and put these steps before the rest."""
    d.mark_answered(seat, end=True)
    if steps:
        d.note(todo=[*steps, *d.state.top.context(frames.Combat).todo])


def other(side: Side) -> Side:
    """Return the opposing side."""
    return "defender" if side == "attacker" else "attacker"


def side_of(s: Struggle, seat: Seat) -> Side:
    """Return the side with the seat as its principal (SOE-8.1.5)."""
    return "attacker" if s.battle.attacker.seat == seat else "defender"

"""Types of a battle's flow. The frame `battle` owes nobody and holds the remaining steps (`todo`).

A step looks at the state, may add facts, and may return a question; the battle waits for its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.state import D
from domain.kernel.schema.declarations import Context
from domain.types import Json, Seat

Step = Sequence[Json]
"""Name of the step and its arguments, as stored in the frame."""


@dataclass(frozen=True)
class Question:
    """A decision interrupting the battle; of several seats at the same time."""

    about: Context
    seats: Sequence[Seat]


Next = Question | None

BATTLE: list[Step] = [["commit"], ["hire"], ["reveal"], ["roll"], ["reserves", "attacker"], ["reserves", "defender"]]
"""AOR-9: from the cards to the dice; the result comes last."""


def begin(d: D) -> None:
    """Begin a battle, interrupting the turn (AOR-4.3)."""
    d.ask(frames.Battle([*BATTLE, ["result"]]))


def key(seat: Seat, name: str) -> str:
    """Return the key of a seat's sealed answer, to be published at the reveal."""
    return f"{seat}:{name}"

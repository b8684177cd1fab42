"""AOR-9: how a battle goes on, step by step, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.rules.battle import commit, dice, result
from domain.games.age_of_reason.rules.battle.steps import Next
from domain.games.age_of_reason.state import D
from domain.kernel.rules.flow import Frame

STEPS: dict[str, Callable[..., Next]] = {
    "commit": commit.step_commit,
    "hire": commit.step_hire,
    "reveal": dice.step_reveal,
    "roll": dice.step_roll,
    "reserves": dice.step_reserves,
    "result": result.step_result,
}


def go_battle(d: D, frame: Frame) -> None:
    """Do the steps until one has a question; after the last, continue the turn (AOR-4.3)."""
    todo = list(frame.context(frames.Battle).todo)
    while todo:
        (name, *args), *todo = todo
        if (question := STEPS[str(name)](d, *args)) is not None:
            d.note(todo=todo)
            return d.ask(question.about, *question.seats)
    return d.end()

"""SOE-8: how a combat goes on, step by step, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.struggle_of_empires.rules import (
    actions,
    combat_battle,
    combat_losses,
    combat_naval,
    combat_outcome,
    combat_support,
)
from domain.games.struggle_of_empires.rules.combat_steps import Next, Question
from domain.games.struggle_of_empires.state import D
from domain.kernel.flow import Frame

STEPS: dict[str, Callable[..., Next]] = {
    "support": combat_support.step_support,
    "request": combat_support.step_request,
    "naval": combat_naval.step_naval,
    "naval_choice": combat_naval.step_naval_choice,
    "assign": combat_naval.step_assign,
    "blockade": combat_battle.step_blockade,
    "roll": combat_battle.step_roll,
    "reserve": combat_battle.step_reserve,
    "result": combat_losses.step_result,
    "losses": combat_losses.step_losses,
    "withdrawal": combat_losses.step_withdrawal,
    "apply": combat_losses.step_apply,
    "outcome": combat_outcome.step_outcome,
}


def go_combat(d: D, frame: Frame) -> None:
    """Do the steps until one asks somebody; after the last the turn goes on (SOE-4.3)."""
    todo = list(frame.data["todo"])
    while todo:
        name, *args = todo.pop(0)
        comes = STEPS[name](d, *args)
        if isinstance(comes, Question):
            d.note(todo=todo)
            return d.ask(comes.kind, comes.seat, **comes.context)
        todo = [*comes, *todo]
    d.end()
    d.add({"t": "combat_ended"})
    return actions.end_turn_if_over(d)

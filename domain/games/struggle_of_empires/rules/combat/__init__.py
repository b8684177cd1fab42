"""SOE-8: how a combat goes on, step by step, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.facts.combat import CombatEnded
from domain.games.struggle_of_empires.rules import actions
from domain.games.struggle_of_empires.rules.combat import battle, losses, naval, outcome, support
from domain.games.struggle_of_empires.rules.combat.steps import Next, Question
from domain.games.struggle_of_empires.state import D
from domain.kernel.rules.flow import Frame

STEPS: dict[str, Callable[..., Next]] = {
    "support": support.step_support,
    "request": support.step_request,
    "naval": naval.step_naval,
    "naval_choice": naval.step_naval_choice,
    "assign": naval.step_assign,
    "blockade": battle.step_blockade,
    "roll": battle.step_roll,
    "reserve": battle.step_reserve,
    "result": losses.step_result,
    "losses": losses.step_losses,
    "withdrawal": losses.step_withdrawal,
    "apply": losses.step_apply,
    "outcome": outcome.step_outcome,
}


def go_combat(d: D, frame: Frame) -> None:
    """Do the steps until one has a question; after the last, continue the turn (SOE-4.3)."""
    todo = list(frame.context(frames.Combat).todo)
    while todo:
        (name, *args), *todo = todo
        comes = STEPS[name](d, *args)
        if isinstance(comes, Question):
            d.note(todo=todo)
            return d.ask(comes.about, comes.seat)
        todo = [*comes, *todo]
    d.end()
    d.add(CombatEnded())
    return actions.end_turn_if_over(d)

"""Deadlines: the defaults of all who still owe a decision when its time is over."""

from __future__ import annotations

from domain.errors import DecisionClosed, RuleError
from domain.kernel.game.play_commands import Lapse
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from workers.context import current_context
from workers.jobs.turns import EARLY, GONE, report_gone, report_stored

MAX_RACES = 50
"""How often a lapse is judged anew: each time somebody was given time meanwhile."""


def lapse(game: str, decision: str) -> str:
    """Missed deadlines, if the game says that they have been missed; who has time left goes on thinking."""
    context = current_context()
    for _ in range(MAX_RACES):
        g = context.commands.game(game)
        open_now = decisions(context.registry.get(g.ruleset), g.state, g.rewinds, DIRECTOR) if g.frames else []
        dues = g.due_times([seat for d in open_now if d.id == decision for seat in d.must])
        until = min(context.clock(), context.heartbeat.deadlines_valid_until())
        late = [seat for seat, due in dues.items() if due <= until]
        if not late:  # a lapse that names no seats is one of all seats
            return EARLY if dues else GONE
        try:
            return report_stored(context, context.commands.handle(game, Lapse(decision, late)))
        except (DecisionClosed, RuleError) as error:
            if not (isinstance(error, RuleError) and error.code == "not_due"):  # somebody was given time meanwhile
                return report_gone(error)
    return EARLY

"""Missed deadlines: plays the defaults of all seats past their due time."""

from __future__ import annotations

from domain.errors import DecisionClosed, RuleError
from domain.kernel.game.play_commands import Lapse
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from workers.context import current_context
from workers.jobs.turns import EARLY, GONE, report_gone, report_stored

MAX_RACES = 50
"""Attempts per job. Each time a seat gets more time meanwhile, the job judges again."""


def lapse(game: str, decision: str) -> str:
    """Play the defaults of all seats past their due time; the others keep theirs."""
    context = current_context()
    for _ in range(MAX_RACES):
        g = context.commands.game(game)
        open_now = (
            decisions(context.registry.get(g.ruleset), g.state, g.lasting.rewinds.count, DIRECTOR) if g.frames else []
        )
        dues = g.due_times([seat for d in open_now if d.id == decision for seat in d.must])
        valid_until = min(context.clock(), context.heartbeat.deadlines_valid_until())
        late = [seat for seat, due in dues.items() if due <= valid_until]
        if not late:  # a lapse without seats would mean all seats
            return EARLY if dues else GONE
        try:
            return report_stored(context, context.commands.handle(game, Lapse(decision, late)))
        except (DecisionClosed, RuleError) as error:
            if not (isinstance(error, RuleError) and error.code == "not_due"):  # a seat got more time meanwhile
                return report_gone(error)
    return EARLY

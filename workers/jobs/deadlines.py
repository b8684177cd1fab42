"""Deadlines: the defaults of all who still owe a decision when its time is over."""

from __future__ import annotations

from domain.errors import DecisionClosed, RuleError
from domain.kernel.game.play_commands import Lapse
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from workers.context import crew
from workers.jobs.turns import EARLY, GONE, gone, stored

RACES = 50
"""How often a lapse is judged anew: each time somebody was given time meanwhile."""


def lapse(game: str, decision: str) -> str:
    """Missed deadlines, if the game says that they have been missed; who has time left goes on thinking."""
    hands = crew()
    for _ in range(RACES):
        g = hands.commands.game(game)
        open_now = decisions(hands.catalogue.get(g.ruleset), g.state, g.rewinds, DIRECTOR) if g.frames else []
        dues = g.dues([seat for d in open_now if d.id == decision for seat in d.must])
        until = min(hands.clock(), hands.outages.answered())
        late = [seat for seat, due in dues.items() if due <= until]
        if not late:  # a lapse that names no seats is one of all seats
            return EARLY if dues else GONE
        try:
            return stored(hands, hands.commands.do(game, Lapse(decision, late)))
        except (DecisionClosed, RuleError) as error:
            if not (isinstance(error, RuleError) and error.code == "not_due"):  # somebody was given time meanwhile
                return gone(error)
    return EARLY

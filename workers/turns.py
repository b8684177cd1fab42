"""Turns: the engine's batch work, and the answers of seats that have no player.

A job may be done twice, late, or after its work was done by somebody else: it re-reads the log, and the append takes
only one.
"""

from __future__ import annotations

from domain.commands import Answer
from domain.errors import DecisionClosed, RuleError
from domain.ids import DIRECTOR
from domain.kernel.acts import Lapse, Resolve
from domain.kernel.game import AnyGame
from domain.kernel.ruleset import decisions
from projections.known import turn_id
from workers.crew import Crew, crew

DONE, GONE = "done", "gone"
"""What a job says: it has done the work; there was no such work (any more)."""

_ENDED = ("game_over", "not_running", "not_due")


def resolve(game: str, decision: str) -> str:
    """The engine's work of that decision. The command is named after the job, so the log tells what became of it."""
    hands = crew()
    try:
        return stored(hands, hands.commands.do(game, Resolve(decision), command=turn_id(game, decision)))
    except (DecisionClosed, RuleError) as error:
        return gone(error)


def vacant(game: str, decision: str) -> str:
    """The defaults of those seats that owe that decision and have no player; the others go on thinking."""
    hands = crew()
    seats = vacant_seats(hands, hands.commands.game(game), decision)
    if not seats:  # a lapse that names no seats is one of all seats
        return GONE
    try:
        return stored(hands, hands.commands.do(game, Lapse(decision, seats)))
    except (DecisionClosed, RuleError) as error:
        return gone(error)


def vacant_seats(hands: Crew, p: AnyGame, decision: str) -> list[int]:
    """The seats without a player that owe that decision."""
    if p.status != "running":
        return []
    rules = hands.catalogue.get(p.ruleset)
    owing = {s for d in decisions(rules, p.state, p.rewinds, DIRECTOR) if d.id == decision for s in d.must}
    return sorted(owing & set(p.state.vacant))


def stored(hands: Crew, answer: Answer) -> str:
    """The work is in the log: tell whoever waits for it, unless that was somebody else's."""
    if answer.replayed:
        return GONE
    hands.notify(answer.position)
    return DONE


def gone(error: DecisionClosed | RuleError) -> str:
    """Somebody else did it, or the game went another way; any other refusal is a fault of the rules."""
    if isinstance(error, RuleError) and error.code not in _ENDED:
        raise error
    return GONE

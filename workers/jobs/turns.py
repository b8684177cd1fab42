"""Turns: the engine's batch work, and the answers of seats that have no player.

A job may be done twice, late, or after its work was done by somebody else: it re-reads the log, and the append takes
only one.
"""

from __future__ import annotations

from domain.command_handler import Answer
from domain.errors import DecisionClosed, RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Lapse, Resolve
from domain.kernel.game.table_commands import UNSTARTED, Close, Vacate
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from projections.loaded_game import turn_id
from workers.context import Crew, crew

DONE, GONE, EARLY = "done", "gone", "early"
"""What a job says: it has done the work; there was no such work (any more); there is time left.

`early`: a clock stood still meanwhile, this worker's clock is behind, or nobody who asked after the time was over has
been answered yet.
"""

_ENDED = ("game_over", "not_running", "not_due")


def resolve(game: str, decision: str) -> str:
    """The engine's work of that decision. The command is named after the job, so the log tells what became of it."""
    hands = crew()
    try:
        return stored(hands, hands.commands.do(game, Resolve(decision), command=turn_id(game, decision)))
    except (DecisionClosed, RuleError) as error:
        return gone(error)


def vacant(game: str, decision: str) -> str:
    """What is done for seats that have no player and are not held; the others go on thinking.

    Those that were held until now become vacant; then the defaults of vacant ones that owe that decision are played. A
    hold ends only at a time when somebody who asked for the seat was answered.
    """
    hands = crew()
    g = hands.commands.game(game)
    empty = [*g.kept, *vacant_seats(hands, g, decision)]
    until = min(hands.clock(), hands.outages.answered()) if any(g.accounts[s].held for s in empty) else 0
    seats = [s for s in empty if g.accounts[s].held <= until]
    if not seats:  # a lapse that names no seats is one of all seats
        return EARLY if empty else GONE
    act = Vacate(seats[0]) if seats[0] in g.kept else Lapse(decision, seats)
    try:
        return stored(hands, hands.commands.do(game, act))
    except (DecisionClosed, RuleError) as error:
        return gone(error)


def sweep(game: str, _: str) -> str:
    """Close a table that was never started, once nobody has done anything there for long."""
    hands = crew()
    g = hands.commands.game(game)
    if g.status != "open":
        return GONE
    if hands.clock() < g.at + UNSTARTED:
        return EARLY
    try:
        return stored(hands, hands.commands.do(game, Close("abandoned", "clock"), expected=g.version))
    except (StaleVersion, RuleError):  # somebody has come meanwhile
        return EARLY


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

"""Turns: the engine's batch work, and the answers of seats that have no player.

A job may be done twice, late, or after its work was done by somebody else: it re-reads the log, and the append takes
only one.
"""

from __future__ import annotations

from domain.command_handler import CommandResult
from domain.errors import DecisionClosed, RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Lapse, Resolve
from domain.kernel.game.table_commands import UNSTARTED_LIMIT_MS, Close, Vacate
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from projections.loaded_game import resolve_job_id
from workers.context import WorkerContext, current_context

DONE, GONE, EARLY = "done", "gone", "early"
"""What a job says: it has done the work; there was no such work (any more); there is time left.

`early`: a clock stood still meanwhile, this worker's clock is behind, or nobody who asked after the time was over has
been answered yet.
"""

_ENDED = ("game_over", "not_running", "not_due")


def resolve(game: str, decision: str) -> str:
    """The engine's work of that decision. The command is named after the job, so the log tells what became of it."""
    context = current_context()
    try:
        return report_stored(
            context, context.commands.handle(game, Resolve(decision), idempotency_key=resolve_job_id(game, decision))
        )
    except (DecisionClosed, RuleError) as error:
        return report_gone(error)


def play_vacant_seats(game: str, decision: str) -> str:
    """What is done for seats that have no player and are not held; the others go on thinking.

    Those that were held until now become vacant; then the defaults of vacant ones that owe that decision are played. A
    hold ends only at a time when somebody who asked for the seat was answered.
    """
    context = current_context()
    g = context.commands.game(game)
    empty = [*g.unvacated_seats, *list_vacant_seats(context, g, decision)]
    until = (
        min(context.clock(), context.heartbeat.deadlines_valid_until())
        if any(g.time_banks[s].hold_end for s in empty)
        else 0
    )
    seats = [s for s in empty if g.time_banks[s].hold_end <= until]
    if not seats:  # a lapse that names no seats is one of all seats
        return EARLY if empty else GONE
    act = Vacate(seats[0]) if seats[0] in g.unvacated_seats else Lapse(decision, seats)
    try:
        return report_stored(context, context.commands.handle(game, act))
    except (DecisionClosed, RuleError) as error:
        return report_gone(error)


def close_unstarted(game: str, _: str) -> str:
    """Close a table that was never started, once nobody has done anything there for long."""
    context = current_context()
    g = context.commands.game(game)
    if g.status != "open":
        return GONE
    if context.clock() < g.time + UNSTARTED_LIMIT_MS:
        return EARLY
    try:
        return report_stored(context, context.commands.handle(game, Close("abandoned", "clock"), expected=g.version))
    except (StaleVersion, RuleError):  # somebody has come meanwhile
        return EARLY


def list_vacant_seats(context: WorkerContext, p: AnyGame, decision: str) -> list[int]:
    """The seats without a player that owe that decision."""
    if p.status != "running":
        return []
    rules = context.registry.get(p.ruleset)
    owing = {s for d in decisions(rules, p.state, p.rewinds, DIRECTOR) if d.id == decision for s in d.must}
    return sorted(owing & set(p.state.vacant))


def report_stored(context: WorkerContext, result: CommandResult) -> str:
    """The work is in the log: tell whoever waits for it, unless that was somebody else's."""
    if result.replayed:
        return GONE
    context.notify_appended(result.position)
    return DONE


def report_gone(error: DecisionClosed | RuleError) -> str:
    """Somebody else did it, or the game went another way; any other refusal is a fault of the rules."""
    if isinstance(error, RuleError) and error.code not in _ENDED:
        raise error
    return GONE

"""Turns: the engine's decisions, and the answers of vacant seats.

A job may run twice, late, or after another job did its work: it reads the log again, and only one append succeeds.
"""

from __future__ import annotations

from domain.command_handler import CommandResult, GameConditions
from domain.errors import DecisionClosed, RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.last_turn import find_adjournment
from domain.kernel.game.play_commands import Lapse, Resolve
from domain.kernel.game.ruling_commands import RuleEnding
from domain.kernel.game.table_commands import UNSTARTED_LIMIT_MS, Close, Vacate
from domain.kernel.rules.decide import decisions
from domain.types import DIRECTOR
from projections.loaded_game import resolve_job_id
from workers.context import WorkerContext, current_context

DONE, GONE, EARLY = "done", "gone", "early"
"""Results of a job: work done; nothing (left) to do; too early.

Reasons for `early`: the game's clock stood still meanwhile, this worker's clock is behind, or the service has not
answered any request since the due time.
"""

_ENDED = ("game_over", "not_running", "not_due")
_PAUSED = "game_paused"


def resolve(game: str, decision: str) -> str:
    """Resolve an engine decision. Its idempotency key is the job id, so the log shows the outcome."""
    context = current_context()
    try:
        return report_stored(
            context,
            context.commands.handle(
                game, Resolve(decision), GameConditions(idempotency_key=resolve_job_id(game, decision))
            ),
        )
    except (DecisionClosed, RuleError) as error:
        return report_gone(error)


def play_vacant_seats(game: str, decision: str) -> str:
    """Act for seats without a player and without a hold; other seats keep their time.

    First, seats with a hold that has ended become vacant; then the defaults of vacant seats are played. A hold ends
    only at a time when the service answered requests for the seat.
    """
    context = current_context()
    g = context.commands.game(game)
    empty = [*g.unvacated_seats, *list_vacant_seats(context, g, decision)]
    valid_until = (
        min(context.clock(), context.heartbeat.deadlines_valid_until())
        if any(g.timing.banks[s].hold_end for s in empty)
        else 0
    )
    seats = [s for s in empty if g.timing.banks[s].hold_end <= valid_until]
    if not seats or g.pause_at(context.clock()):  # a lapse without seats would mean all seats
        return EARLY if empty else GONE
    act = Vacate(seats[0]) if seats[0] in g.unvacated_seats else Lapse(decision, seats)
    try:
        return report_stored(context, context.commands.handle(game, act))
    except (DecisionClosed, RuleError) as error:
        return report_gone(error)


def close_unstarted(game: str, _: str) -> str:
    """Close a table that was never started and had no activity for a long time."""
    context = current_context()
    g = context.commands.game(game)
    if g.status != "open":
        return GONE
    if context.clock() < g.time + UNSTARTED_LIMIT_MS:
        return EARLY
    try:
        return report_stored(
            context, context.commands.handle(game, Close("abandoned", "clock"), GameConditions(expected=g.version))
        )
    except (StaleVersion, RuleError):  # the table got activity meanwhile
        return EARLY


def close_ruled(game: str, _: str) -> str:
    """Close a game that a ruling has ended, once nobody can withdraw it any more."""
    context = current_context()
    g = context.commands.game(game)
    ruling = g.pending_ruling
    if ruling is None:
        return GONE
    if min(context.clock(), context.heartbeat.deadlines_valid_until()) < ruling.final_at:
        return EARLY
    try:
        return report_stored(
            context, context.commands.handle(game, Close(ruling.reason, "clock"), GameConditions(expected=g.version))
        )
    except (StaleVersion, RuleError):  # it was withdrawn meanwhile
        return EARLY


def adjourn_at_limit(game: str, _: str) -> str:
    """End a game after its time limit and its last turn, with places by its state, and close it."""
    context = current_context()
    g = context.commands.game(game)
    end = find_adjournment(context.registry.get(g.ruleset), g)
    if end is None:
        return GONE
    if min(context.clock(), context.heartbeat.deadlines_valid_until()) < end:
        return EARLY
    ruling = RuleEnding("adjourned", final_after=0, by="clock")
    try:
        report_stored(context, context.commands.handle(game, ruling, GameConditions(expected=g.version)))
    except (StaleVersion, RuleError):  # a move or a pause came meanwhile
        return EARLY
    return close_ruled(game, _)


def list_vacant_seats(context: WorkerContext, p: AnyGame, decision: str) -> list[int]:
    """Return the vacant seats that owe the decision."""
    if p.status != "running":
        return []
    rules = context.registry.get(p.ruleset)
    owing = {
        s for d in decisions(rules, p.state, p.lasting.rewinds.count, DIRECTOR) if d.id == decision for s in d.must
    }
    return sorted(owing & set(p.state.vacant))


def report_stored(context: WorkerContext, result: CommandResult) -> str:
    """Signal the new records, unless another job stored them; return the job's result."""
    if result.replayed:
        return GONE
    context.notify_appended(result.position)
    return DONE


def report_gone(error: DecisionClosed | RuleError) -> str:
    """Return GONE if the work is no longer needed, EARLY during a pause; raise other refusals: faults of the rules."""
    if isinstance(error, RuleError) and error.code == _PAUSED:
        return EARLY
    if isinstance(error, RuleError) and error.code not in _ENDED:
        raise error
    return GONE

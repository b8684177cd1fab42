"""Proposals: the command is executed once all seats have agreed, or have neither answered nor played for a week.

The votes are those of the seats that have people when the command is executed.
"""

from __future__ import annotations

from domain.command_handler import GameConditions
from domain.kernel.game.director_commands import Depute
from domain.kernel.game.proposals import SILENCE_MS, command_of_proposal, list_silent_seats
from domain.kernel.game.record_builder import Agreement, voting_seats
from domain.kernel.game.table_commands import Join, Leave
from domain.kernel.records.record import Record
from domain.service.database import Statement
from domain.service.job_requests import JobRequest
from domain.service.seat_tokens import SeatTokens
from domain.types import Doc
from workers.context import WorkerContext
from workers.jobs import runner


def run_proposal(id_: str) -> str:
    """Execute a proposal if it is agreed on; return `settled` or `waits`."""
    return runner.run_request(id_, _execute_proposal)


def _execute_proposal(context: WorkerContext, request: JobRequest) -> Doc:
    args, silent = request.args or {}, list[int]()
    command = command_of_proposal(args["act"] | ({"pace": args["pace"]} if "pace" in args else {}))
    if context.ledger.find_command(request.game, request.id) is None:
        if request.declined:
            return {"refused": "declined"}
        game = context.commands.game(request.game)
        if missing := set(request.missing_seats).intersection(voting_seats(game, args["seat"])):
            now = context.clock()
            if now < request.at + SILENCE_MS:
                return {}
            later = context.ledger.read(request.game, after=request.version)
            silent = list_silent_seats(game, command, later, sorted(missing), request.at, now)
            if len(silent) < len(missing):
                return {"refused": "consent_missing"}
        if _has_changed_hands(context, request):
            return {"refused": "consent_missing"}

    def extra_statements(_: Record) -> list[Statement]:
        tokens = SeatTokens(context.ledger, context.ledger.keys)
        if isinstance(command, Depute):
            return tokens.officers.appoint(request.game, command.player, command.role)
        seat = command.seat if isinstance(command, Leave | Join) else None
        return [] if seat is None else tokens.revoke(request.game, seat)

    result = context.commands.handle(
        request.game,
        command,
        GameConditions(
            agreement=Agreement(args["seat"], request.agreed, silent),
            idempotency_key=request.id,
            extra_statements=extra_statements,
        ),
    )
    context.notify_appended(result.position)
    return {"version": result.versions[-1], "position": result.position}


def _has_changed_hands(context: WorkerContext, request: JobRequest) -> bool:
    """Return whether somebody else sits at the author's seat, or at one that has agreed: votes are people's."""
    args, players = request.args or {}, context.commands.game(request.game).players
    seats = [args["seat"], *request.agreed]
    return any(players[seat].id != args.get("players", {}).get(str(seat), players[seat].id) for seat in seats)

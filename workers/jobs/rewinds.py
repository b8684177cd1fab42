"""Rewinds: appends the rewind to the exact version that the request named.

A move that came in between therefore wins, and the rewind changes nothing.
"""

from __future__ import annotations

from domain.command_handler import GameConditions
from domain.errors import StaleVersion
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.officers import Officer
from domain.kernel.game.undo import build_motion, check_consent
from domain.service.job_requests import JobRequest
from domain.types import Doc
from workers.context import WorkerContext
from workers.jobs import runner


def run_rewind(id_: str) -> str:
    """Run a requested rewind once all necessary seats have agreed."""
    return runner.run_request(id_, _append_rewind)


def _append_rewind(context: WorkerContext, request: JobRequest) -> Doc:
    args = request.args or {}
    head = context.ledger.version(request.game)  # first, so that the next line finds the work of other workers
    if context.ledger.find_command(request.game, request.id) is None:
        if request.declined:
            return {"refused": "declined"}
        if head != request.version:
            raise StaleVersion(request.version, head)
        if request.is_expired(context.clock()):
            return {"refused": "motion_expired"}
        if not request.is_ready:
            return {}
        if args["seat"] is not None:
            _check_still_allowed(context, request, args)
    result = context.commands.handle(
        request.game,
        Rewind(
            args["to"],
            by="director" if args["seat"] is None else "seat",
            seat=args["seat"],
            consent=request.agreed,
            reason=args["reason"],
            fresh=args["fresh"],
        ),
        GameConditions(
            expected=request.version,
            author=Officer.from_json(args["officer"]) if args.get("officer") else None,
            idempotency_key=request.id,
        ),
    )
    context.notify_appended(result.position)
    return {"version": result.versions[-1], "position": result.position}


def _check_still_allowed(context: WorkerContext, request: JobRequest, args: Doc) -> None:
    """Check the consent again with full information. The request was checked with the seat's own view."""
    position = context.commands.game(request.game)
    records = context.ledger.read(request.game, args["to"], request.version)
    rules = context.registry.get(position.ruleset)
    policy, fresh = position.terms.get("undo", "consent"), bool(args["fresh"])
    motion = build_motion(rules, position, records, args["to"], args["seat"], policy, fresh=fresh)
    check_consent(motion, request.agreed)

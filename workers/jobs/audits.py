"""Audits: prove a whole game again, running or closed."""

from __future__ import annotations

import logging

from domain.errors import StoreDamaged, UnknownGame, VerificationError
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.service.job_requests import JobRequest
from domain.types import DIRECTOR, Doc, Json
from projections.stored_outlines import StoredOutlines
from workers.context import WorkerContext
from workers.jobs import parallel_audit, runner

log = logging.getLogger("annals.audit")


def run_audit(id_: str) -> str:
    """Run a requested audit; its outcome is the report."""
    return runner.run_long_request(id_, _audit)


def _audit(context: WorkerContext, request: JobRequest) -> Doc:
    return audit_game(context, request.game)


def audit_game(context: WorkerContext, game: str) -> dict[str, Json]:
    """Return the counts of all that was proved, or code and version of the first fault.

    Repeats every draw and decision, for a running game with its secret seed. Details of a fault are left out, because
    they could reveal secrets.
    """
    try:
        records = context.ledger.read(game)
        if not records:
            raise UnknownGame(game)
        rules = context.registry.get(records[0].body["ruleset"])
        export_ = export.parse(export.dump(records, DIRECTOR))
        seed = b"" if records[-1].kind == "closed" else context.seed_store.seed(game)
        report = verify.verify(rules, export_, seed=seed, replayer=parallel_audit.replay).to_json()
    except VerificationError as error:
        context.inspector.inspect(game)
        return {"verified": False, "game": game, "code": error.code, "version": error.version}
    except StoreDamaged:
        return {"verified": False, "game": game, "code": "unreadable", "version": context.inspector.inspect(game) or 0}
    history = context.history
    for kind, stored in (("keyframes", history), ("outlines", StoredOutlines(history))):
        if not stored.check(game, records):
            log.error("%s of %s are not what its records give: they are dropped, and made again", kind, game)
    return {"verified": True, **report}

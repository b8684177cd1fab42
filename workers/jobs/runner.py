"""Runs requested jobs from their rows and stores their outcomes."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import (
    DecisionClosed,
    GameDamaged,
    RuleError,
    StaleVersion,
    StoreUnavailable,
    UnknownGame,
    ViewsDamaged,
)
from domain.service.job_requests import Doc, JobRequest
from workers.context import WorkerContext, current_context
from workers.maintenance.corruption_handler import check_suspect

log = logging.getLogger("annals.errands")

SETTLED, WAITS = "settled", "waits"
"""Results of a job: the row has the outcome; some seats must still agree."""

_BROKEN: Doc = {"refused": "internal_error"}
_DAMAGED: Doc = {"refused": "record_damaged"}

RequestFunction = Callable[[WorkerContext, JobRequest], Doc]


def run_request(id_: str, function: RequestFunction) -> str:
    """Run a request without an outcome and store its outcome. A refusal is an outcome too.

    While the store is away nothing is written, so the row stays open and the job runs again.
    """
    context = current_context()
    request = context.job_requests.find(id_)
    if request is None or request.outcome is not None:
        return SETTLED
    try:
        outcome: Doc | None = function(context, request)
    except StoreUnavailable as error:
        if isinstance(error, ViewsDamaged):  # retries fail until a restart rebuilds the views
            context.job_requests.record_outcome(id_, _BROKEN)
        raise
    except Exception as error:
        outcome = _refusal(error)
        if outcome is None and request.game and check_suspect(context, request.game):
            outcome = _DAMAGED
        if outcome is None:
            context.job_requests.record_outcome(id_, _BROKEN)
            raise
    if not outcome:
        return WAITS
    context.job_requests.record_outcome(id_, outcome)
    return SETTLED


def _refusal(error: Exception) -> Doc | None:
    match error:
        case StaleVersion():
            return {"refused": "stale_version", "version": error.version}
        case RuleError():
            return {"refused": error.code}
        case DecisionClosed():
            return {"refused": "decision_closed"}
        case UnknownGame():
            return {"refused": "unknown_game"}
        case GameDamaged():
            return _DAMAGED
    return None

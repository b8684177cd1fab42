"""Errands as jobs: each is done from its row, and what came of it is written there."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import GameDamaged, RuleError, StaleVersion, StoreUnavailable, UnknownGame, ViewsDamaged
from domain.service.job_requests import Doc, JobRequest
from workers.context import WorkerContext, current_context
from workers.maintenance.corruption_handler import check_suspect

log = logging.getLogger("annals.errands")

SETTLED, WAITS = "settled", "waits"
"""What a job says: the row tells what came of it; seats must still agree."""

_BROKEN: Doc = {"refused": "internal_error"}
_DAMAGED: Doc = {"refused": "record_damaged"}

RequestFunction = Callable[[WorkerContext, JobRequest], Doc]


def run_request(id_: str, function: RequestFunction) -> str:
    """Do the errand unless that was done, and write down what came of it. What is refused is an outcome as well.

    While the store is away nothing can be written: the row stands, and so the errand is tried again.
    """
    context = current_context()
    request = context.job_requests.find(id_)
    if request is None or request.outcome is not None:
        return SETTLED
    try:
        outcome: Doc | None = function(context, request)
    except StoreUnavailable as error:
        if isinstance(error, ViewsDamaged):  # it would fail again until a start makes them anew
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
        case UnknownGame():
            return {"refused": "unknown_game"}
        case GameDamaged():
            return _DAMAGED
    return None

"""Runs requested jobs from their rows and stores their outcomes."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from domain.errors import (
    DecisionClosed,
    GameDamaged,
    RuleError,
    StaleVersion,
    StoreUnavailable,
    UnknownGame,
    ViewsDamaged,
)
from domain.service.job_requests import JobRequest
from domain.types import Doc
from projections.leases import LeaseLostError, acquire_lease, release_lease
from workers.context import WorkerContext, current_context
from workers.maintenance.corruption_handler import check_suspect

log = logging.getLogger("annals.errands")

LEASE_MS = 60_000
"""Lifetime of the lease of a long job without renewal, ms: the longest pause after its worker was killed."""

RENEW_SECONDS = 10.0
"""Seconds between two renewals."""

SETTLED, WAITS = "settled", "waits"
"""Results of a job: the row has the outcome; some seats must still agree, or another worker is at it."""

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


def run_long_request(id_: str, function: RequestFunction) -> str:
    """Run a request like `run_request`, and leave it alone while another worker holds its lease."""
    return run_request(id_, lambda context, request: _run_alone(context, request, function))


def _run_alone(context: WorkerContext, request: JobRequest, function: RequestFunction) -> Doc:
    with _hold_lease(context, f"job-{request.id}") as is_held:
        stored = context.job_requests.find(request.id) if is_held else None
        return {} if stored is None or stored.outcome is not None else function(context, request)


@contextmanager
def _hold_lease(context: WorkerContext, name: str) -> Iterator[bool]:
    """Hold a lease and renew it meanwhile; yield False if another worker holds it."""
    owner, ended = secrets.token_hex(8), threading.Event()

    def renew() -> None:
        with context.views.transaction() as db:
            acquire_lease(db, name, owner, context.clock(), LEASE_MS)

    def renew_until_end() -> None:
        while not ended.wait(RENEW_SECONDS):
            with suppress(StoreUnavailable, LeaseLostError):  # a second run changes nothing
                renew()

    try:
        renew()
    except LeaseLostError:
        yield False
        return
    thread = threading.Thread(target=renew_until_end, name="lease", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        ended.set()
        thread.join()
        with suppress(StoreUnavailable), context.views.transaction() as db:  # else it ends by itself
            release_lease(db, name, owner)


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

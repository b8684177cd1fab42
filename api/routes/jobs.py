"""Status of batch work, read from rows and log: it stays correct after a loss of Redis."""

from __future__ import annotations

from api import authorization
from api.documents import undo_requests
from api.documents.proposals import proposal_status
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import CODES, Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.boards import load_visible_table
from api.schemas.history_responses import JobDoc, JobStatusDoc
from api.services import ApiServices, services
from api.visibility import visibility_of
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.decide import decisions
from domain.service.job_requests import JobRequest
from domain.types import DIRECTOR

bp = Blueprint("jobs", __name__, url_prefix="/v1/jobs", description="Status of batch work.")


@bp.operation(
    "GET",
    "/<job:job>",
    "job",
    access=authorization.optional_person("read"),
    errors=(403, 404),
)
def get_job(job: str) -> JsonResponse[JobDoc]:
    """Return the status of batch work: a turn's resolution, a rewind, an audit, or a rebuild of the views."""
    s = services()
    doc = _resolution_to_json(s, job) if job.startswith("resolve-") else _job_to_json(s, job)
    caller = authorization.optional_principal()
    if caller is not None and doc["game"]:
        authorization.check_token_game(caller, doc["game"])
    return json_response(doc, cache="private, no-cache")


def _failure_to_json(job: str, code: str) -> JobStatusDoc:
    """Return the status of a failed job with its problem."""
    problem = Problem(code, kind=code if code in CODES else "refused")
    return {"status": "failed", "problem": problem.to_document(f"/v1/jobs/{job}", request_language())}


def _pending(hint: str) -> JobStatusDoc:
    """Return the status of a job without a result, by the queue's state of it."""
    return {"status": "running" if hint == "running" else "queued"}


def _result_to_json(s: ApiServices, game: str, job: str) -> JobStatusDoc | None:
    """Return the status of a job with a stored record, or None. The job's id is its command's id."""
    row = s.ledger.find_command(game, job)
    return None if row is None else {"status": "done", "version": row.last, "position": row.positions[-1]}


# --- turns -----------------------------------------------------------------------------------------------------


def _resolution_to_json(s: ApiServices, job: str) -> JobDoc:
    """Return the status of the engine's work on a decision. The job's id contains game and decision."""
    game, decision = job[len("resolve-") :][:36], job[len("resolve-") + 37 :]
    rules, p = load_visible_table(game)  # before the search for a record, or a resolution in between would be missed
    delayed = visibility_of(game).upto is not None
    if (done := _result_to_json(s, game, job)) is not None and not (delayed and done["version"] > p.version):
        return {"id": job, "work": "resolve", "game": game, **done}
    open_now = decisions(rules, p.state, p.lasting.rewinds.count, DIRECTOR) if p.status == "running" else []
    if any(d.id == decision and d.engine for d in open_now):
        hint = "" if delayed else s.job_state(job)
        status = _failure_to_json(job, "internal_error") if hint == "failed" else _pending(hint)
        return {"id": job, "work": "resolve", "game": game, **status}
    if not _has_existed(p, decision):
        raise Problem("not_found")
    return {"id": job, "work": "resolve", "game": game, **_failure_to_json(job, "decision_closed")}


def _has_existed(p: AnyGame, decision: str) -> bool:
    """Return True if the game has had a decision with this id."""
    rewinds_, n = map(int, decision.split("-"))
    return n > 0 and (
        rewinds_ < p.lasting.rewinds.count or (rewinds_ == p.lasting.rewinds.count and n <= p.state.opened)
    )


# --- job requests ----------------------------------------------------------------------------------------------


def _job_to_json(s: ApiServices, job: str) -> JobDoc:
    """Return the status of a requested job. Raise Problem."""
    job_request = s.job_requests.find(job)
    if job_request is None or not undo_requests.is_visible(job_request):
        raise Problem("not_found")
    to_json = _request_to_json if job_request.work in ("rewind", "proposal") else _operator_job_to_json
    return {"id": job, "work": job_request.work, "game": job_request.game or None, **to_json(s, job_request)}


def _request_to_json(s: ApiServices, job_request: JobRequest) -> JobStatusDoc:
    """Return the status of a rewind or a proposal."""
    status_of = undo_requests.request_status if job_request.work == "rewind" else proposal_status
    status, code = status_of(s, job_request)
    if status == "done":
        return _result_to_json(s, job_request.game, job_request.id) or {"status": "done"}
    if code:
        return _failure_to_json(job_request.id, code)
    if status == "open":
        return {"status": "waiting", "progress": {"done": len(job_request.agreed), "of": len(job_request.asked)}}
    return _pending(s.job_state(job_request.id))


def _operator_job_to_json(s: ApiServices, job_request: JobRequest) -> JobStatusDoc:
    """Return the status of an audit or rebuild, without its figures.

    Figures of a running game would count hidden data.
    """
    outcome = job_request.outcome
    if outcome is None:
        doc = _pending(s.job_state(job_request.id))
        if job_request.work == "rebuild" and (progress := s.reader.rebuild_progress()):
            doc["progress"] = {"done": progress[0], "of": progress[1]}
        return doc
    if "refused" in outcome:
        return _failure_to_json(job_request.id, outcome["refused"])
    if job_request.work == "audit":
        return {"status": "done", "proved": outcome["verified"]}
    return {"status": "done", "position": outcome["position"]}

"""Jobs: how batch work stands, told by rows and log, so that it is true also after Redis was emptied."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents import undo_requests
from api.http.i18n import request_language
from api.http.problems import CODES, Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.boards import load_visible_table
from api.schemas.history_responses import JobSchema
from api.services import ApiServices, Doc, services
from api.visibility import visibility_of
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.decide import decisions
from domain.service.job_requests import JobRequest
from domain.types import DIRECTOR

bp = Blueprint("jobs", __name__, url_prefix="/v1/jobs", description="Batch work.")


@bp.operation(
    "GET", "/<job:job>", "job", access=authorization.optional_person("read"), errors=(403, 404), response=JobSchema
)
def get_job(job: str) -> Response:
    """Read how batch work stands: the resolution of a turn, a rewind, an audit, a rebuild of the views."""
    s = services()
    doc = _resolution_to_json(s, job) if job.startswith("resolve-") else _job_to_json(s, job)
    who = authorization.optional_principal()
    if who is not None and doc["game"]:
        authorization.check_token_game(who, doc["game"])
    return json_response(doc, cache="private, no-cache")


def _failure_to_json(job: str, code: str) -> Doc:
    problem = Problem(code, kind=code if code in CODES else "refused")
    return {"status": "failed", "problem": problem.to_document(f"/v1/jobs/{job}", request_language())}


def _result_to_json(s: ApiServices, game: str, job: str) -> Doc | None:
    """What the job has stored, if it has: its id is that of its command."""
    row = s.ledger.find_command(game, job)
    return None if row is None else {"status": "done", "version": row.last, "position": row.positions[-1]}


# --- turns -----------------------------------------------------------------------------------------------------


def _resolution_to_json(s: ApiServices, job: str) -> Doc:
    """The engine's work of a decision; its id is in the name of the job."""
    game, decision = job[len("resolve-") :][:36], job[len("resolve-") + 37 :]
    rules, p = load_visible_table(game)  # first: what was resolved by then is found afterwards
    doc: Doc = {"id": job, "work": "resolve", "game": game}
    late = visibility_of(game).upto is not None
    if (done := _result_to_json(s, game, job)) is not None and not (late and done["version"] > p.version):
        return doc | done
    open_now = decisions(rules, p.state, p.rewinds, DIRECTOR) if p.status == "running" else []
    if any(d.id == decision and d.engine for d in open_now):
        hint = "" if late else s.job_state(job)
        return doc | (_failure_to_json(job, "internal_error") if hint == "failed" else {"status": hint or "queued"})
    if not _has_existed(p, decision):
        raise Problem("not_found")
    return doc | _failure_to_json(job, "decision_closed")


def _has_existed(p: AnyGame, decision: str) -> bool:
    """Whether there has been a decision of that id, of which nothing is known but that it is not open."""
    rewinds_, n = map(int, decision.split("-"))
    return n > 0 and (rewinds_ < p.rewinds or (rewinds_ == p.rewinds and n <= p.state.opened))


# --- errands ---------------------------------------------------------------------------------------------------


def _job_to_json(s: ApiServices, job: str) -> Doc:
    errand = s.job_requests.find(job)
    if errand is None or not undo_requests.is_visible(errand):
        raise Problem("not_found")
    doc: Doc = {"id": job, "work": errand.work, "game": errand.game or None}
    return doc | (_rewind_to_json(s, errand) if errand.work == "rewind" else _operator_job_to_json(s, errand))


def _rewind_to_json(s: ApiServices, errand: JobRequest) -> Doc:
    word, code = undo_requests.request_status(s, errand)
    if word == "done":
        return _result_to_json(s, errand.game, errand.id) or {}
    if code:
        return _failure_to_json(errand.id, code)
    if word == "open":
        return {"status": "waiting", "progress": {"done": len(errand.agreed), "of": len(errand.asked)}}
    return {"status": "running" if s.job_state(errand.id) == "running" else "queued"}


def _operator_job_to_json(s: ApiServices, errand: JobRequest) -> Doc:
    """An audit's figures are the operator's: those of a running game count what is hidden."""
    outcome = errand.outcome
    if outcome is None:
        doc: Doc = {"status": "running" if s.job_state(errand.id) == "running" else "queued"}
        made = s.reader.rebuild_progress() if errand.work == "rebuild" else None
        return doc | ({"progress": {"done": made[0], "of": made[1]}} if made else {})
    if "refused" in outcome:
        return _failure_to_json(errand.id, outcome["refused"])
    more = {"proved": outcome["verified"]} if errand.work == "audit" else {"position": outcome["position"]}
    return {"status": "done"} | more

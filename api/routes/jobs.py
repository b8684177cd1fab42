"""Jobs: how batch work stands, told by rows and log, so that it is true also after Redis was emptied."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents import undo_requests
from api.http.i18n import language
from api.http.problems import CODES, Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.routes.boards import seen_table
from api.schemas.history_responses import JobSchema
from api.services import Doc, Services, services
from api.visibility import sight
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.decide import decisions
from domain.service.job_requests import Errand
from domain.types import DIRECTOR

room = Blueprint("jobs", __name__, url_prefix="/v1/jobs", description="Batch work.")


@room.route("/<job:job>", methods=["GET"])
@authorization.known("read")
@fails(403, 404)
@room.response(200, JobSchema)
@room.doc(operationId="job")
def get_job(job: str) -> Response:
    """Read how batch work stands: the resolution of a turn, a rewind, an audit, a rebuild of the views."""
    s = services()
    doc = _turn(s, job) if job.startswith("resolve-") else _errand(s, job)
    who = authorization.asking()
    if who is not None and doc["game"]:
        authorization.at_table(who, doc["game"])
    return answer(doc, cache="private, no-cache")


def _failed(job: str, code: str) -> Doc:
    problem = Problem(code, kind=code if code in CODES else "refused")
    return {"status": "failed", "problem": problem.doc(f"/v1/jobs/{job}", language())}


def _stored(s: Services, game: str, job: str) -> Doc | None:
    """What the job has stored, if it has: its id is that of its command."""
    row = s.ledger.command(game, job)
    return None if row is None else {"status": "done", "version": row.last, "position": row.positions[-1]}


# --- turns -----------------------------------------------------------------------------------------------------


def _turn(s: Services, job: str) -> Doc:
    """The engine's work of a decision; its id is in the name of the job."""
    game, decision = job[len("resolve-") :][:36], job[len("resolve-") + 37 :]
    rules, p = seen_table(game)  # first: what was resolved by then is found afterwards
    doc: Doc = {"id": job, "work": "resolve", "game": game}
    late = sight(game).upto is not None
    if (done := _stored(s, game, job)) is not None and not (late and done["version"] > p.version):
        return doc | done
    open_now = decisions(rules, p.state, p.rewinds, DIRECTOR) if p.status == "running" else []
    if any(d.id == decision and d.engine for d in open_now):
        hint = "" if late else s.job_state(job)
        return doc | (_failed(job, "internal_error") if hint == "failed" else {"status": hint or "queued"})
    if not _was(p, decision):
        raise Problem("not_found")
    return doc | _failed(job, "decision_closed")


def _was(p: AnyGame, decision: str) -> bool:
    """Whether there has been a decision of that id, of which nothing is known but that it is not open."""
    rewinds_, n = map(int, decision.split("-"))
    return n > 0 and (rewinds_ < p.rewinds or (rewinds_ == p.rewinds and n <= p.state.opened))


# --- errands ---------------------------------------------------------------------------------------------------


def _errand(s: Services, job: str) -> Doc:
    errand = s.errands.find(job)
    if errand is None or not undo_requests.visible(errand):
        raise Problem("not_found")
    doc: Doc = {"id": job, "work": errand.work, "game": errand.game or None}
    return doc | (_rewind(s, errand) if errand.work == "rewind" else _asked(s, errand))


def _rewind(s: Services, errand: Errand) -> Doc:
    word, code = undo_requests.status(s, errand)
    if word == "done":
        return _stored(s, errand.game, errand.id) or {}
    if code:
        return _failed(errand.id, code)
    if word == "open":
        return {"status": "waiting", "progress": {"done": len(errand.agreed), "of": len(errand.asked)}}
    return {"status": "running" if s.job_state(errand.id) == "running" else "queued"}


def _asked(s: Services, errand: Errand) -> Doc:
    """An audit's figures are the operator's: those of a running game count what is hidden."""
    outcome = errand.outcome
    if outcome is None:
        doc: Doc = {"status": "running" if s.job_state(errand.id) == "running" else "queued"}
        made = s.reader.rebuilding() if errand.work == "rebuild" else None
        return doc | ({"progress": {"done": made[0], "of": made[1]}} if made else {})
    if "refused" in outcome:
        return _failed(errand.id, outcome["refused"])
    more = {"proved": outcome["verified"]} if errand.work == "audit" else {"position": outcome["position"]}
    return {"status": "done"} | more

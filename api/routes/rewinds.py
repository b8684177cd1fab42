"""Going back: a rewind is asked for, agreed to where others are concerned, and done by a worker."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.undo_requests import (
    build_undo_request,
    is_visible,
    public_undo_request,
    request_status,
    request_to_json,
)
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import (
    idempotency_key,
    if_match_version,
    json_response,
    load_table,
    missing_game,
    opening_terms,
)
from api.schemas.play_responses import MotionSchema, RewindDocSchema, RewindsSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import ConsentSchema, RewindSchema
from api.services import Doc, services
from api.visibility import visibility_of
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.undo import build_motion, check_may_undo, public_draws, undone_records, visible_record
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.service.job_requests import JobRequest, new_id
from domain.service.principals import Principal
from domain.types import Seat

bp = Blueprint("rewinds", __name__, url_prefix="/v1/games", description="Going back.")

PRIVATE = "private, no-cache"
_PAGE_SIZE = 50
_MAX_PER_VERSION = 20
"""Rewinds of one version that may stand: a worker does one of them, and all others fail."""
_LOCATION = {
    "Location": {"schema": {"type": "string"}, "description": "The job, or the motion that seats must agree to."}
}


# --- asking ----------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/rewinds",
    "rewind",
    access=authorization.require_role,
    errors=(403, 404, 409, 412, 428),
    body=RewindSchema,
    headers=MoveHeaders,
    response=RewindDocSchema,
    status=202,
    response_headers=_LOCATION,
)
def rewind(body: Doc, headers: Doc, game: str) -> Response:
    """Ask to go back to a version; nothing is deleted.

    A worker does it on the version that is named, or not at all. A seat may ask where the table and the rules let it;
    if others have learnt or done anything since, the request becomes a motion that they must agree to. A director may
    always, and gives the reason.
    """
    expected = if_match_version(headers["match"])
    if expected is None:
        raise Problem("precondition_required", "Send If-Match with the version you have seen.")
    s, who, named = services(), authorization.principal(), idempotency_key(headers["key"])
    rules, now = load_table(game)
    if who.seat is not None and (body["fresh"] or body["reason"]):
        raise Problem("directors_only", "Only a director may send `reason` or `fresh`.")
    id_ = new_id("rewind", named[:24] if named else "")
    before = s.job_requests.find(id_)
    if before is not None:
        return _accepted_response(_check_same_request(before, who, expected, body), replayed=True)
    if named and s.ledger.find_command(game, named):
        raise Problem("idempotency_key_reused")
    gone, consents = _plan_rewind(rules, now, who.seat, body["to"], expected)
    _check_rewind_limit(game, expected)
    reason = s.seat_tokens.texts.store_text(who.player, body["reason"]) if body["reason"] else ""
    args = {"to": body["to"], "seat": who.seat, "fresh": body["fresh"], "reason": reason}
    args |= {"undone": [r.version for r in gone], "draws": public_draws(gone)}
    asked = s.job_requests.submit(JobRequest(id_, "rewind", game, expected, args, consents, s.clock()))
    if asked is None:
        raise Problem("motion_open")
    s.notify_changed(game)
    return _accepted_response(_check_same_request(asked, who, expected, body))


def _check_rewind_limit(game: str, version: int) -> None:
    asked = services().job_requests.list_rewinds(game, _PAGE_SIZE)
    if sum(e.version == version and e.outcome is None and not e.declined for e in asked) >= _MAX_PER_VERSION:
        raise Problem("too_many_rewinds")


@rate_limits.whole_game_slot()
def _plan_rewind(
    rules: AnyRuleset, p: AnyGame, seat: Seat | None, to: int, expected: int
) -> tuple[list[Record], tuple[Seat, ...]]:
    """What it would undo, and who must agree; raises where that can be refused at once."""
    if expected != p.version:
        raise StaleVersion(expected, p.version)
    if p.status != "running":
        raise RuleError("game_over" if p.status in ("over", "closed") else "not_running", "", {"status": p.status})
    records = services().ledger.read(p.id, upto=p.version)
    gone = undone_records(records, to)
    if seat is None:
        return gone, ()
    # First on what the seat may read, so that a refusal tells nothing. What others keep to themselves counts when they
    # are asked; where nobody is, it counts now.
    policy = opening_terms(p.id).get("undo", "consent")
    found = build_motion(rules, p, [visible_record(r, seat) for r in records], to, seat, policy)
    return gone, (build_motion(rules, p, records, to, seat, policy) if found.free else found).consents


def _check_same_request(found: JobRequest, who: Principal, expected: int, body: Doc) -> JobRequest:
    """The errand if it is what this request asks for; the reason is known only by its hash, and can be erased."""
    args = found.args or {}
    same = (args["to"], args["seat"], args["fresh"], found.version) == (body["to"], who.seat, body["fresh"], expected)
    said = services().seat_tokens.texts.find_text(args["reason"]) if args["reason"] else ""
    if not same or (said is not None and said != body["reason"]):
        raise Problem("idempotency_key_reused")
    return found


def _accepted_response(errand: JobRequest, *, replayed: bool = False) -> Response:
    """What was asked for, which never changes."""
    job = f"/v1/jobs/{errand.id}"
    made = json_response(request_to_json(errand), 202, Location=_rewind_url(errand) if errand.asked else job)
    if replayed:
        made.headers["Idempotency-Replayed"] = "true"
    return made


def _rewind_url(errand: JobRequest) -> str:
    return f"/v1/games/{errand.game}/rewinds/{errand.id}"


# --- reading ---------------------------------------------------------------------------------------------------


def _find_rewind(game: str, rewind: str) -> JobRequest:
    found = services().job_requests.find(rewind)
    if found is None or found.game != game or not is_visible(found):
        raise Problem("not_found")
    return found


@bp.operation(
    "GET",
    "/<game:game>/rewinds",
    "rewinds",
    access=authorization.optional_role,
    errors=(403, 404),
    response=RewindsSchema,
)
def rewinds(game: str) -> Response:
    """Read which rewinds were asked for, the newest first, and what has become of them."""
    s = services()
    if not s.ledger.version(game):
        raise missing_game(game)
    who, whole = authorization.optional_principal(), rate_limits.gate_context()
    asked = s.job_requests.list_rewinds(game, _PAGE_SIZE, visibility_of(game).upto)
    items = [build_undo_request(s, errand, who, whole) for errand in asked]
    return json_response({"items": items}, cache=PRIVATE)


@bp.operation(
    "GET",
    "/<game:game>/rewinds/<rewind:rewind>",
    "get_rewind",
    access=authorization.optional_role,
    errors=(403, 404),
    response=MotionSchema,
)
def get_rewind(game: str, rewind: str) -> Response:
    """Read a rewind that was asked for: what it undoes, who must agree, who has."""
    return json_response(
        build_undo_request(
            services(), _find_rewind(game, rewind), authorization.optional_principal(), rate_limits.gate_context()
        ),
        cache=PRIVATE,
    )


# --- agreeing --------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/rewinds/<rewind:rewind>/consents",
    "consent",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=ConsentSchema,
    response=MotionSchema,
)
def consent(body: Doc, game: str, rewind: str) -> Response:
    """Agree to a motion, or decline it, which ends it. Whoever has moved it may withdraw it by declining.

    With the last consent it is queued. Saying the same again changes nothing.
    """
    s, seat, errand = services(), authorization.seat(), _find_rewind(game, rewind)
    args, agrees = errand.args or {}, body["agrees"]
    if seat not in errand.asked and (agrees or seat != args["seat"]):
        raise Problem("not_asked")
    if seat not in (errand.agreed if agrees else errand.declined):
        if request_status(s, errand)[0] != "open":
            raise Problem("motion_closed")
        if agrees:
            _check_may_agree(errand, seat)
        s.job_requests.consent(errand.id, seat, agrees=agrees)
        s.notify_changed(game)
    return json_response(public_undo_request(s, _find_rewind(game, rewind)))


@rate_limits.whole_game_slot()
def _check_may_agree(errand: JobRequest, seat: Seat) -> None:
    """A seat that has done what is never undone cannot agree, and is the only one to be told."""
    rules, _ = load_table(errand.game)
    records = services().ledger.read(errand.game, upto=errand.version)
    gone = [visible_record(r, seat) for r in undone_records(records, (errand.args or {})["to"])]
    check_may_undo(rules, gone, seat, opening_terms(errand.game).get("undo", "consent"))

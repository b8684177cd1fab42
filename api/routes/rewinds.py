"""Routes for rewinds: request one, consent to it, read its status. A worker executes it."""

from __future__ import annotations

from collections.abc import Sequence

from api import authorization, officer_rights
from api.caller_keys import mark_replayed, role_key
from api.documents.motion_limits import check_motions_left
from api.documents.undo_requests import (
    build_undo_request,
    is_visible,
    public_undo_request,
    request_status,
    request_to_json,
    tell_undone,
)
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import if_match_version, json_response, load_table, missing_game, opening_terms
from api.schemas.play_responses import MotionDoc, RewindDoc, RewindEffectDoc, RewindPreviewDoc, RewindsDoc, ToldDoc
from api.schemas.query_args import MoveArgs, MoveHeaders
from api.schemas.request_bodies import ConsentSchema, RewindSchema
from api.services import services
from api.visibility import visibility_of
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.command import check_office, require_play
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.game import AnyGame
from domain.kernel.game.undo import (
    build_motion,
    check_may_undo,
    public_draws,
    undone_records,
    visible_record,
    waiting_seats,
)
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.service.job_requests import JobRequest, new_id
from domain.service.principals import Principal
from domain.types import Doc, Seat

bp = Blueprint("rewinds", __name__, url_prefix="/v1/games", description="Rewinds and consent to them.")

PRIVATE = "private, no-cache"
_PAGE_SIZE = 50
_MAX_PER_VERSION = 20
"""Most open requests for one version. A worker executes one of them; all others fail."""
_LOCATION = {"Location": {"schema": {"type": "string"}, "description": "The job, or the motion if seats must consent."}}


# --- requests --------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/rewinds",
    "rewind",
    access=authorization.require_role,
    errors=(403, 404, 409, 412, 428),
    body=RewindSchema,
    headers=MoveHeaders,
    query=MoveArgs,
    status=202,
    response_headers=_LOCATION,
    description="Requested",
)
@bp.alt_response(200, description="Effect of the rewind, of a dry run", success=True)
def rewind(body: Doc, headers: Doc, query: Doc, game: str) -> JsonResponse[RewindDoc] | JsonResponse[RewindPreviewDoc]:
    """Request a rewind to an earlier version. Nothing is deleted.

    A worker executes it on the version in If-Match, or not at all. A seat may request it where table and rules allow;
    if other seats have learned or done anything since, it becomes a `motion`, and they must consent within a week. If
    public draws are undone, chance is then `fresh` unless you send false. A director may always request it, and gives
    a reason. After three declined or expired requests of a seat only an officer goes back, or the seat alone. With
    `dry_run=1` the answer tells in sentences what would be undone, and who would have to agree.
    """
    expected = if_match_version(headers["match"])
    if expected is None:
        raise Problem("precondition_required", "Send If-Match with the version you have seen.")
    s, caller, key = services(), authorization.principal(), role_key(headers["key"])
    rules, now = load_table(game)
    if caller.seat is not None and body["reason"]:
        raise Problem("directors_only", "Only a director may send `reason`.")
    id_ = new_id("rewind", key.id[:24] if key else "")
    if key:
        key.check(s.ledger.execute)
    before = s.job_requests.find(id_)
    if before is not None:
        return _accepted_response(_check_same_request(before, caller, expected, body), replayed=True)
    undone, consents, fresh = _plan_rewind(rules, now, caller.seat, body, expected)
    if query["dry_run"] == "1":
        effect: RewindEffectDoc = {
            "to": body["to"],
            "version": expected,
            "undone": [r.version for r in undone],
            "draws": list(public_draws(undone)),
            "fresh": fresh,
            "consents": list(consents),
        }
        return _preview_response(game, effect)
    _check_rewind_limit(game, expected)
    allowance = check_motions_left(s, game, caller.seat) if consents and caller.seat is not None else None
    reason = s.seat_tokens.texts.store_text(caller.player, body["reason"]) if body["reason"] else ""
    args = {"to": body["to"], "seat": caller.seat, "fresh": fresh, "reason": reason}
    args |= {"officer": officer.to_json()} if (officer := officer_rights.acting_officer(game)) else {}
    args |= {"undone": [r.version for r in undone], "draws": public_draws(undone)}
    submitted = s.job_requests.submit(
        JobRequest(id_, "rewind", game, expected, args, consents, s.clock()), key, allowance
    )
    if submitted is None:
        raise Problem("motion_open")
    s.notify_changed(game)
    return _accepted_response(_check_same_request(submitted, caller, expected, body))


def _preview_response(game: str, effect: RewindEffectDoc) -> JsonResponse[RewindPreviewDoc]:
    """Return the effect of a rewind, with the chronicle of the records to undo for the caller."""
    return json_response({**effect, "told": _tell(game, effect["undone"]) or []}, cache=PRIVATE)


def _check_rewind_limit(game: str, version: int) -> None:
    """Raise Problem if a version has too many open requests."""
    requests = services().job_requests.list_rewinds(game, _PAGE_SIZE)
    if sum(e.version == version and e.outcome is None and not e.declined for e in requests) >= _MAX_PER_VERSION:
        raise Problem("too_many_rewinds")


@rate_limits.whole_game_slot()
def _plan_rewind(
    rules: AnyRuleset, p: AnyGame, seat: Seat | None, body: Doc, expected: int
) -> tuple[list[Record], tuple[Seat, ...], bool]:
    """Return the records to undo, the seats to consent and whether chance is fresh. Raise for a request that fails."""
    to, fresh = body["to"], body["fresh"]
    if expected != p.version:
        raise StaleVersion(expected, p.version)
    if p.status != "running":
        raise RuleError("game_over" if p.status in ("over", "closed") else "not_running", "", {"status": p.status})
    if seat is not None:
        require_play(p, max(services().clock(), p.time))
    if seat is None:
        check_office(p, officer_rights.acting_officer(p.id), Rewind(to))
        officer_rights.check_neutrality(p)
    records = services().ledger.read(p.id, to, p.version)
    undone = undone_records(p, records, to)
    if seat is None:
        return undone, (), bool(fresh)
    # First from the seat's own view, so that a refusal reveals nothing. Other seats check their hidden facts when they
    # consent; if no consent is needed, those facts are checked now.
    policy = opening_terms(p.id).get("undo", "consent")
    waiting = (
        waiting_seats(p, services().commands.game_at(p, to), seat, services().clock()) if p.timing.thinking else ()
    )
    seen = [visible_record(r, seat) for r in records]
    motion = build_motion(rules, p, seen, to, seat, policy, waiting, fresh=fresh)
    if motion.free:
        motion = build_motion(rules, p, records, to, seat, policy, waiting, fresh=fresh)
    return undone, motion.consents, motion.fresh


def _check_same_request(found: JobRequest, caller: Principal, expected: int, body: Doc) -> JobRequest:
    """Return the stored request if it equals this one. Raise Problem otherwise.

    Of the reason only a hash is stored; the text can be erased.
    """
    args = found.args or {}
    same = (args["to"], args["seat"], found.version) == (body["to"], caller.seat, expected)
    same = same and args["fresh"] == (args["fresh"] if body["fresh"] is None else body["fresh"])
    reason = services().seat_tokens.texts.find_text(args["reason"]) if args["reason"] else ""
    if not same or (reason is not None and reason != body["reason"]):
        raise Problem("idempotency_key_reused")
    return found


def _accepted_response(job_request: JobRequest, *, replayed: bool = False) -> JsonResponse[RewindDoc]:
    """Return the response to an accepted request. It never changes."""
    job = f"/v1/jobs/{job_request.id}"
    response = json_response(
        request_to_json(job_request), 202, Location=_rewind_url(job_request) if job_request.asked else job
    )
    if replayed:
        mark_replayed(response)
    return response


def _rewind_url(job_request: JobRequest) -> str:
    return f"/v1/games/{job_request.game}/rewinds/{job_request.id}"


# --- status ----------------------------------------------------------------------------------------------------


def _find_rewind(game: str, rewind: str) -> JobRequest:
    found = services().job_requests.find(rewind)
    if found is None or found.game != game or not is_visible(found):
        raise Problem("not_found")
    return found


@bp.operation("GET", "/<game:game>/rewinds", "rewinds", access=authorization.optional_role, errors=(403, 404))
def rewinds(game: str) -> JsonResponse[RewindsDoc]:
    """Return the game's requested rewinds and their status, newest first."""
    s = services()
    if not s.ledger.version(game):
        raise missing_game(game)
    caller, whole = authorization.optional_principal(), rate_limits.gate_context()
    requests = s.job_requests.list_rewinds(game, _PAGE_SIZE, visibility_of(game).upto)
    items = [_add_told(game, build_undo_request(s, job_request, caller, whole)) for job_request in requests]
    return json_response({"items": items}, cache=PRIVATE)


def _add_told(game: str, doc: MotionDoc) -> MotionDoc:
    """Return an undo request, while it is open with the chronicle of the records to undo for the caller."""
    if doc["status"] == "open" and (told := _tell(game, doc["undone"])) is not None:
        doc["told"] = told
    return doc


def _tell(game: str, undone: Sequence[int]) -> list[ToldDoc] | None:
    """Return the chronicle of the records to undo for the caller, or None without views of the game."""
    summary = services().reader.find_summary(game, inside=authorization.has_live_view(game))
    if summary is None:
        return None
    slot = rate_limits.archived_game_slot
    return tell_undone(services(), undone, summary, authorization.viewer(), request_language(), slot)


@bp.operation(
    "GET", "/<game:game>/rewinds/<rewind:rewind>", "get_rewind", access=authorization.optional_role, errors=(403, 404)
)
def get_rewind(game: str, rewind: str) -> JsonResponse[MotionDoc]:
    """Return a requested rewind: the versions to undo, also in sentences, the seats to consent, and their answers."""
    found, caller = _find_rewind(game, rewind), authorization.optional_principal()
    doc = build_undo_request(services(), found, caller, rate_limits.gate_context())
    return json_response(_add_told(game, doc), cache=PRIVATE)


# --- consent ---------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/rewinds/<rewind:rewind>/consents",
    "consent",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=ConsentSchema,
)
def consent(body: Doc, game: str, rewind: str) -> JsonResponse[MotionDoc]:
    """Consent to a motion or decline it. One refusal ends it; the requester withdraws it by declining.

    With the last consent, the rewind is queued. Repeating an answer changes nothing. A lent token only declines.
    """
    s, seat, job_request = services(), authorization.seat(), _find_rewind(game, rewind)
    args, agrees = job_request.args or {}, body["agrees"]
    if agrees and authorization.principal().lent:
        raise Problem("lent_token")
    if seat not in job_request.asked and (agrees or seat != args["seat"]):
        raise Problem("not_asked")
    if seat not in (job_request.agreed if agrees else job_request.declined):
        if request_status(s, job_request)[0] != "open":
            raise Problem("motion_closed")
        if agrees:
            _check_may_agree(job_request, seat)
        s.job_requests.consent(job_request.id, seat, agrees=agrees)
        s.notify_changed(game)
    return json_response(public_undo_request(s, _find_rewind(game, rewind)))


@rate_limits.whole_game_slot()
def _check_may_agree(job_request: JobRequest, seat: Seat) -> None:
    """Raise if the seat itself has done something final since. Only that seat sees the reason."""
    rules, now = load_table(job_request.game)
    to = (job_request.args or {})["to"]
    records = services().ledger.read(job_request.game, to, job_request.version)
    undone = [visible_record(r, seat) for r in undone_records(now, records, to)]
    check_may_undo(rules, undone, seat, opening_terms(job_request.game).get("undo", "consent"))

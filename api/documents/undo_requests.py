"""Undo requests (in HTTP: rewinds and motions), as each viewer may read them."""

from __future__ import annotations

from collections.abc import Sequence

from api.documents.timeline import build_entries
from api.http import rate_limits
from api.officer_rights import hidden_data_refusal, list_rulings
from api.schemas.play_responses import MotionDoc, RequestStatus, RewindDoc, ToldDoc
from api.services import ApiServices
from api.visibility import visibility_of
from domain.kernel.game.director_commands import Look
from domain.kernel.game.undo import find_private_packs
from domain.kernel.records.record import Record
from domain.service.job_requests import JobRequest
from domain.service.principals import Principal
from domain.types import Viewer
from projections.game_documents import StoredSummaryDoc

MAX_TOLD = 50
"""Most versions told in an undo request."""


def request_to_json(job_request: JobRequest) -> RewindDoc:
    """Return the request without its status."""
    args = job_request.args or {}
    return {
        "id": job_request.id,
        "game": job_request.game,
        "version": job_request.version,
        "consents": list(job_request.asked),
        "to": args["to"],
        "seat": args["seat"],
        "undone": args["undone"],
        "draws": args["draws"],
        "fresh": args["fresh"],
        "until": job_request.expires_at,
        "job": f"/v1/jobs/{job_request.id}",
    }


def request_status(s: ApiServices, job_request: JobRequest) -> tuple[RequestStatus, str]:
    """Return `open`, `queued`, `done`, `declined` or `failed`, and the code of a failure.

    The log takes precedence over the job request.
    """
    head = s.ledger.version(job_request.game)  # read first: later reads then include everything up to it
    if s.ledger.find_command(job_request.game, job_request.id):
        return "done", ""
    if job_request.declined:
        return "declined", "declined"
    if job_request.outcome and "refused" in job_request.outcome:
        return "failed", str(job_request.outcome["refused"])
    if head != job_request.version:
        return "failed", "stale_version"
    if job_request.is_expired(s.clock()):
        return "failed", "motion_expired"
    return ("open" if job_request.missing_seats else "queued"), ""


def public_undo_request(s: ApiServices, job_request: JobRequest) -> MotionDoc:
    """Return the request and its status in the public view."""
    return {
        **request_to_json(job_request),
        "status": request_status(s, job_request)[0],
        "agreed": list(job_request.agreed),
        "declined": list(job_request.declined),
    }


def build_undo_request(
    s: ApiServices, job_request: JobRequest, principal: Principal | None, gate: rate_limits.GateContext
) -> MotionDoc:
    """Return the request in the caller's view. While it is open, an officer also gets its secrets after a look.

    Their computation reads the whole game.
    """
    doc = public_undo_request(s, job_request)
    if doc["status"] != "open" or principal is None or principal.seat is not None:
        return doc
    ids = [principal.player]
    ids += s.account_store.accounts.list_players(principal.account) if principal.account else []
    now = s.commands.game(job_request.game)
    if hidden_data_refusal(s, principal, now, ids):
        return doc
    with gate():
        records: list[Record] = s.ledger.read(job_request.game, upto=job_request.version)
        if not any(isinstance(command, Look) for _, command in list_rulings(s, now, records, ids)):
            return doc  # reading it leaves no trace, and must not come before taking a seat
        doc["hidden"] = _find_secrets(job_request, records)
        return doc


def tell_undone(
    s: ApiServices,
    undone: Sequence[int],
    summary: StoredSummaryDoc,
    viewer: Viewer,
    lang: str,
    gate: rate_limits.GateContext,
) -> list[ToldDoc]:
    """Return the chronicle of the newest of the records to undo, for a viewer."""
    last = undone[-1]
    first = max(undone[0], last - MAX_TOLD + 1)
    entries = build_entries(s, summary, viewer, first - 1, last - first + 1, lang, gate)
    return [{"version": e["version"], "text": e["text"]} for e in entries if e["version"] in undone]


def _find_secrets(job_request: JobRequest, records: Sequence[Record]) -> list[tuple[int, str]]:
    versions = set((job_request.args or {})["undone"])
    return [*find_private_packs([r for r in records if r.version in versions])]


def is_visible(job_request: JobRequest) -> bool:
    """Return True if the caller may see the request. A spectator with a delay sees it after the next visible record."""
    upto = visibility_of(job_request.game).upto if job_request.game else None
    return upto is None or job_request.work not in ("rewind", "proposal") or job_request.version < upto

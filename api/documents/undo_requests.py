"""Undo requests (in HTTP: rewinds and motions), as each viewer may read them."""

from __future__ import annotations

from api.http import rate_limits
from api.officer_rights import hidden_data_refusal
from api.services import ApiServices, Doc
from api.visibility import visibility_of
from domain.kernel.game.undo import find_private_packs
from domain.kernel.records.record import Record
from domain.service.job_requests import JobRequest
from domain.service.principals import Principal
from domain.types import Json


def request_to_json(job_request: JobRequest) -> Doc:
    """Return the request without its status."""
    args = job_request.args or {}
    doc = {
        "id": job_request.id,
        "game": job_request.game,
        "version": job_request.version,
        "consents": list(job_request.asked),
    }
    return doc | {k: args[k] for k in ("to", "seat", "undone", "draws")} | {"job": f"/v1/jobs/{job_request.id}"}


def request_status(s: ApiServices, job_request: JobRequest) -> tuple[str, str]:
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
    return ("open" if job_request.missing_seats else "queued"), ""


def public_undo_request(s: ApiServices, job_request: JobRequest) -> Doc:
    """Return the request and its status in the public view."""
    doc = request_to_json(job_request) | {"status": request_status(s, job_request)[0]}
    return doc | {"agreed": list(job_request.agreed), "declined": list(job_request.declined)}


def build_undo_request(
    s: ApiServices, job_request: JobRequest, principal: Principal | None, gate: rate_limits.GateContext
) -> Doc:
    """Return the request in the caller's view. While it is open, a director also gets the secrets it undoes.

    Their computation reads the whole game.
    """
    doc = public_undo_request(s, job_request)
    if doc["status"] != "open" or principal is None or not _is_director_without_seat(s, job_request.game, principal):
        return doc
    with gate():
        return doc | {"hidden": _find_secrets(s, job_request)}


def _is_director_without_seat(s: ApiServices, game: str, principal: Principal) -> bool:
    """Return True for an officer without a seat in the game, or a relation to somebody with one."""
    if principal.seat is not None:
        return False
    ids = s.account_store.accounts.list_players(principal.account) if principal.account else []
    return not hidden_data_refusal(s, principal, s.commands.game(game), ids)


def _find_secrets(s: ApiServices, job_request: JobRequest) -> list[Json]:
    versions = set((job_request.args or {})["undone"])
    records: list[Record] = s.ledger.read(job_request.game, upto=job_request.version)
    return [list(item) for item in find_private_packs([r for r in records if r.version in versions])]


def is_visible(job_request: JobRequest) -> bool:
    """Return True if the caller may see the request. A spectator with a delay sees it after the next visible record."""
    upto = visibility_of(job_request.game).upto if job_request.game else None
    return upto is None or job_request.work not in ("rewind", "proposal") or job_request.version < upto

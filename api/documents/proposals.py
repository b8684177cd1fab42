"""Proposals of players, as everybody at the table sees them."""

from __future__ import annotations

from dataclasses import replace

from api.schemas.play_responses import ProposalDoc, RequestStatus
from api.services import ApiServices
from domain.kernel.game.proposals import SILENCE_MS
from domain.service.job_requests import JobRequest


def proposal_to_json(s: ApiServices, request: JobRequest) -> ProposalDoc:
    """Return a proposal with its status and the votes so far."""
    return _build_proposal(request, proposal_status(s, request)[0])


def _build_proposal(request: JobRequest, status: RequestStatus) -> ProposalDoc:
    args = request.args or {}
    return {
        "id": request.id,
        "game": request.game,
        "seat": args["seat"],
        "act": args["act"],
        "version": request.version,
        "consents": list(request.asked),
        "agreed": list(request.agreed),
        "declined": list(request.declined),
        "until": request.at + SILENCE_MS,
        "status": status,
        "job": f"/v1/jobs/{request.id}",
    }


def new_proposal_to_json(request: JobRequest) -> ProposalDoc:
    """Return a proposal as it was made. It never changes, so repetitions of the request get the same bytes."""
    made = replace(request, agreed=(), declined=(), outcome=None)
    return _build_proposal(made, "open" if made.missing_seats else "queued")


def proposal_status(s: ApiServices, request: JobRequest) -> tuple[RequestStatus, str]:
    """Return `open`, `queued`, `done`, `declined` or `failed`, and the code of a failure."""
    if s.ledger.find_command(request.game, request.id):
        return "done", ""
    if request.declined:
        return "declined", "declined"
    if request.outcome and "refused" in request.outcome:
        return "failed", str(request.outcome["refused"])
    return ("open" if request.missing_seats else "queued"), ""

"""Limit of refused requests: after three a seat asks the other seats no more, but an officer may act."""

from __future__ import annotations

from api.documents.proposals import proposal_status
from api.documents.undo_requests import request_status
from api.http.problems import Problem
from api.services import ApiServices
from domain.service.job_requests import JobRequest
from domain.types import Seat

MAX_SPENT = 3
"""Declined or expired requests of one seat in one game, undo requests and proposals together."""

UNLIMITED_ACTS = ("appoint", "resume")
"""Proposals without this limit: a table whose officer is gone could else never get one, or never end a pause."""

_SPENT = ("declined", "motion_expired", "consent_missing")


def check_motions_left(s: ApiServices, game: str, seat: Seat) -> None:
    """Raise Problem if the other seats have refused, or left unanswered, three requests of a seat in this game.

    A withdrawn request counts, or withdrawing in time would go round the limit.
    """
    spent = sum(_outcome_code(s, request) in _SPENT for request in s.job_requests.list_motions(game, seat))
    if spent >= MAX_SPENT:
        raise Problem(
            "motions_spent",
            "Three requests of your seat were declined or have expired. Ask an officer of the table to go back or to"
            " act. If it has no officer, propose one with `appoint`.",
        )


def _outcome_code(s: ApiServices, request: JobRequest) -> str:
    if request.declined:
        return "declined"
    if request.outcome is not None:
        return str(request.outcome.get("refused", ""))
    return (request_status if request.work == "rewind" else proposal_status)(s, request)[1]

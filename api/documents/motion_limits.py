"""Limit of refused requests: after three a seat asks the other seats no more, but an officer may act."""

from __future__ import annotations

from api.documents.proposals import proposal_status
from api.documents.undo_requests import request_status
from api.http.problems import Problem
from api.services import ApiServices
from domain.service.job_requests import Allowance, JobRequest
from domain.types import Seat

MAX_SPENT = 3
"""Declined or expired requests of one seat in one game, undo requests and proposals together."""

UNLIMITED_ACTS = ("appoint", "resume")
"""Proposals without this limit: a table whose officer is gone could else never get one, or never end a pause."""

_SPENT = ("declined", "motion_expired", "consent_missing")


def check_motions_left(s: ApiServices, game: str, seat: Seat) -> Allowance:
    """Return how many more requests a seat may make; raise Problem if there is none left.

    The other seats may refuse or leave unanswered three of them. A withdrawn request counts, or withdrawing in time
    would go round the limit. So does an open one: all of them may yet be declined.
    """
    motions = s.job_requests.list_motions(game, seat)
    codes = [_outcome_code(s, request) for request in motions]
    spent = sum(code in _SPENT for code in codes)
    if spent >= MAX_SPENT:
        raise Problem(
            "motions_spent",
            "Three requests of your seat were declined or have expired. Ask an officer of the table to go back or to"
            " act. If it has no officer, propose one with `appoint`.",
        )
    waiting = sum(_is_waiting(s, request) for request in motions)
    if spent + waiting >= MAX_SPENT:
        raise Problem("too_many_proposals", "Wait for the answers to your open requests, or withdraw one.")
    return Allowance(seat, frozenset(request.id for request in motions), MAX_SPENT - spent - waiting)


def _is_waiting(s: ApiServices, request: JobRequest) -> bool:
    """Return whether a limited request waits for votes."""
    act = (request.args or {}).get("act")
    if isinstance(act, dict) and act["act"] in UNLIMITED_ACTS:
        return False
    return (request_status if request.work == "rewind" else proposal_status)(s, request)[0] == "open"


def _outcome_code(s: ApiServices, request: JobRequest) -> str:
    if request.declined:
        return "declined"
    if request.outcome is not None:
        return str(request.outcome.get("refused", ""))
    return (request_status if request.work == "rewind" else proposal_status)(s, request)[1]

"""What the person who asks has allowed clients."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.oauth_clients import GrantsSchema
from api.services import Doc, services
from domain.accounts.oauth_grants import Grant

room = Blueprint("grants", __name__, url_prefix="/v1/me/grants", description="What clients may do for the person.")


def listed(grant: Grant) -> Doc:
    """A grant without what opens anything."""
    return vars(grant) | {"scopes": list(grant.scopes)}


@room.route("", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, GrantsSchema)
@room.doc(operationId="grants")
def grants() -> Response:
    """List what one has allowed clients, the oldest first."""
    found = services().people.grants.of(authorization.holding().account)
    return answer({"items": [listed(grant) for grant in found]})


@room.route("/<credential:grant>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="end_grant")
def end_grant(grant: str) -> Response:
    """Allow it no more: its tokens open nothing from now on."""
    withdraw(authorization.holding().account, grant)
    return Response(status=204)


def withdraw(account: str, grant: str) -> None:
    """What somebody has allowed ends; raises Problem for what is not theirs."""
    people = services().people
    if not people.grants.end(account, grant):
        raise Problem("not_found")
    people.journal.keep(security_log.journaled(account, "grant_ended", rate_limits.network(), grant))

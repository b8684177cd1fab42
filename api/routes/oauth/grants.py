"""What the person who asks has allowed clients."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.oauth_clients import GrantsSchema
from api.services import Doc, services
from domain.accounts.oauth_grants import OAuthGrant

bp = Blueprint("grants", __name__, url_prefix="/v1/me/grants", description="What clients may do for the person.")


def grant_to_json(grant: OAuthGrant) -> Doc:
    """A grant without what opens anything."""
    return vars(grant) | {"scopes": list(grant.scopes)}


@bp.operation("GET", "", "grants", access=authorization.require_session, errors=(403,), response=GrantsSchema)
def grants() -> Response:
    """List what one has allowed clients, the oldest first."""
    found = services().account_store.oauth_grants.list_by_account(authorization.credential_owner().account)
    return json_response({"items": [grant_to_json(grant) for grant in found]})


@bp.operation(
    "DELETE", "/<credential:grant>", "end_grant", access=authorization.require_session, errors=(403, 404), status=204
)
def end_grant(grant: str) -> Response:
    """Allow it no more: its tokens open nothing from now on."""
    revoke_grant(authorization.credential_owner().account, grant)
    return Response(status=204)


def revoke_grant(account: str, grant: str) -> None:
    """What somebody has allowed ends; raises Problem for what is not theirs."""
    people = services().account_store
    if not people.oauth_grants.revoke_grant(account, grant):
        raise Problem("not_found")
    people.audit_log.store(security_log.audit_statements(account, "grant_ended", rate_limits.client_network(), grant))

"""Routes of the grants given to OAuth clients by an account."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.oauth_clients import GrantDoc, GrantsDoc
from api.services import services
from domain.accounts.oauth_grants import OAuthGrant

bp = Blueprint("grants", __name__, url_prefix="/v1/me/grants", description="Grants given to OAuth clients.")


def grant_to_json(grant: OAuthGrant) -> GrantDoc:
    """Return a grant without its tokens."""
    return {
        "id": grant.id,
        "client": grant.client,
        "name": grant.name,
        "scopes": list(grant.scopes),
        "made": grant.made,
        "used": grant.used,
        "until": grant.until,
    }


@bp.operation(
    "GET",
    "",
    "grants",
    access=authorization.require_session,
    errors=(403,),
)
def grants() -> JsonResponse[GrantsDoc]:
    """Return your grants to clients, oldest first."""
    found = services().account_store.oauth_grants.list_by_account(authorization.credential_owner().account)
    return json_response({"items": [grant_to_json(grant) for grant in found]})


@bp.operation(
    "DELETE", "/<credential:grant>", "end_grant", access=authorization.require_session, errors=(403, 404), status=204
)
def end_grant(grant: str) -> Response:
    """Revoke a grant. Its tokens stop working at once."""
    revoke_grant(authorization.credential_owner().account, grant)
    return Response(status=204)


def revoke_grant(account: str, grant: str) -> None:
    """Revoke a grant of an account. Raise Problem if the account has no such grant."""
    account_store = services().account_store
    if not account_store.oauth_grants.revoke_grant(account, grant):
        raise Problem("not_found")
    account_store.audit_log.store(
        security_log.audit_statements(account, "grant_ended", rate_limits.client_network(), grant)
    )

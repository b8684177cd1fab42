"""Routes of personal access tokens, each with scopes and an expiry time."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.accounts import ListedTokenDoc, NewPersonalTokenDoc, NewTokenSchema, PersonalTokensDoc
from api.schemas.query_args import KeyHeaders
from api.services import services
from domain.accounts.account_tables import DAY
from domain.accounts.credential_tables import SCOPES
from domain.accounts.personal_tokens import PersonalToken
from domain.types import Doc

bp = Blueprint("tokens", __name__, url_prefix="/v1/me/tokens", description="Personal access tokens.")


def token_to_json(token: PersonalToken) -> ListedTokenDoc:
    """Return a personal token without its secret."""
    return {
        "id": token.id,
        "label": token.label,
        "scopes": list(token.scopes),
        "made": token.made,
        "used": token.used or None,
        "until": token.until,
    }


@bp.operation(
    "GET",
    "",
    "tokens",
    access=authorization.require_session,
    errors=(403,),
)
def tokens() -> JsonResponse[PersonalTokensDoc]:
    """Return your valid personal tokens, oldest first."""
    found = services().account_store.personal_tokens.list_tokens(authorization.credential_owner().account)
    return json_response({"items": [token_to_json(token) for token in found]})


@bp.operation(
    "POST",
    "",
    "new_token",
    access=authorization.require_session,
    errors=(403, 409, 503),
    body=NewTokenSchema,
    headers=KeyHeaders,
    status=201,
)
def new_token(body: Doc, headers: Doc) -> JsonResponse[NewPersonalTokenDoc]:
    """Create a personal token, shown only in this response and its repetitions."""
    scopes = [scope for scope in SCOPES if scope in body["scopes"]]
    return _issue_token("token_made", body["label"], scopes, body["days"], headers["key"])


@bp.operation(
    "POST",
    "/<credential:token>/rotations",
    "rotate_token",
    access=authorization.require_session,
    errors=(403, 404, 409, 503),
    headers=KeyHeaders,
    status=201,
)
def rotate_token(headers: Doc, token: str) -> JsonResponse[NewPersonalTokenDoc]:
    """Replace a personal token: same label, scopes and lifetime, from now on. The old one ends at once."""
    before = services().account_store.personal_tokens.find_token(authorization.credential_owner().account, token)
    if before is None:
        raise Problem("not_found")
    days = max(round((before.until - before.made) / DAY), 1)
    return _issue_token("token_rotated", before.label, before.scopes, days, headers["key"], before.id)


@bp.operation(
    "DELETE", "/<credential:token>", "revoke_token", access=authorization.require_session, errors=(403, 404), status=204
)
def revoke_token(token: str) -> Response:
    """Revoke a personal token. It stops working."""
    account_store, me = services().account_store, authorization.credential_owner().account
    if not account_store.personal_tokens.revoke(me, token):
        raise Problem("not_found")
    account_store.audit_log.store(
        security_log.audit_statements(me, "token_revoked", rate_limits.client_network(), token)
    )
    return Response(status=204)


def _issue_token(
    what: str, label: str, scopes: list[str] | tuple[str, ...], days: int, key: str, instead: str = ""
) -> JsonResponse[NewPersonalTokenDoc]:
    """Create a personal token, record it in the audit log, and return the response.

    `instead` is the id of a token to replace, or empty.
    """
    authorization.require_fresh_password()
    account_store, me, session = (
        services().account_store,
        authorization.credential_owner().account,
        authorization.credential_owner().credential,
    )
    request = ("token", f"{me} {key}", what, label, *scopes, str(days), instead) if key else ()
    bound, audited = person_key(key), f"{label}: {' '.join(scopes)}"
    audit_rows = security_log.audit_statements(me, what, rate_limits.client_network(), audited)
    until = (bound.at if bound else account_store.clock()) + days * DAY
    id_, text = account_store.personal_tokens.issue(
        me, label, scopes, until, audit_rows, *request, instead=instead, session=session, key=bound
    )
    stored = account_store.personal_tokens.find_token(me, id_)
    if stored:
        until = stored.until
    elif bound and bound.first is not None:  # deleted since
        until = bound.first + days * DAY
    return creation_response({"id": id_, "label": label, "scopes": list(scopes), "until": until, "token": text}, bound)

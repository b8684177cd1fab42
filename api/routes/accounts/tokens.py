"""Personal access tokens: for programs, each for what it needs and for so long."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.accounts import NewPersonalTokenSchema, NewTokenSchema, PersonalTokensSchema
from api.schemas.query_args import KeyHeaders
from api.services import Doc, services
from domain.accounts.account_tables import DAY
from domain.accounts.personal_tokens import PersonalToken

bp = Blueprint("tokens", __name__, url_prefix="/v1/me/tokens", description="Personal access tokens.")


def token_to_json(token: PersonalToken) -> Doc:
    """A token without what opens anything."""
    return {
        "id": token.id,
        "label": token.label,
        "scopes": list(token.scopes),
        "made": token.made,
        "used": token.used or None,
        "until": token.until,
    }


@bp.operation("GET", "", "tokens", access=authorization.require_session, errors=(403,), response=PersonalTokensSchema)
def tokens() -> Response:
    """List the personal tokens that open anything, the oldest first."""
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
    response=NewPersonalTokenSchema,
    status=201,
)
def new_token(body: Doc, headers: Doc) -> Response:
    """Make a personal token, which is shown in this answer and its repetitions alone."""
    scopes = [scope for scope in ("read", "play", "direct", "admin") if scope in body["scopes"]]
    return _issue_token("token_made", body["label"], scopes, body["days"], headers["key"])


@bp.operation(
    "POST",
    "/<credential:token>/rotations",
    "rotate_token",
    access=authorization.require_session,
    errors=(403, 404, 409, 503),
    headers=KeyHeaders,
    response=NewPersonalTokenSchema,
    status=201,
)
def rotate_token(headers: Doc, token: str) -> Response:
    """Make another token in place of this one, which ends at once: same label, scopes, and time from now on."""
    before = services().account_store.personal_tokens.find_token(authorization.credential_owner().account, token)
    if before is None:
        raise Problem("not_found")
    days = max(round((before.until - before.made) / DAY), 1)
    return _issue_token("token_rotated", before.label, before.scopes, days, headers["key"], before.id)


@bp.operation(
    "DELETE", "/<credential:token>", "revoke_token", access=authorization.require_session, errors=(403, 404), status=204
)
def revoke_token(token: str) -> Response:
    """Revoke a token: it opens nothing any more."""
    people, me = services().account_store, authorization.credential_owner().account
    if not people.personal_tokens.revoke(me, token):
        raise Problem("not_found")
    people.audit_log.store(security_log.audit_statements(me, "token_revoked", rate_limits.client_network(), token))
    return Response(status=204)


def _issue_token(
    what: str, label: str, scopes: list[str] | tuple[str, ...], days: int, key: str, instead: str = ""
) -> Response:
    authorization.require_fresh_password()
    people, me, session = (
        services().account_store,
        authorization.credential_owner().account,
        authorization.credential_owner().credential,
    )
    request = ("token", f"{me} {key}", what, label, *scopes, str(days), instead) if key else ()
    logged = security_log.audit_statements(me, what, rate_limits.client_network(), f"{label}: {' '.join(scopes)}")
    id_, text = people.personal_tokens.issue(
        me, label, scopes, people.clock() + days * DAY, logged, *request, instead=instead, session=session
    )
    until = getattr(people.personal_tokens.find_token(me, id_), "until", 0)
    return json_response({"id": id_, "label": label, "scopes": list(scopes), "until": until, "token": text}, 201)

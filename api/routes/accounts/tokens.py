"""Personal access tokens: for programs, each for what it needs and for so long."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.accounts import NewPersonalTokenSchema, NewTokenSchema, PersonalTokensSchema
from api.schemas.query_args import KeyHeaders
from api.services import Doc, services
from domain.accounts.account_tables import DAY
from domain.accounts.credentials import Token

room = Blueprint("tokens", __name__, url_prefix="/v1/me/tokens", description="Personal access tokens.")


def listed(token: Token) -> Doc:
    """A token without what opens anything."""
    return {
        "id": token.id,
        "label": token.label,
        "scopes": list(token.scopes),
        "made": token.made,
        "used": token.used or None,
        "until": token.until,
    }


@room.route("", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, PersonalTokensSchema)
@room.doc(operationId="tokens")
def tokens() -> Response:
    """List the personal tokens that open anything, the oldest first."""
    found = services().people.credentials.tokens(authorization.holding().account)
    return answer({"items": [listed(token) for token in found]})


@room.route("", methods=["POST"])
@authorization.own
@fails(403, 409, 503)
@room.arguments(NewTokenSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, NewPersonalTokenSchema)
@room.doc(operationId="new_token")
def new_token(body: Doc, headers: Doc) -> Response:
    """Make a personal token, which is shown in this answer and its repetitions alone."""
    scopes = [scope for scope in ("read", "play", "direct", "admin") if scope in body["scopes"]]
    return _issued("token_made", body["label"], scopes, body["days"], headers["key"])


@room.route("/<credential:token>/rotations", methods=["POST"])
@authorization.own
@fails(403, 404, 409, 503)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, NewPersonalTokenSchema)
@room.doc(operationId="rotate_token")
def rotate_token(headers: Doc, token: str) -> Response:
    """Make another token in place of this one, which ends at once: same label, scopes, and time from now on."""
    before = services().people.credentials.token(authorization.holding().account, token)
    if before is None:
        raise Problem("not_found")
    days = max(round((before.until - before.made) / DAY), 1)
    return _issued("token_rotated", before.label, before.scopes, days, headers["key"], before.id)


@room.route("/<credential:token>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="revoke_token")
def revoke_token(token: str) -> Response:
    """Revoke a token: it opens nothing any more."""
    people, me = services().people, authorization.holding().account
    if not people.credentials.revoke(me, token):
        raise Problem("not_found")
    people.journal.keep(security_log.journaled(me, "token_revoked", rate_limits.network(), token))
    return Response(status=204)


def _issued(
    what: str, label: str, scopes: list[str] | tuple[str, ...], days: int, key: str, instead: str = ""
) -> Response:
    authorization.fresh()
    people, me, session = services().people, authorization.holding().account, authorization.holding().credential
    request = ("token", f"{me} {key}", what, label, *scopes, str(days), instead) if key else ()
    logged = security_log.journaled(me, what, rate_limits.network(), f"{label}: {' '.join(scopes)}")
    id_, text = people.credentials.issue(
        me, label, scopes, people.clock() + days * DAY, logged, *request, instead=instead, session=session
    )
    until = getattr(people.credentials.token(me, id_), "until", 0)
    return answer({"id": id_, "label": label, "scopes": list(scopes), "until": until, "token": text}, 201)

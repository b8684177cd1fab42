"""Second factors: what an account is asked for beside its password, and passkeys in place of both."""

from __future__ import annotations

from flask import Response

from api import authentication, authorization
from api.http import login_throttle, public_url, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.accounts.accounts import session_response
from api.schemas.accounts import EnteredSchema
from api.schemas.second_factors import (
    FactorSchema,
    FactorsSchema,
    NewPasskeySchema,
    PasskeyChallengeSchema,
    PasskeyLoginSchema,
    TotpCodeSchema,
    TotpSetupSchema,
)
from api.services import Doc, services
from domain.accounts.second_factors import SecondFactor, TotpSetup

bp = Blueprint("factors", __name__, url_prefix="/v1", description="Second factors, and passkeys.")

ISSUER = "Annals"
"""What an authenticator calls the service."""


def factor_to_json(factor: SecondFactor) -> Doc:
    """A factor without what it is made from."""
    return {**vars(factor), "used": factor.used or None}


@bp.operation(
    "GET", "/me/factors", "factors", access=authorization.require_session, errors=(403,), response=FactorsSchema
)
def factors() -> Response:
    """List one's second factors, the oldest first."""
    found = services().account_store.second_factors.list_factors(authorization.credential_owner().account)
    return json_response({"items": [factor_to_json(factor) for factor in found]})


# --- codes of an authenticator ---------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/me/factors/totp",
    "new_totp",
    access=authorization.require_session,
    errors=(403, 409),
    response=TotpSetupSchema,
    status=201,
)
def new_totp() -> Response:
    """Make a secret for an authenticator, which no repetition shows again. It counts once a code of it was shown."""
    return json_response(vars(propose_totp()), 201)


def propose_totp() -> TotpSetup:
    """A secret for the authenticator of whoever asks; raises Problem."""
    authorization.require_fresh_password()
    people, me = services().account_store, authorization.current_account()
    if "totp" in people.second_factors.list_kinds(me.id):
        raise Problem("too_many", "An account has one authenticator: remove it first.")
    return people.second_factors.propose(me.id, me.name, ISSUER)


@bp.operation(
    "POST",
    "/me/factors/totp/confirmations",
    "confirm_totp",
    access=authorization.require_session,
    errors=(403, 409),
    body=TotpCodeSchema,
    response=FactorSchema,
    status=201,
)
def confirm_totp(body: Doc) -> Response:
    """Show a code of the new secret: from now on one is asked for beside the password. All other sessions end."""
    confirm_totp_code(body["code"])
    (found,) = (
        each
        for each in services().account_store.second_factors.list_factors(authorization.credential_owner().account)
        if each.kind == "totp"
    )
    return json_response(factor_to_json(found), 201)


def confirm_totp_code(code: str) -> None:
    """Whoever asks has shown a code of the new secret; raises Problem for another one."""
    authorization.require_fresh_password()
    people, who = services().account_store, authorization.credential_owner()
    with login_throttle.throttled(f"session {who.credential}"):
        logged = security_log.audit_statements(who.account, "factor_added", rate_limits.client_network(), "totp")
        if not people.second_factors.confirm(who.account, "".join(code.split()), who.credential, logged):
            raise Problem("wrong_credentials", "This code does not belong to the new secret.")


@bp.operation(
    "DELETE", "/me/factors/totp", "remove_totp", access=authorization.require_session, errors=(403, 404), status=204
)
def remove_totp() -> Response:
    """Remove the authenticator; needs a password and a second factor shown lately."""
    remove_factor("totp", "")
    return Response(status=204)


def remove_factor(kind: str, factor: str) -> None:
    """A second factor of whoever asks is asked for no more; raises Problem."""
    authorization.require_fresh_password()
    me = authorization.credential_owner().account
    logged = security_log.audit_statements(me, "factor_removed", rate_limits.client_network(), kind)
    services().account_store.second_factors.remove(me, kind, factor, logged)


# --- passkeys --------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/me/factors/passkeys/challenges",
    "new_passkey_challenge",
    access=authorization.require_session,
    errors=(403, 409),
    response=PasskeyChallengeSchema,
    status=201,
)
def new_passkey_challenge() -> Response:
    """Get what a browser passes to `navigator.credentials.create`; it may be answered once, within five minutes."""
    authorization.require_fresh_password()
    me = authorization.current_account()
    return json_response(services().account_store.passkeys.creation_options(me.id, me.name, public_url.base_url()), 201)


@bp.operation(
    "POST",
    "/me/factors/passkeys",
    "new_passkey",
    access=authorization.require_session,
    errors=(403, 409),
    body=NewPasskeySchema,
    response=FactorSchema,
    status=201,
)
def new_passkey(body: Doc) -> Response:
    """Add a passkey. With the first one all other sessions end, since they were begun without it."""
    made = add_passkey(body["label"], body["passkey"])
    (found,) = (
        each
        for each in services().account_store.second_factors.list_factors(authorization.credential_owner().account)
        if each.id == made
    )
    return json_response(factor_to_json(found), 201)


def add_passkey(label: str, passkey: Doc) -> str:
    """The id of a new passkey of whoever asks; raises Problem."""
    authorization.require_fresh_password()
    people, who = services().account_store, authorization.credential_owner()
    logged = security_log.audit_statements(
        who.account, "factor_added", rate_limits.client_network(), f"passkey {label}".strip()
    )
    return people.passkeys.add(who.account, label, passkey, public_url.base_url(), who.credential, logged)


@bp.operation(
    "DELETE",
    "/me/factors/passkeys/<passkey:passkey>",
    "remove_passkey",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_passkey(passkey: str) -> Response:
    """Remove a passkey; needs a password and a second factor shown lately."""
    remove_factor("passkey", passkey)
    return Response(status=204)


@bp.operation(
    "POST",
    "/passkey-challenges",
    "passkey_challenge",
    access=authorization.public,
    errors=(409,),
    response=PasskeyChallengeSchema,
    status=201,
)
def passkey_challenge() -> Response:
    """Get what a browser passes to `navigator.credentials.get`; it may be answered once, within five minutes."""
    return json_response(services().account_store.passkeys.request_options(public_url.base_url()), 201)


@bp.operation(
    "POST",
    "/passkey-sessions",
    "log_in_with_passkey",
    access=authorization.public,
    errors=(403, 409),
    body=PasskeyLoginSchema,
    response=EnteredSchema,
    status=201,
)
def log_in_with_passkey(body: Doc) -> Response:
    """Log in with a passkey alone, whose authenticator has verified its user by a PIN or a finger."""
    return session_response(authentication.verify_passkey_login(body["passkey"]), body["label"])

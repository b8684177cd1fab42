"""Routes of second factors, and of passkeys for logins without a password."""

from __future__ import annotations

from flask import Response

from api import authentication, authorization
from api.http import login_throttle, public_url, rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.accounts.accounts import session_response
from api.schemas.accounts import EnteredDoc
from api.schemas.second_factors import (
    FactorDoc,
    FactorsDoc,
    NewPasskeySchema,
    PasskeyChallengeDoc,
    PasskeyLoginSchema,
    TotpCodeSchema,
    TotpSetupDoc,
)
from api.services import services
from domain.accounts.second_factors import SecondFactor, TotpSetup
from domain.types import Doc

bp = Blueprint("factors", __name__, url_prefix="/v1", description="Second factors, and passkeys.")

ISSUER = "Annals"
"""Name of the service in authenticator apps."""


def factor_to_json(factor: SecondFactor) -> FactorDoc:
    """Return a second factor without its secret."""
    return {
        "id": factor.id,
        "kind": factor.kind,
        "label": factor.label,
        "made": factor.made,
        "used": factor.used or None,
    }


@bp.operation(
    "GET",
    "/me/factors",
    "factors",
    access=authorization.require_session,
    errors=(403,),
)
def factors() -> JsonResponse[FactorsDoc]:
    """Return your second factors, oldest first."""
    found = services().account_store.second_factors.list_factors(authorization.credential_owner().account)
    return json_response({"items": [factor_to_json(factor) for factor in found]})


# --- authenticator ---------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/me/factors/totp",
    "new_totp",
    access=authorization.require_session_in_any_standing,
    errors=(403, 409),
    status=201,
)
def new_totp() -> JsonResponse[TotpSetupDoc]:
    """Create a secret for an authenticator, shown only in this response. Confirm it with a first code."""
    setup = propose_totp()
    return json_response({"secret": setup.secret, "uri": setup.uri}, 201)


def propose_totp() -> TotpSetup:
    """Return a new authenticator secret for the caller. Raise Problem."""
    authorization.require_fresh_password()
    account_store, me = services().account_store, authorization.current_account()
    if "totp" in account_store.second_factors.list_kinds(me.id):
        raise Problem("too_many", "An account has one authenticator: remove it first.")
    return account_store.second_factors.propose(me.id, me.name, ISSUER)


@bp.operation(
    "POST",
    "/me/factors/totp/confirmations",
    "confirm_totp",
    access=authorization.require_session_in_any_standing,
    errors=(403, 409),
    body=TotpCodeSchema,
    status=201,
)
def confirm_totp(body: Doc) -> JsonResponse[FactorDoc]:
    """Confirm the new secret with a code. Logins then require such a code, and all other sessions end."""
    confirm_totp_code(body["code"])
    (factor,) = (
        each
        for each in services().account_store.second_factors.list_factors(authorization.credential_owner().account)
        if each.kind == "totp"
    )
    return json_response(factor_to_json(factor), 201)


def confirm_totp_code(code: str) -> None:
    """Confirm the caller's new secret with a code. Raise Problem for a wrong one."""
    authorization.require_fresh_password()
    account_store, caller = services().account_store, authorization.credential_owner()
    with login_throttle.throttled(f"session {caller.credential}"):
        audit_rows = security_log.audit_statements(caller.account, "factor_added", rate_limits.client_network(), "totp")
        if not account_store.second_factors.confirm(
            caller.account, "".join(code.split()), caller.credential, audit_rows
        ):
            raise Problem("wrong_credentials", "This code does not belong to the new secret.")


@bp.operation(
    "DELETE", "/me/factors/totp", "remove_totp", access=authorization.require_session, errors=(403, 404), status=204
)
def remove_totp() -> Response:
    """Remove the authenticator. Needs a recent check of password and second factor."""
    remove_factor("totp", "")
    return Response(status=204)


def remove_factor(kind: str, factor: str) -> None:
    """Remove a second factor of the caller. Raise Problem."""
    authorization.require_fresh_password()
    me = authorization.credential_owner().account
    audit_rows = security_log.audit_statements(me, "factor_removed", rate_limits.client_network(), kind)
    services().account_store.second_factors.remove(me, kind, factor, audit_rows)


# --- passkeys --------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/me/factors/passkeys/challenges",
    "new_passkey_challenge",
    access=authorization.require_session_in_any_standing,
    errors=(403, 409),
    status=201,
)
def new_passkey_challenge() -> JsonResponse[PasskeyChallengeDoc]:
    """Return the options for `navigator.credentials.create`, valid once and for five minutes."""
    authorization.require_fresh_password()
    me = authorization.current_account()
    options = services().account_store.passkeys.creation_options(me.id, me.name, public_url.base_url())
    return json_response({"publicKey": options["publicKey"]}, 201)


@bp.operation(
    "POST",
    "/me/factors/passkeys",
    "new_passkey",
    access=authorization.require_session_in_any_standing,
    errors=(403, 409),
    body=NewPasskeySchema,
    status=201,
)
def new_passkey(body: Doc) -> JsonResponse[FactorDoc]:
    """Add a passkey. The first one ends all other sessions, since they started without it."""
    id_ = add_passkey(body["label"], body["passkey"])
    (factor,) = (
        each
        for each in services().account_store.second_factors.list_factors(authorization.credential_owner().account)
        if each.id == id_
    )
    return json_response(factor_to_json(factor), 201)


def add_passkey(label: str, passkey: Doc) -> str:
    """Add a passkey to the caller's account, and return its id. Raise Problem."""
    authorization.require_fresh_password()
    account_store, caller = services().account_store, authorization.credential_owner()
    audit_rows = security_log.audit_statements(
        caller.account, "factor_added", rate_limits.client_network(), f"passkey {label}".strip()
    )
    return account_store.passkeys.add(
        caller.account, label, passkey, public_url.base_url(), caller.credential, audit_rows
    )


@bp.operation(
    "DELETE",
    "/me/factors/passkeys/<passkey:passkey>",
    "remove_passkey",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_passkey(passkey: str) -> Response:
    """Remove a passkey. Needs a recent check of password and second factor."""
    remove_factor("passkey", passkey)
    return Response(status=204)


@bp.operation(
    "POST", "/passkey-challenges", "passkey_challenge", access=authorization.public, errors=(409,), status=201
)
def passkey_challenge() -> JsonResponse[PasskeyChallengeDoc]:
    """Return the options for `navigator.credentials.get`, valid once and for five minutes."""
    options = services().account_store.passkeys.request_options(public_url.base_url())
    return json_response({"publicKey": options["publicKey"]}, 201)


@bp.operation(
    "POST",
    "/passkey-sessions",
    "log_in_with_passkey",
    access=authorization.public,
    errors=(403, 409),
    body=PasskeyLoginSchema,
    status=201,
)
def log_in_with_passkey(body: Doc) -> JsonResponse[EnteredDoc]:
    """Log in with a passkey alone. Its authenticator must verify the user, by PIN or fingerprint."""
    return session_response(authentication.verify_passkey_login(body["passkey"]), body["label"])

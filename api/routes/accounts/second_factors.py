"""Second factors: what an account is asked for beside its password, and passkeys in place of both."""

from __future__ import annotations

from flask import Response

from api import authentication, authorization
from api.http import login_throttle, public_url, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.routes.accounts.accounts import entered
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
from domain.accounts.second_factors import Factor, Setup

room = Blueprint("factors", __name__, url_prefix="/v1", description="Second factors, and passkeys.")

ISSUER = "Annals"
"""What an authenticator calls the service."""


def listed(factor: Factor) -> Doc:
    """A factor without what it is made from."""
    return {**vars(factor), "used": factor.used or None}


@room.route("/me/factors", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, FactorsSchema)
@room.doc(operationId="factors")
def factors() -> Response:
    """List one's second factors, the oldest first."""
    found = services().people.factors.of(authorization.holding().account)
    return answer({"items": [listed(factor) for factor in found]})


# --- codes of an authenticator ---------------------------------------------------------------------------------


@room.route("/me/factors/totp", methods=["POST"])
@authorization.own
@fails(403, 409)
@room.response(201, TotpSetupSchema)
@room.doc(operationId="new_totp")
def new_totp() -> Response:
    """Make a secret for an authenticator, which no repetition shows again. It counts once a code of it was shown."""
    return answer(vars(proposed()), 201)


def proposed() -> Setup:
    """A secret for the authenticator of whoever asks; raises Problem."""
    authorization.fresh()
    people, me = services().people, authorization.account()
    if "totp" in people.factors.kinds(me.id):
        raise Problem("too_many", "An account has one authenticator: remove it first.")
    return people.factors.propose(me.id, me.name, ISSUER)


@room.route("/me/factors/totp/confirmations", methods=["POST"])
@authorization.own
@fails(403, 409)
@room.arguments(TotpCodeSchema)
@room.response(201, FactorSchema)
@room.doc(operationId="confirm_totp")
def confirm_totp(body: Doc) -> Response:
    """Show a code of the new secret: from now on one is asked for beside the password. All other sessions end."""
    confirm(body["code"])
    (found,) = (each for each in services().people.factors.of(authorization.holding().account) if each.kind == "totp")
    return answer(listed(found), 201)


def confirm(code: str) -> None:
    """Whoever asks has shown a code of the new secret; raises Problem for another one."""
    authorization.fresh()
    people, who = services().people, authorization.holding()
    with login_throttle.guessing(f"session {who.credential}"):
        logged = security_log.journaled(who.account, "factor_added", rate_limits.network(), "totp")
        if not people.factors.confirm(who.account, "".join(code.split()), who.credential, logged):
            raise Problem("wrong_credentials", "That is not a code of the new secret.")


@room.route("/me/factors/totp", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="remove_totp")
def remove_totp() -> Response:
    """Remove the authenticator; needs a password and a second factor shown lately."""
    remove("totp", "")
    return Response(status=204)


def remove(kind: str, factor: str) -> None:
    """A second factor of whoever asks is asked for no more; raises Problem."""
    authorization.fresh()
    me = authorization.holding().account
    logged = security_log.journaled(me, "factor_removed", rate_limits.network(), kind)
    services().people.factors.drop(me, kind, factor, logged)


# --- passkeys --------------------------------------------------------------------------------------------------


@room.route("/me/factors/passkeys/challenges", methods=["POST"])
@authorization.own
@fails(403, 409)
@room.response(201, PasskeyChallengeSchema)
@room.doc(operationId="new_passkey_challenge")
def new_passkey_challenge() -> Response:
    """Get what a browser passes to `navigator.credentials.create`; it may be answered once, within five minutes."""
    authorization.fresh()
    me = authorization.account()
    return answer(services().people.passkeys.invite(me.id, me.name, public_url.address()), 201)


@room.route("/me/factors/passkeys", methods=["POST"])
@authorization.own
@fails(403, 409)
@room.arguments(NewPasskeySchema)
@room.response(201, FactorSchema)
@room.doc(operationId="new_passkey")
def new_passkey(body: Doc) -> Response:
    """Add a passkey. With the first one all other sessions end, since they were begun without it."""
    made = added(body["label"], body["passkey"])
    (found,) = (each for each in services().people.factors.of(authorization.holding().account) if each.id == made)
    return answer(listed(found), 201)


def added(label: str, passkey: Doc) -> str:
    """The id of a new passkey of whoever asks; raises Problem."""
    authorization.fresh()
    people, who = services().people, authorization.holding()
    logged = security_log.journaled(who.account, "factor_added", rate_limits.network(), f"passkey {label}".strip())
    return people.passkeys.add(who.account, label, passkey, public_url.address(), who.credential, logged)


@room.route("/me/factors/passkeys/<passkey:passkey>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="remove_passkey")
def remove_passkey(passkey: str) -> Response:
    """Remove a passkey; needs a password and a second factor shown lately."""
    remove("passkey", passkey)
    return Response(status=204)


@room.route("/passkey-challenges", methods=["POST"])
@authorization.open_to_all
@fails(409)
@room.response(201, PasskeyChallengeSchema)
@room.doc(operationId="passkey_challenge")
def passkey_challenge() -> Response:
    """Get what a browser passes to `navigator.credentials.get`; it may be answered once, within five minutes."""
    return answer(services().people.passkeys.ask(public_url.address()), 201)


@room.route("/passkey-sessions", methods=["POST"])
@authorization.open_to_all
@fails(403, 409)
@room.arguments(PasskeyLoginSchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="log_in_with_passkey")
def log_in_with_passkey(body: Doc) -> Response:
    """Log in with a passkey alone, whose authenticator has verified its user by a PIN or a finger."""
    return entered(authentication.by_passkey(body["passkey"]), body["label"])

"""Accounts: opening one, logging in, and coming back with a recovery code."""

from __future__ import annotations

from flask import Response

from api import authentication, authorization
from api.authentication import SecondFactorProof, VerifiedLogin
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.accounts import EnteredSchema, LoginSchema, NewAccountSchema, RecoverySchema, RegisteredSchema
from api.schemas.query_args import NewHeaders
from api.services import Doc, services
from domain.accounts import account_names, oauth_grants, passwords
from domain.accounts.accounts import Account, AccountRegistration
from domain.accounts.sessions import SessionRequest

bp = Blueprint("accounts", __name__, url_prefix="/v1", description="People with a name and a password.")


def account_to_json(account: Account) -> Doc:
    """An account as everybody may know it."""
    return {"account": account.id, "player": account.player, "name": account.name, "bot": account.bot}


@bp.operation(
    "POST",
    "/accounts",
    "open_account",
    access=authorization.public,
    errors=(403, 409, 503),
    body=NewAccountSchema,
    headers=NewHeaders,
    response=RegisteredSchema,
    status=201,
)
def open_account(body: Doc, headers: Doc) -> Response:
    """Open an account.

    The answer holds ten recovery codes and a session's token, which are shown nowhere else; a repetition with its key
    gets the same answer.
    """
    told, made = register_account(body, headers["key"])
    reply = json_response(told, 201)
    if not made:
        security_log.forget_audit_events()
        reply.headers["Idempotency-Replayed"] = "true"
    return reply


def register_account(body: Doc, key: str = "") -> tuple[Doc, bool]:
    """A new account with its first session, and whether it is new: a repetition finds it. Raises Problem."""
    s, registration = services(), services().settings.registration
    if registration == "closed":
        raise Problem("registration_closed")
    if registration == "invitation" and not body["invitation"]:
        raise Problem("not_invited", "You need an invitation to open an account.")
    account_names.check_name(body["name"])
    passwords.check_password(body["password"], body["name"])
    rate_limits.charge_quota("accounts")
    people = s.account_store
    said = (body["name"], body["password"], body["invitation"], str(body["bot"]), body["label"])
    request = ("open", key, *said) if key else ()
    id_ = people.accounts.make_id("open", key) if key else people.accounts.make_id()
    codes, kept = people.recovery_codes.generate(id_, *request)
    token, session = people.sessions.make_first(
        SessionRequest(id_, body["label"], ("password",), rate_limits.address_family(), request)
    )
    called = s.seat_tokens.texts.set_name(people.accounts.derive_player(id_), body["name"])
    hashed = people.passwords.make_hash(body["password"])
    invitation = body["invitation"] if registration == "invitation" else ""
    asked = AccountRegistration(body["name"], hashed, kept, body["bot"], invitation, request)
    logged = security_log.audit_statements(id_, "opened", rate_limits.client_network())
    found, made = people.accounts.open(id_, asked, [*session, *called, *logged])
    device = people.sessions.make_device_token(id_, *request)
    told = {"account": id_, "player": found.player, "name": body["name"], "bot": body["bot"]}
    return told | {"token": token, "device": device, "codes": codes}, made


@bp.operation(
    "POST",
    "/sessions",
    "log_in",
    access=authorization.public,
    errors=(403, 503),
    body=LoginSchema,
    response=EnteredSchema,
    status=201,
)
def log_in(body: Doc) -> Response:
    """Log in with name and password: a new session, which no repetition shows again.

    Whether the name or the password was wrong is not told. Who has a second factor shows it too: else
    `second_factor_required` lists what there is. Who guesses waits longer and longer; a device that was logged in
    before shows `device`, and is not slowed by what others have guessed. A session whose token comes with the request
    ends.
    """
    return session_response(
        authentication.verify_password_login(
            body["name"], body["password"], body["device"], SecondFactorProof.from_body(body)
        ),
        body["label"],
    )


def session_response(entry: VerifiedLogin, label: str) -> Response:
    """A new session for whoever has shown what is needed; the answer that tells its token."""
    token = authentication.start_session(entry, label)
    authorization.end_presented_session()
    device = services().account_store.sessions.make_device_token(entry.account.id)
    return json_response(account_to_json(entry.account) | {"token": token, "device": device}, 201)


@bp.operation(
    "POST",
    "/recovery",
    "recover",
    access=authorization.public,
    errors=(403, 503),
    body=RecoverySchema,
    response=EnteredSchema,
    status=201,
)
def recover(body: Doc) -> Response:
    """Set a new password with a recovery code, which works once; all sessions, personal tokens and grants end.

    Whether the name or the code was wrong is not told. Who has a second factor shows it too, or another code.
    """
    s = services()
    people = s.account_store
    passwords.check_password(body["password"], body["name"])
    with login_throttle.throttled(address=rate_limits.client_address()):
        found = people.accounts.find_by_name(body["name"])
        known = people.recovery_codes.is_valid(found.id if found else "", body["code"])
        if found is None or not known:
            people.audit_log.record(found.id if found else "", "recovery_refused", rate_limits.client_network())
            raise Problem("wrong_credentials")
        second = SecondFactorProof.from_body(body)
        if _normalize_code(second.code) == _normalize_code(body["code"]):
            raise Problem("wrong_credentials", "This code was already used.")
        factors = authentication.check_second_factor(found, "", second)
        hashed = people.passwords.make_hash(body["password"])
        logged = security_log.audit_statements(found.id, "recovered", rate_limits.client_network())
        if not people.recovery_codes.recover(
            found.id, body["code"], hashed, [*logged, *oauth_grants.revoke_all(found.id)]
        ):
            raise Problem("wrong_credentials")
        return session_response(VerifiedLogin(found, hashed, ("recovery", *factors)), body["label"])


def _normalize_code(code: str) -> str:
    return code.replace("-", "").lower()

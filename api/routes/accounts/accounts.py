"""Routes to open an account, log in, and recover with a code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response

from api import authentication, authorization
from api.authentication import SecondFactorProof, VerifiedLogin
from api.caller_keys import mark_replayed, person_key
from api.http import login_throttle, rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import check_account_name
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.accounts import (
    EnteredDoc,
    ForgottenSchema,
    LoginSchema,
    NewAccountSchema,
    PersonDoc,
    RecoverySchema,
    RegisteredDoc,
)
from api.schemas.query_args import NewHeaders
from api.services import services
from domain.accounts import oauth_grants, passwords
from domain.accounts.accounts import Account, AccountRegistration
from domain.accounts.recovery_codes import FOR_ALL, FOR_PASSWORD
from domain.accounts.sessions import SessionRequest
from domain.service.database import Statement
from domain.service.event_people import GUEST_LASTS
from domain.types import Doc

bp = Blueprint("accounts", __name__, url_prefix="/v1", description="Accounts and logins.")


def account_to_json(account: Account) -> PersonDoc:
    """Return an account as everybody may know it."""
    return {"account": account.id, "player": account.player, "name": account.name, "bot": account.bot}


@bp.operation(
    "POST",
    "/accounts",
    "open_account",
    access=authorization.public,
    errors=(403, 409, 503),
    body=NewAccountSchema,
    headers=NewHeaders,
    status=201,
)
def open_account(body: Doc, headers: Doc) -> JsonResponse[RegisteredDoc]:
    """Open an account.

    The response contains ten recovery codes and a session token, shown only here. A repetition with the same key gets
    the same response.
    """
    doc, is_new = register_account(body, headers["key"])
    response = json_response(doc, 201)
    if not is_new:
        mark_replayed(response)
    return response


def register_account(body: Doc, key: str = "") -> tuple[RegisteredDoc, bool]:
    """Open an account with its first session, and return the document and True if it is new.

    A repetition finds the account again, as long as it has the password of the request. Raise Problem.
    """
    s, registration = services(), services().settings.registration
    if registration == "closed":
        raise Problem("registration_closed")
    if registration == "invitation" and not body["invitation"]:
        raise Problem("not_invited", "You need an invitation to open an account.")
    check_account_name(body["name"])
    passwords.check_password(body["password"], body["name"])
    account_store = s.account_store
    fields = (body["name"], body["password"], body["invitation"], str(body["bot"]), body["label"])
    request = ("open", key, *fields) if key else ()
    id_ = account_store.accounts.make_id("open", key) if key else account_store.accounts.make_id()
    codes, code_hashes = account_store.recovery_codes.generate(id_, *request)
    with admit_registration(id_, body["event_code"]) as guest_rows:
        token, session = account_store.sessions.make_first(
            SessionRequest(id_, body["label"], ("password",), rate_limits.address_family(), request)
        )
        name_rows = s.seat_tokens.texts.set_name(account_store.accounts.derive_player(id_), body["name"])
        password_hash = account_store.passwords.make_hash(body["password"])
        invitation = body["invitation"] if registration == "invitation" else ""
        registration_request = AccountRegistration(
            body["name"], password_hash, code_hashes, body["bot"], invitation, request
        )
        audit_rows = security_log.audit_statements(id_, "opened", rate_limits.client_network())
        account, is_new = account_store.accounts.open(
            id_, registration_request, [*session, *name_rows, *audit_rows, *guest_rows], person_key(key)
        )
    if not is_new:
        _check_still_registered(id_, body["password"])
    device = account_store.sessions.make_device_token(id_, *request)
    doc: RegisteredDoc = {
        "account": id_,
        "player": account.player,
        "name": body["name"],
        "bot": body["bot"],
        "token": token,
        "device": device,
        "codes": codes,
    }
    return doc, is_new


@contextmanager
def admit_registration(account: str, code: str) -> Iterator[list[Statement]]:
    """Count a new account for the code of an event, or without one for its address; give the rows of an event's person.

    After an error it counts for no code. A claim code counts for itself: it is used by the claim. Raise Problem.
    """
    s = services()
    if not code:
        rate_limits.charge_quota("accounts")
        yield []
        return
    people, now = s.seat_tokens.event_people, s.clock()
    claim = people.find_claim(code)
    found = (claim[0], now + GUEST_LASTS) if claim else people.use_code(code, now)
    if found is None:
        rate_limits.charge_quota("accounts")
        raise Problem("event_code_refused")
    try:
        yield [people.add_guest(account, *found)]
    except Exception:
        if not claim:
            people.give_back(found[0])
        raise


def _check_still_registered(account: str, password: str) -> None:
    """Raise Problem if the password was changed: its owner alone may know the recovery codes now."""
    account_store = services().account_store
    if not account_store.passwords.matches(account_store.credentials.find_password_hash(account), password):
        raise Problem("idempotency_key_reused")


@bp.operation(
    "POST", "/sessions", "log_in", access=authorization.public, errors=(403, 503), body=LoginSchema, status=201
)
def log_in(body: Doc) -> JsonResponse[EnteredDoc]:
    """Log in with name and password. The new session's token is shown only in this response.

    The error does not tell a wrong name from a wrong password. With a second factor, send it as well: the problem
    `second_factor_required` lists the possible kinds. Each failed attempt makes the next one wait longer; send the
    `device` of an earlier login, and attempts by others do not slow you down. A session in the Authorization header
    ends.
    """
    return session_response(
        authentication.verify_password_login(
            body["name"], body["password"], body["device"], SecondFactorProof.from_body(body)
        ),
        body["label"],
    )


def session_response(entry: VerifiedLogin, label: str) -> JsonResponse[EnteredDoc]:
    """Start a session after a verified login, and return the response with its token."""
    token = authentication.start_session(entry, label)
    authorization.end_presented_session()
    device = services().account_store.sessions.make_device_token(entry.account.id)
    return json_response({**account_to_json(entry.account), "token": token, "device": device}, 201)


@bp.operation(
    "POST", "/recovery", "recover", access=authorization.public, errors=(403, 503), body=RecoverySchema, status=201
)
def recover(body: Doc) -> JsonResponse[EnteredDoc]:
    """Set a new password with a recovery code. All sessions, personal tokens and grants end.

    A code from a mail, or from the operator, works in the same way for a day. Each code works once. The error does not
    tell a wrong name from a wrong code. With a second factor, send it as well, or another recovery code. A code from
    the operator needs none, and removes the second factors.
    """
    return session_response(recover_login(body), body["label"])


def recover_login(body: Doc) -> VerifiedLogin:
    """Set the new password, and return the login with it. Raise Problem."""
    account_store = services().account_store
    passwords.check_password(body["password"], body["name"])
    with login_throttle.throttled(address=rate_limits.client_address()):
        account = account_store.accounts.find_by_name(body["name"])
        kind = account_store.recovery_codes.find_kind(account.id if account else "", body["code"])
        if account is None or not kind:
            account_store.audit_log.record(
                account.id if account else "", "recovery_refused", rate_limits.client_network()
            )
            raise Problem("wrong_credentials")
        second = SecondFactorProof.from_body(body)
        if _normalize_code(second.code) == _normalize_code(body["code"]):
            raise Problem("wrong_credentials", "This code was already used.")
        factors = () if kind == FOR_ALL else authentication.check_second_factor(account, "", second)
        password_hash = account_store.passwords.make_hash(body["password"])
        audit_rows = security_log.audit_statements(account.id, "recovered", rate_limits.client_network())
        others = [*oauth_grants.revoke_all(account.id), *services().notifications.push_devices.erase(account.id)]
        if not account_store.recovery_codes.recover(account.id, body["code"], password_hash, [*audit_rows, *others]):
            raise Problem("wrong_credentials")
        return VerifiedLogin(account, password_hash, ("recovery", *factors))


def _normalize_code(code: str) -> str:
    """Return a code in lower case, without hyphens."""
    return code.replace("-", "").lower()


@bp.operation(
    "POST",
    "/recovery/mails",
    "mail_recovery_code",
    access=authorization.public,
    errors=(409, 503),
    body=ForgottenSchema,
    status=204,
)
def mail_recovery_code(body: Doc) -> Response:
    """Have a code for a new password sent to the confirmed address of an account.

    The answer is the same whether there is such an account or address. An account gets one code in a minute, and five
    in a day. A code works once, for a day, until the next one is sent. 409 `mail_off` if the service sends no mail.
    """
    send_recovery_code(body["name"])
    return Response(status=204)


def send_recovery_code(name: str) -> None:
    """Send a code for a new password to the confirmed address of an account, if there is one. Raise Problem."""
    s = services()
    if not s.settings.mail:
        raise Problem("mail_off")
    rate_limits.charge_quota("accounts")
    account = s.account_store.accounts.find_by_name(name)
    id_, key = account.id if account else "", s.account_store.accounts.name_key(name)
    code, rows = s.account_store.recovery_codes.issue(id_, FOR_PASSWORD)
    audit_rows = security_log.audit_statements(id_, "recovery_mailed", rate_limits.client_network())
    if not s.notifications.email_subscriptions.send_recovery_code(id_, key, code, [*rows, *audit_rows]):
        security_log.forget_audit_events()
    s.notify_appended(0)

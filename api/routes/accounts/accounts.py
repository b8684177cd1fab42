"""Accounts: opening one, logging in, and coming back with a recovery code."""

from __future__ import annotations

from flask import Response

from api import authentication, authorization
from api.authentication import Entry, Second
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.accounts import EnteredSchema, LoginSchema, NewAccountSchema, RecoverySchema, RegisteredSchema
from api.schemas.query_args import NewHeaders
from api.services import Doc, services
from domain.accounts import account_names, oauth_grants, passwords
from domain.accounts.accounts import Account, Opening
from domain.accounts.credentials import Start

room = Blueprint("accounts", __name__, url_prefix="/v1", description="People with a name and a password.")


def person(account: Account) -> Doc:
    """An account as everybody may know it."""
    return {"account": account.id, "player": account.player, "name": account.name, "bot": account.bot}


@room.route("/accounts", methods=["POST"])
@authorization.open_to_all
@fails(403, 409, 503)
@room.arguments(NewAccountSchema)
@room.arguments(NewHeaders, location="headers")
@room.response(201, RegisteredSchema)
@room.doc(operationId="open_account")
def open_account(body: Doc, headers: Doc) -> Response:
    """Open an account.

    The answer holds ten recovery codes and a session's token, which are shown nowhere else; a repetition with its key
    gets the same answer.
    """
    told, made = opened(body, headers["key"])
    reply = answer(told, 201)
    if not made:
        security_log.repeated()
        reply.headers["Idempotency-Replayed"] = "true"
    return reply


def opened(body: Doc, key: str = "") -> tuple[Doc, bool]:
    """A new account with its first session, and whether it is new: a repetition finds it. Raises Problem."""
    s, registration = services(), services().settings.registration
    if registration == "closed":
        raise Problem("registration_closed")
    if registration == "invitation" and not body["invitation"]:
        raise Problem("not_invited", "Accounts are opened by invitation.")
    account_names.check(body["name"])
    passwords.check(body["password"], body["name"])
    rate_limits.spend_quota("accounts")
    people = s.people
    said = (body["name"], body["password"], body["invitation"], str(body["bot"]), body["label"])
    request = ("open", key, *said) if key else ()
    id_ = people.accounts.id_of("open", key) if key else people.accounts.id_of()
    codes, kept = people.credentials.codes(id_, *request)
    token, session = people.credentials.first(Start(id_, body["label"], ("password",), rate_limits.family(), request))
    called = s.access.called(people.accounts.player_of(id_), body["name"])
    hashed = people.passwords.hashed(body["password"])
    invitation = body["invitation"] if registration == "invitation" else ""
    asked = Opening(body["name"], hashed, kept, body["bot"], invitation, request)
    logged = security_log.journaled(id_, "opened", rate_limits.network())
    found, made = people.accounts.open(id_, asked, [*session, *called, *logged])
    device = people.credentials.device(id_, *request)
    told = {"account": id_, "player": found.player, "name": body["name"], "bot": body["bot"]}
    return told | {"token": token, "device": device, "codes": codes}, made


@room.route("/sessions", methods=["POST"])
@authorization.open_to_all
@fails(403, 503)
@room.arguments(LoginSchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="log_in")
def log_in(body: Doc) -> Response:
    """Log in with name and password: a new session, which no repetition shows again.

    Whether the name or the password was wrong is not told. Who has a second factor shows it too: else
    `second_factor_required` lists what there is. Who guesses waits longer and longer; a device that was logged in
    before shows `device`, and is not slowed by what others have guessed. A session whose token comes with the request
    ends.
    """
    return entered(
        authentication.by_password(body["name"], body["password"], body["device"], Second.of(body)), body["label"]
    )


def entered(entry: Entry, label: str) -> Response:
    """A new session for whoever has shown what is needed; the answer that tells its token."""
    token = authentication.begin(entry, label)
    authorization.leave_behind()
    device = services().people.credentials.device(entry.account.id)
    return answer(person(entry.account) | {"token": token, "device": device}, 201)


@room.route("/recovery", methods=["POST"])
@authorization.open_to_all
@fails(403, 503)
@room.arguments(RecoverySchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="recover")
def recover(body: Doc) -> Response:
    """Set a new password with a recovery code, which works once; all sessions, personal tokens and grants end.

    Whether the name or the code was wrong is not told. Who has a second factor shows it too, or another code.
    """
    s = services()
    people = s.people
    passwords.check(body["password"], body["name"])
    with login_throttle.guessing(at=rate_limits.address()):
        found = people.accounts.named(body["name"])
        known = people.credentials.recoverable(found.id if found else "", body["code"])
        if found is None or not known:
            people.journal.write(found.id if found else "", "recovery_refused", rate_limits.network())
            raise Problem("wrong_credentials")
        second = Second.of(body)
        if _plain(second.code) == _plain(body["code"]):
            raise Problem("wrong_credentials", "One code does not count twice.")
        factors = authentication.shown(found, "", second)
        hashed = people.passwords.hashed(body["password"])
        logged = security_log.journaled(found.id, "recovered", rate_limits.network())
        if not people.credentials.recover(found.id, body["code"], hashed, [*logged, *oauth_grants.ended(found.id)]):
            raise Problem("wrong_credentials")
        return entered(Entry(found, hashed, ("recovery", *factors)), body["label"])


def _plain(code: str) -> str:
    return code.replace("-", "").lower()

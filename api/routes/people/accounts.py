"""Accounts: opening one, logging in, and coming back with a recovery code."""

from __future__ import annotations

from flask import Response

from api import attempts, events, limits
from api.auth import open_to_all
from api.openapi import Blueprint, fails
from api.people import EnteredSchema, LoginSchema, NewAccountSchema, RecoverySchema, RegisteredSchema
from api.problems import Problem
from api.replies import answer
from api.requests import NewHeaders
from api.services import Doc, services
from domain.beside.people import names, passwords
from domain.beside.people.accounts import Account, Opening
from domain.beside.people.credentials import Start

room = Blueprint("accounts", __name__, url_prefix="/v1", description="People with a name and a password.")


def person(account: Account) -> Doc:
    """An account as everybody may know it."""
    return {"account": account.id, "player": account.player, "name": account.name, "bot": account.bot}


@room.route("/accounts", methods=["POST"])
@open_to_all
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
    s, registration = services(), services().settings.registration
    if registration == "closed":
        raise Problem("registration_closed")
    if registration == "invitation" and not body["invitation"]:
        raise Problem("not_invited", "Accounts are opened by invitation.")
    names.check(body["name"])
    passwords.check(body["password"], body["name"])
    limits.spend_quota("accounts")
    people, key = s.people, headers["key"]
    said = (body["name"], body["password"], body["invitation"], str(body["bot"]), body["label"])
    request = ("open", key, *said) if key else ()
    id_ = people.accounts.id_of("open", key) if key else people.accounts.id_of()
    codes, kept = people.credentials.codes(id_, *request)
    token, session = people.credentials.first(Start(id_, body["label"], ("password",), limits.family(), request))
    called = s.access.called(people.accounts.player_of(id_), body["name"])
    hashed = people.passwords.hashed(body["password"])
    invitation = body["invitation"] if registration == "invitation" else ""
    asked = Opening(body["name"], hashed, kept, body["bot"], invitation, request)
    logged = events.journaled(id_, "opened", limits.network())
    found, made = people.accounts.open(id_, asked, [*session, *called, *logged])
    device = people.credentials.device(id_, *request)
    told = {"account": id_, "player": found.player, "name": body["name"], "bot": body["bot"]}
    reply = answer(told | {"token": token, "device": device, "codes": codes}, 201)
    if not made:
        events.repeated()
        reply.headers["Idempotency-Replayed"] = "true"
    return reply


@room.route("/sessions", methods=["POST"])
@open_to_all
@fails(403, 503)
@room.arguments(LoginSchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="log_in")
def log_in(body: Doc) -> Response:
    """Log in with name and password: a new session, which no repetition shows again.

    Whether the name or the password was wrong is not told. Who guesses waits longer and longer; a device that was
    logged in before shows `device`, and is not slowed by what others have guessed.
    """
    s = services()
    people = s.people
    found = people.accounts.named(body["name"])
    # A device that the account knows is counted by itself, others by the name and by the address.
    device = people.credentials.knows(found.id, body["device"]) if found else ""
    counted = f"device {device}" if device else f"name {people.accounts.key(body['name'])}"
    with attempts.guessing(counted, at="" if device else limits.address()):
        kept = people.credentials.password(found.id if found else "")
        fits = people.passwords.fits(kept, body["password"])
        if found is None or not fits:
            people.journal.write(found.id if found else "", "login_refused", limits.network())
            raise Problem("wrong_credentials")
        return _entered(found, kept, body["label"])


def _entered(account: Account, kept: str, label: str) -> Response:
    """A new session for whoever has shown what is needed; the answer that tells its token."""
    people = services().people
    logged = events.journaled(account.id, "login", limits.network(), label)
    # Refused, as any wrong password, if that has changed just now.
    token = people.credentials.start(Start(account.id, label, family=limits.family()), kept, logged)
    return answer(person(account) | {"token": token, "device": people.credentials.device(account.id)}, 201)


@room.route("/recovery", methods=["POST"])
@open_to_all
@fails(403, 503)
@room.arguments(RecoverySchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="recover")
def recover(body: Doc) -> Response:
    """Set a new password with a recovery code, which works once; all sessions and personal tokens end.

    Whether the name or the code was wrong is not told.
    """
    s = services()
    people = s.people
    passwords.check(body["password"], body["name"])
    with attempts.guessing(at=limits.address()):
        found = people.accounts.named(body["name"])
        known = people.credentials.recoverable(found.id if found else "", body["code"])
        if found is None or not known:
            people.journal.write(found.id if found else "", "recovery_refused", limits.network())
            raise Problem("wrong_credentials")
        hashed = people.passwords.hashed(body["password"])
        logged = events.journaled(found.id, "recovered", limits.network())
        if not people.credentials.recover(found.id, body["code"], hashed, logged):
            raise Problem("wrong_credentials")
        return _entered(found, hashed, body["label"])

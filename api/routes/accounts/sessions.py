"""An account's devices and its password: what is logged in, and what it takes to log in again."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.authentication import Second
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, forgotten
from api.routes.accounts.accounts import person
from api.schemas.accounts import CodesSchema, DevicesSchema, EnteredSchema, NewPasswordSchema, ProofSchema, ProvenSchema
from api.services import Doc, services
from domain.accounts import passwords
from domain.accounts.credentials import FRESH, Session, Start

room = Blueprint("sessions", __name__, url_prefix="/v1/me", description="Devices, password and recovery codes.")


def device(session: Session, current: str) -> Doc:
    """A device that is logged in; where it is, is not told."""
    return {
        "id": session.id,
        "label": session.label,
        "factors": list(session.factors),
        "family": session.family,
        "made": session.made,
        "used": session.used,
        "current": session.id == current,
    }


@room.route("/sessions", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, DevicesSchema)
@room.doc(operationId="sessions")
def sessions() -> Response:
    """List the devices that are logged in, the one used last first."""
    who = authorization.holding()
    found = services().people.credentials.sessions(who.account)
    return answer({"items": [device(session, who.credential) for session in found]})


@room.route("/sessions", methods=["DELETE"])
@authorization.own
@fails(403)
@room.response(204)
@room.doc(operationId="log_out_everywhere")
def log_out_everywhere() -> Response:
    """Log out everywhere: all sessions end, this one too. Personal tokens stay."""
    return _ended("")


@room.route("/sessions/<credential:session>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="log_out")
def log_out(session: str) -> Response:
    """Log out one device."""
    return _ended(session)


def _ended(session: str) -> Response:
    people, who = services().people, authorization.holding()
    if not people.credentials.end(who.account, session):
        raise Problem("not_found")
    people.journal.keep(
        security_log.journaled(who.account, "logout", rate_limits.network(), "" if session else "everywhere")
    )
    gone = Response(status=204)
    return forgotten(gone) if session in ("", who.credential) else gone


@room.route("/proofs", methods=["POST"])
@authorization.own
@fails(403, 503)
@room.arguments(ProofSchema)
@room.response(201, ProvenSchema)
@room.doc(operationId="prove")
def prove(body: Doc) -> Response:
    """Show the password again, and the second factor if there is one: it counts for ten minutes, for this session.

    The session goes on under a new token, which is shown in this answer alone; the one before opens nothing.
    """
    authorization.prove(body["password"], Second.of(body))
    return answer({"token": authorization.renew(), "until": services().people.clock() + FRESH}, 201)


@room.route("/password", methods=["POST"])
@authorization.own
@fails(403, 503)
@room.arguments(NewPasswordSchema)
@room.response(201, EnteredSchema)
@room.doc(operationId="change_password")
def change_password(body: Doc) -> Response:
    """Change the password: all sessions end, and the answer holds the token of a new one. Personal tokens stay."""
    people, me = services().people, authorization.account()
    passwords.check(body["password"], me.name)
    kept = authorization.prove(body["current"], Second.of(body))
    hashed = people.passwords.hashed(body["password"])
    (before,) = (s for s in people.credentials.sessions(me.id) if s.id == authorization.holding().credential)
    token, session = people.credentials.first(Start(me.id, before.label, before.factors, rate_limits.family()))
    logged = security_log.journaled(me.id, "password_changed", rate_limits.network())
    people.credentials.replace(me.id, kept, hashed, [*session, *logged])
    return answer(person(me) | {"token": token, "device": people.credentials.device(me.id)}, 201)


@room.route("/recovery-codes", methods=["POST"])
@authorization.own
@fails(403, 503)
@room.response(201, CodesSchema)
@room.doc(operationId="new_recovery_codes")
def new_recovery_codes() -> Response:
    """Make ten new recovery codes, which no repetition shows again; those before work no more."""
    authorization.fresh()
    people, me = services().people, authorization.holding().account
    codes, kept = people.credentials.codes(me)
    logged = security_log.journaled(me, "recovery_codes_made", rate_limits.network())
    people.credentials.recode(me, kept, logged, authorization.holding().credential)
    return answer({"codes": codes}, 201)

"""An account's devices and its password: what is logged in, and what it takes to log in again."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.authentication import SecondFactorProof
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import clear_site_data, json_response
from api.routes.accounts.accounts import account_to_json
from api.schemas.accounts import CodesSchema, DevicesSchema, EnteredSchema, NewPasswordSchema, ProofSchema, ProvenSchema
from api.services import Doc, services
from domain.accounts import passwords
from domain.accounts.sessions import FRESH, Session, SessionRequest

bp = Blueprint("sessions", __name__, url_prefix="/v1/me", description="Devices, password and recovery codes.")


def session_to_json(session: Session, current: str) -> Doc:
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


@bp.operation(
    "GET", "/sessions", "sessions", access=authorization.require_session, errors=(403,), response=DevicesSchema
)
def sessions() -> Response:
    """List the devices that are logged in, the one used last first."""
    who = authorization.credential_owner()
    found = services().account_store.sessions.list_sessions(who.account)
    return json_response({"items": [session_to_json(session, who.credential) for session in found]})


@bp.operation(
    "DELETE", "/sessions", "log_out_everywhere", access=authorization.require_session, errors=(403,), status=204
)
def log_out_everywhere() -> Response:
    """Log out everywhere: all sessions end, this one too. Personal tokens stay."""
    return _end_sessions("")


@bp.operation(
    "DELETE",
    "/sessions/<credential:session>",
    "log_out",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def log_out(session: str) -> Response:
    """Log out one device."""
    return _end_sessions(session)


def _end_sessions(session: str) -> Response:
    people, who = services().account_store, authorization.credential_owner()
    if not people.sessions.end(who.account, session):
        raise Problem("not_found")
    people.audit_log.store(
        security_log.audit_statements(
            who.account, "logout", rate_limits.client_network(), "" if session else "everywhere"
        )
    )
    gone = Response(status=204)
    return clear_site_data(gone) if session in ("", who.credential) else gone


@bp.operation(
    "POST",
    "/proofs",
    "prove",
    access=authorization.require_session,
    errors=(403, 503),
    body=ProofSchema,
    response=ProvenSchema,
    status=201,
)
def prove(body: Doc) -> Response:
    """Show the password again, and the second factor if there is one: it counts for ten minutes, for this session.

    The session goes on under a new token, which is shown in this answer alone; the one before opens nothing.
    """
    authorization.verify_session_password(body["password"], SecondFactorProof.from_body(body))
    return json_response(
        {"token": authorization.renew_session(), "until": services().account_store.clock() + FRESH}, 201
    )


@bp.operation(
    "POST",
    "/password",
    "change_password",
    access=authorization.require_session,
    errors=(403, 503),
    body=NewPasswordSchema,
    response=EnteredSchema,
    status=201,
)
def change_password(body: Doc) -> Response:
    """Change the password: all sessions end, and the answer holds the token of a new one. Personal tokens stay."""
    people, me = services().account_store, authorization.current_account()
    passwords.check_password(body["password"], me.name)
    kept = authorization.verify_session_password(body["current"], SecondFactorProof.from_body(body))
    hashed = people.passwords.make_hash(body["password"])
    (before,) = (s for s in people.sessions.list_sessions(me.id) if s.id == authorization.credential_owner().credential)
    token, session = people.sessions.make_first(
        SessionRequest(me.id, before.label, before.factors, rate_limits.address_family())
    )
    logged = security_log.audit_statements(me.id, "password_changed", rate_limits.client_network())
    people.credentials.replace_password(me.id, kept, hashed, [*session, *logged])
    return json_response(
        account_to_json(me) | {"token": token, "device": people.sessions.make_device_token(me.id)}, 201
    )


@bp.operation(
    "POST",
    "/recovery-codes",
    "new_recovery_codes",
    access=authorization.require_session,
    errors=(403, 503),
    response=CodesSchema,
    status=201,
)
def new_recovery_codes() -> Response:
    """Make ten new recovery codes, which no repetition shows again; those before work no more."""
    authorization.require_fresh_password()
    people, me = services().account_store, authorization.credential_owner().account
    codes, kept = people.recovery_codes.generate(me)
    logged = security_log.audit_statements(me, "recovery_codes_made", rate_limits.client_network())
    people.recovery_codes.replace(me, kept, logged, authorization.credential_owner().credential)
    return json_response({"codes": codes}, 201)

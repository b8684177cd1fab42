"""Routes of an account's sessions, password and recovery codes."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.authentication import SecondFactorProof
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import clear_site_data, json_response
from api.routes.accounts.accounts import account_to_json
from api.schemas.accounts import CodesDoc, DeviceDoc, DevicesDoc, EnteredDoc, NewPasswordSchema, ProofSchema, ProvenDoc
from api.services import services
from domain.accounts import passwords
from domain.accounts.sessions import FRESH, Session, SessionRequest
from domain.types import Doc

bp = Blueprint("sessions", __name__, url_prefix="/v1/me", description="Devices, password and recovery codes.")


def session_to_json(session: Session, current: str) -> DeviceDoc:
    """Return a session without its network address."""
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
    "GET",
    "/sessions",
    "sessions",
    access=authorization.require_session,
    errors=(403,),
)
def sessions() -> JsonResponse[DevicesDoc]:
    """Return the logged-in devices, last used first."""
    caller = authorization.credential_owner()
    found = services().account_store.sessions.list_sessions(caller.account)
    return json_response({"items": [session_to_json(session, caller.credential) for session in found]})


@bp.operation(
    "DELETE", "/sessions", "log_out_everywhere", access=authorization.require_session, errors=(403,), status=204
)
def log_out_everywhere() -> Response:
    """End all sessions, including this one. Personal tokens stay."""
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
    """End one session."""
    return _end_sessions(session)


def _end_sessions(session: str) -> Response:
    """End one session of the caller, or all for an empty id, and return the response."""
    account_store, caller = services().account_store, authorization.credential_owner()
    if not account_store.sessions.end(caller.account, session):
        raise Problem("not_found")
    told = [] if session else services().notifications.push_devices.erase(caller.account)
    network, where = rate_limits.client_network(), "" if session else "everywhere"
    account_store.audit_log.store([*told, *security_log.audit_statements(caller.account, "logout", network, where)])
    response = Response(status=204)
    return clear_site_data(response) if session in ("", caller.credential) else response


@bp.operation(
    "POST",
    "/proofs",
    "prove",
    access=authorization.require_session_in_any_standing,
    errors=(403, 503),
    body=ProofSchema,
    status=201,
)
def prove(body: Doc) -> JsonResponse[ProvenDoc]:
    """Confirm the password, and the second factor if there is one, for ten minutes of this session.

    The session gets a new token, shown only in this response. The old token stops working.
    """
    authorization.verify_session_password(body["password"], SecondFactorProof.from_body(body))
    return json_response(
        {"token": authorization.renew_session(), "until": services().account_store.clock() + FRESH}, 201
    )


@bp.operation(
    "POST",
    "/password",
    "change_password",
    access=authorization.require_session_in_any_standing,
    errors=(403, 503),
    body=NewPasswordSchema,
    status=201,
)
def change_password(body: Doc) -> JsonResponse[EnteredDoc]:
    """Change the password. All sessions end; the response contains a new session's token.

    Browsers are told nothing more by web push. Personal tokens stay.
    """
    account_store, me = services().account_store, authorization.current_account()
    passwords.check_password(body["password"], me.name)
    old_hash = authorization.verify_session_password(body["current"], SecondFactorProof.from_body(body))
    password_hash = account_store.passwords.make_hash(body["password"])
    (before,) = (
        s for s in account_store.sessions.list_sessions(me.id) if s.id == authorization.credential_owner().credential
    )
    token, session = account_store.sessions.make_first(
        SessionRequest(me.id, before.label, before.factors, rate_limits.address_family())
    )
    audit_rows = security_log.audit_statements(me.id, "password_changed", rate_limits.client_network())
    told = services().notifications.push_devices.erase(me.id)
    account_store.credentials.replace_password(me.id, old_hash, password_hash, [*session, *told, *audit_rows])
    return json_response(
        {**account_to_json(me), "token": token, "device": account_store.sessions.make_device_token(me.id)}, 201
    )


@bp.operation(
    "POST",
    "/recovery-codes",
    "new_recovery_codes",
    access=authorization.require_session_in_any_standing,
    errors=(403, 503),
    status=201,
)
def new_recovery_codes() -> JsonResponse[CodesDoc]:
    """Create ten new recovery codes, shown only in this response. The old codes stop working."""
    authorization.require_fresh_password()
    account_store, me = services().account_store, authorization.credential_owner().account
    codes, kept = account_store.recovery_codes.generate(me)
    audit_rows = security_log.audit_statements(me, "recovery_codes_made", rate_limits.client_network())
    account_store.recovery_codes.replace(me, kept, audit_rows, authorization.credential_owner().credential)
    return json_response({"codes": codes}, 201)

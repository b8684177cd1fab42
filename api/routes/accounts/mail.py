"""Mail of one's own: where it goes, and what is told."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.mail import MailCodeSchema, MailSchema, MailWishSchema
from api.services import ApiServices, Doc, services
from domain.notifications.email_subscriptions import TYPES, EmailPreferences, subscription_to_json
from domain.service.database import Statement

bp = Blueprint("mail", __name__, url_prefix="/v1/me/mail", description="Mail of one's own.")


def _require_mail() -> ApiServices:
    """The services, where mail is sent at all; raises Problem."""
    if not services().settings.mail:
        raise Problem("mail_off")
    return services()


def _audit_statements(what: str) -> list[Statement]:
    return security_log.audit_statements(authorization.credential_owner().account, what, rate_limits.client_network())


def _subscription_to_json() -> Doc:
    found = services().notifications.email_subscriptions.find_by_account(authorization.credential_owner().account)
    if found is None:
        raise Problem("not_found")
    return subscription_to_json(found)


@bp.operation("GET", "", "mail", access=authorization.require_session, errors=(403, 404, 409), response=MailSchema)
def mail() -> Response:
    """Read where mail goes, and what is told. 409 `mail_off` where the service sends none."""
    _require_mail()
    return json_response(_subscription_to_json())


@bp.operation(
    "PUT",
    "",
    "change_mail",
    access=authorization.require_session,
    errors=(403, 409),
    body=MailWishSchema,
    response=MailSchema,
)
def change_mail(body: Doc) -> Response:
    """Say where mail goes, and what is told. A new address is sent a code, and nothing else before that is shown.

    Needs a password that was shown in the last ten minutes. 409 `mail_off` where the service sends none.
    """
    s, me = _require_mail(), authorization.credential_owner().account
    authorization.require_fresh_password()
    authorization.require_good_standing()
    rate_limits.charge_quota("notices", me)
    told = tuple(type_ for type_ in TYPES if type_ in body["events"])
    wish = EmailPreferences(body["address"], told, body["digest"], body["hour"], body["language"])
    s.notifications.email_subscriptions.save(me, wish, s.reader.read_position(), _audit_statements("mail_changed"))
    s.notify_appended(0)
    return json_response(_subscription_to_json())


@bp.operation(
    "POST",
    "/confirmations",
    "confirm_mail",
    access=authorization.require_session,
    errors=(403, 404, 409),
    body=MailCodeSchema,
    response=MailSchema,
)
def confirm_mail(body: Doc) -> Response:
    """Show the code that was sent to the address: from now on mail goes there.

    After five wrong ones another code is needed. 409 `mail_off` where the service sends none.
    """
    s, me = _require_mail(), authorization.credential_owner().account
    authorization.require_good_standing()
    _subscription_to_json()
    with login_throttle.throttled(f"mail codes of {me}"):
        logged = _audit_statements("mail_confirmed")
        if not s.notifications.email_subscriptions.confirm(me, body["code"], s.reader.read_position(), logged):
            security_log.forget_audit_events()
            raise Problem("wrong_credentials", "The code is wrong or has expired.")
    return json_response(_subscription_to_json())


@bp.operation("DELETE", "", "remove_mail", access=authorization.require_session, errors=(403, 404), status=204)
def remove_mail() -> Response:
    """Remove the address, with all that was sent there."""
    s, me = services(), authorization.credential_owner().account
    if not s.notifications.email_subscriptions.remove(me):
        raise Problem("not_found")
    s.account_store.audit_log.store(_audit_statements("mail_removed"))
    return Response(status=204)

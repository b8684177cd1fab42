"""Routes of the account's mail: address, events, confirmation."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import login_throttle, rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.mail import MailCodeSchema, MailDoc, MailWishSchema
from api.services import ApiServices, services
from domain.notifications.email_subscriptions import TYPES, EmailPreferences, EmailSubscription
from domain.service.database import Statement
from domain.types import Doc

bp = Blueprint("mail", __name__, url_prefix="/v1/me/mail", description="Mail notifications of an account.")


def _require_mail() -> ApiServices:
    """Return the services. Raise Problem if the service sends no mail."""
    if not services().settings.mail:
        raise Problem("mail_off")
    return services()


def _audit_statements(what: str) -> list[Statement]:
    """Return the statements of an audit entry for the caller."""
    return security_log.audit_statements(authorization.credential_owner().account, what, rate_limits.client_network())


def subscription_to_json(subscription: EmailSubscription) -> MailDoc:
    """Return a subscription as its owner sees it."""
    preferences = subscription.preferences
    return {
        "address": preferences.address,
        "events": list(preferences.events),
        "digest": preferences.digest,
        "hour": preferences.hour,
        "language": preferences.language,
        "state": subscription.state,
        "made": subscription.made,
        "next": subscription.next or None,
    }


def _own_subscription_to_json() -> MailDoc:
    """Return the caller's mail subscription. Raise Problem without one."""
    found = services().notifications.email_subscriptions.find_by_account(authorization.credential_owner().account)
    if found is None:
        raise Problem("not_found")
    return subscription_to_json(found)


@bp.operation(
    "GET",
    "",
    "mail",
    access=authorization.require_session,
    errors=(403, 404, 409),
)
def mail() -> JsonResponse[MailDoc]:
    """Return your mail address and the events to notify. 409 `mail_off` if the service sends no mail."""
    _require_mail()
    return json_response(_own_subscription_to_json())


@bp.operation("PUT", "", "change_mail", access=authorization.require_session, errors=(403, 409), body=MailWishSchema)
def change_mail(body: Doc) -> JsonResponse[MailDoc]:
    """Set your mail address and the events to notify.

    A new address gets a code, and no other mail before you confirm it. Enter your password again if the last time was
    more than ten minutes ago. 409 `mail_off` if the service sends no mail.
    """
    s, me = _require_mail(), authorization.credential_owner().account
    authorization.require_fresh_password()
    rate_limits.charge_quota("notices", me)
    events = tuple(type_ for type_ in TYPES if type_ in body["events"])
    preferences = EmailPreferences(body["address"], events, body["digest"], body["hour"], body["language"])
    s.notifications.email_subscriptions.save(
        me, preferences, s.reader.read_position(), _audit_statements("mail_changed")
    )
    s.notify_appended(0)
    return json_response(_own_subscription_to_json())


@bp.operation(
    "POST",
    "/confirmations",
    "confirm_mail",
    access=authorization.require_session,
    errors=(403, 404, 409),
    body=MailCodeSchema,
)
def confirm_mail(body: Doc) -> JsonResponse[MailDoc]:
    """Confirm the address with the code from the mail. Notifications go there from now on.

    After five wrong codes, request a new one. 409 `mail_off` if the service sends no mail.
    """
    s, me = _require_mail(), authorization.credential_owner().account
    _own_subscription_to_json()
    with login_throttle.throttled(f"mail codes of {me}"):
        audit_rows = _audit_statements("mail_confirmed")
        if not s.notifications.email_subscriptions.confirm(me, body["code"], s.reader.read_position(), audit_rows):
            security_log.forget_audit_events()
            raise Problem("wrong_credentials", "The code is wrong or has expired.")
    return json_response(_own_subscription_to_json())


@bp.operation("DELETE", "", "remove_mail", access=authorization.require_session, errors=(403, 404), status=204)
def remove_mail() -> Response:
    """Remove the address, with all mail records."""
    s, me = services(), authorization.credential_owner().account
    if not s.notifications.email_subscriptions.remove(me):
        raise Problem("not_found")
    s.account_store.audit_log.store(_audit_statements("mail_removed"))
    return Response(status=204)

"""Mail of one's own: where it goes, and what is told."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.mail import MailCodeSchema, MailSchema, MailWishSchema
from api.services import Doc, Services, services
from domain.notifications.email_subscriptions import TYPES, MailWish, listed
from domain.service.database import Statement

room = Blueprint("mail", __name__, url_prefix="/v1/me/mail", description="Mail of one's own.")


def _sending() -> Services:
    """The services, where mail is sent at all; raises Problem."""
    if not services().settings.mail:
        raise Problem("mail_off")
    return services()


def _logged(what: str) -> list[Statement]:
    return security_log.journaled(authorization.holding().account, what, rate_limits.network())


def _mine() -> Doc:
    found = services().notices.mailboxes.of(authorization.holding().account)
    if found is None:
        raise Problem("not_found")
    return listed(found)


@room.route("", methods=["GET"])
@authorization.own
@fails(403, 404, 409)
@room.response(200, MailSchema)
@room.doc(operationId="mail")
def mail() -> Response:
    """Read where mail goes, and what is told. 409 `mail_off` where the service sends none."""
    _sending()
    return answer(_mine())


@room.route("", methods=["PUT"])
@authorization.own
@fails(403, 409)
@room.arguments(MailWishSchema)
@room.response(200, MailSchema)
@room.doc(operationId="change_mail")
def change_mail(body: Doc) -> Response:
    """Say where mail goes, and what is told. A new address is sent a code, and nothing else before that is shown.

    Needs a password that was shown in the last ten minutes. 409 `mail_off` where the service sends none.
    """
    s, me = _sending(), authorization.holding().account
    authorization.fresh()
    authorization.in_good_standing()
    rate_limits.spend_quota("notices", me)
    told = tuple(type_ for type_ in TYPES if type_ in body["events"])
    wish = MailWish(body["address"], told, body["digest"], body["hour"], body["language"])
    s.notices.mailboxes.keep(me, wish, s.reader.position(), _logged("mail_changed"))
    s.notify(0)
    return answer(_mine())


@room.route("/confirmations", methods=["POST"])
@authorization.own
@fails(403, 404, 409)
@room.arguments(MailCodeSchema)
@room.response(200, MailSchema)
@room.doc(operationId="confirm_mail")
def confirm_mail(body: Doc) -> Response:
    """Show the code that was sent to the address: from now on mail goes there.

    After five wrong ones another code is needed. 409 `mail_off` where the service sends none.
    """
    s, me = _sending(), authorization.holding().account
    authorization.in_good_standing()
    _mine()
    with login_throttle.guessing(f"mail codes of {me}"):
        logged = _logged("mail_confirmed")
        if not s.notices.mailboxes.confirm(me, body["code"], s.reader.position(), logged):
            security_log.repeated()
            raise Problem("wrong_credentials", "That is not the code, or it is too old.")
    return answer(_mine())


@room.route("", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="remove_mail")
def remove_mail() -> Response:
    """Remove the address, with all that was sent there."""
    s, me = services(), authorization.holding().account
    if not s.notices.mailboxes.remove(me):
        raise Problem("not_found")
    s.people.journal.keep(_logged("mail_removed"))
    return Response(status=204)

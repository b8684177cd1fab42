"""Page to unsubscribe from mail by the link in each message, without an account.

The link can only end mail, so any POST is accepted: mail programs send one themselves (RFC 8058).
"""

from __future__ import annotations

from flask import Response, request

from api.http import security_log
from api.http.problems import Problem
from api.pages.common.session import render_page
from api.services import services


def end_mail() -> Response:
    """Ask for confirmation, and end mail on POST. Opening the link changes nothing."""
    boxes = services().notifications.email_subscriptions
    token = request.args.get("token", "")[:100]
    found = boxes.find_by_token(token)
    if found is None:
        raise Problem("not_found")
    if request.method == "POST":
        if boxes.switch_off(found, services().account_store.audit_log.make_entry(found.account, "mail_off")):
            security_log.log_event("account_changed", account=found.account, what="mail_off")
        return render_page("mail_end", ended=True, token=token)
    return render_page("mail_end", ended=found.state == "off", token=token)

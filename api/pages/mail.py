"""The end of mail, by the link that stands in each: whoever holds it needs no account.

It ends mail and does nothing else, so any form will do: a program of the receiver's server sends one too (RFC 8058).
"""

from __future__ import annotations

from flask import Response, request

from api.http import security_log
from api.http.problems import Problem
from api.pages.session import show
from api.services import services


def end() -> Response:
    """Ask whether mail is to end; a link that is only looked at ends nothing."""
    boxes = services().notices.mailboxes
    token = request.args.get("token", "")[:100]
    found = boxes.by(token)
    if found is None:
        raise Problem("not_found")
    if request.method == "POST":
        if boxes.put_off(found, services().people.journal.entry(found.account, "mail_off")):
            security_log.tell("account_changed", account=found.account, what="mail_off")
        return show("mail_end", ended=True, token=token)
    return show("mail_end", ended=found.state == "off", token=token)

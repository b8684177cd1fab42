"""The mail with a code for a new password."""

from __future__ import annotations

import re

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.recovery_codes import FOR_PASSWORD
from domain.kernel.text.message_catalog import LANGUAGES
from tests.notifications.desk import Desk, desk, server
from tests.notifications.mailserver import text

__all__ = ["desk", "server"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_mail_holds_the_code_and_a_link_without_it(desk: Desk, language: str) -> None:
    who = desk.office.person("Anne")
    desk.confirmed(who, language=language)
    code, rows = desk.office.people.recovery_codes.issue(who.id, FOR_PASSWORD)
    boxes = desk.office.notices.email_subscriptions
    assert boxes.send_recovery_code(who.id, "key", code, rows)
    desk.send()
    (mail,) = desk.server.mails[-1:]
    said = text(mail)
    assert f"\n    {code}\n" in said
    assert re.search(r"^    https?://\S+/recovery$", said, re.MULTILINE)
    assert (mail["List-Unsubscribe"], "Anne" in said) == (None, False)
    desk.office.time[0] += DAY
    assert desk.office.people.recovery_codes.find_kind(who.id, code) == ""

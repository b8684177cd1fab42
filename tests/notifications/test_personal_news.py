"""News of what is no record: reports, silences and announcements are told once, without their words."""

from __future__ import annotations

from domain.accounts.account_tables import write
from domain.accounts.accounts import Account
from domain.notifications.personal_news import ANNOUNCED, REPORTED, SILENCED
from domain.types import Doc
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text

__all__ = ["anne", "desk", "server"]


def add(desk: Desk, type_: str, subject: str, player: str, data: Doc) -> None:
    rows = desk.office.notices.outbox.personal_news.add(type_, subject, [player, "guest", ""], data)
    desk.office.context.ledger.run_in_append_order(lambda execute: write(execute, rows))


def test_each_is_told_once_by_its_own_switch(desk: Desk, anne: Account) -> None:
    desk.confirmed(anne, ADDRESS, REPORTED, ANNOUNCED)
    game = desk.office.table(anne, desk.office.person("Bob"))
    desk.send()
    before = len(desk.server.mails)
    about = {"game": game, "ruleset": "orders@1"}
    event = {"tournament": "t-0", "ruleset": "orders@1", "version": 1, "status": "open", "game": None}
    add(desk, REPORTED, "r1", anne.player, about)
    add(desk, SILENCED, "s1", anne.player, {**about, "seat": 0, "deadline": desk.office.time[0] + 1})
    add(desk, ANNOUNCED, "a1", anne.player, {**event, "announcement": "a1"})
    desk.send()
    told = sorted(text(mail) for mail in desk.server.mails[before:])
    assert ["have been reported" in each or "have said something" in each for each in told] == [True, True]
    add(desk, REPORTED, "r1", anne.player, about)  # as after a crash between the notice and its row
    desk.send()
    assert len(desk.server.mails) == before + 2
    assert desk.office.notices.outbox.personal_news.list_waiting() == []

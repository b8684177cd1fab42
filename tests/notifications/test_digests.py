"""Digests on a bad day: many at once, one that cannot be made, and what happens while they are made."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.command_handler import GameConditions
from domain.kernel.game.table_commands import Close, Leave
from domain.notifications.email_subscriptions import DIGEST_RETRY, EmailSubscription
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_owing import PACE
from workers.notifications import digests
from workers.notifications.digests import MAX_WAITING, DigestProducer

__all__ = ["anne", "desk", "server"]

DIGEST = "mail.digest"


def asked(desk: Desk, who: Account, address: str = ADDRESS, *events: str) -> EmailSubscription:
    """A mailbox that gets a digest a day, and of all else the ends of games."""
    return desk.confirmed(who, address, *(events or ("game.over",)), digest="daily")


def many(desk: Desk, count: int) -> list[Account]:
    people = [desk.office.person(f"P{n}") for n in range(count)]
    for n, who in enumerate(people):
        asked(desk, who, f"p{n}@example.org")
    return people


def next_day(desk: Desk, who: Account) -> None:
    desk.office.time[0] = desk.box(who).next


def told(desk: Desk) -> list[str]:
    """Whom digests have reached, in the order in which they came."""
    return [
        to for (_, to, _), subject in zip(desk.server.got, desk.server.subjects, strict=True) if subject == "Your games"
    ]


class TestOneThatCannotBeMade:
    def test_it_hinders_nobody_and_tells_later_what_it_owes(
        self, desk: Desk, anne: Account, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        bob = desk.office.person("Bob")
        asked(desk, anne)
        asked(desk, bob, "bob@example.org")
        game = desk.office.table(anne, bob)
        desk.office.context.commands.handle(game, Close("abandoned", "director"))
        desk.pump()
        next_day(desk, anne)
        real = DigestProducer._build_digest

        def fails(made: DigestProducer, box: EmailSubscription, *args: Any) -> Any:
            if box.account == anne.id:
                raise KeyError(ADDRESS)
            return real(made, box, *args)

        with monkeypatch.context() as patched:
            patched.setattr(DigestProducer, "_build_digest", fails)
            for _ in range(3):
                desk.send()
        assert told(desk) == ["bob@example.org"]
        (line,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert "KeyError" in line.getMessage()
        assert ADDRESS not in caplog.text
        desk.office.time[0] += DIGEST_RETRY
        desk.send()
        assert told(desk) == ["bob@example.org", ADDRESS]
        assert game in text(desk.server.mails[-1])

    def test_mailboxes_that_are_damaged_keep_nobody_from_his(
        self, desk: Desk, anne: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(digests, "MAX_WAITING", 2)
        bad = [asked(desk, who, f"b{n}@example.org") for n, who in enumerate(map(desk.office.person, ("B0", "B1")))]
        asked(desk, anne)
        desk.office.table(anne)
        desk.pump()
        next_day(desk, anne)
        for box in bad:
            desk.office.context.ledger.execute("UPDATE webhooks SET box = '00' WHERE id = ?", (box.webhook,))
        desk.office.context.ledger.execute("UPDATE mailboxes SET next = next - 1 WHERE account <> ?", (anne.id,))
        for _ in range(2):
            desk.send()
        assert told(desk) == [ADDRESS]


class TestManyAtOnce:
    def test_so_many_wait_and_no_more_and_all_get_theirs(self, desk: Desk) -> None:
        people = many(desk, MAX_WAITING + 2)
        for who in people:
            desk.office.table(who)
        desk.pump()
        next_day(desk, people[0])
        for _ in range(3):
            desk.office.owing.produce()
        assert len([row for row in desk.office.rows() if row[2] == DIGEST]) == MAX_WAITING
        for _ in range(3):
            desk.send()
        assert sorted(told(desk)) == sorted(f"p{n}@example.org" for n in range(MAX_WAITING + 2))

    def test_a_turn_does_not_wait_behind_them(self, desk: Desk, anne: Account) -> None:
        """Nor does it for who was served last."""
        people = many(desk, 3)
        asked(desk, anne, ADDRESS, "turn.due")
        for who in people:
            desk.office.table(who)
        desk.pump()
        next_day(desk, people[0])
        desk.digests.enqueue_due(desk.office.time[0])
        desk.office.table(anne)
        desk.send()
        assert desk.server.subjects[0].startswith("Your turn")
        assert len(told(desk)) == 3

    def test_one_look_takes_so_long_and_no_longer(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(digests, "MAX_SECONDS", -1.0)
        people = many(desk, 2)
        for who in people:
            desk.office.table(who)
        desk.pump()
        next_day(desk, people[0])
        for count in (1, 2):
            desk.digests.enqueue_due(desk.office.time[0])
            assert len([row for row in desk.office.rows() if row[2] == DIGEST]) == count

    def test_of_many_tables_it_names_so_many(self, desk: Desk, anne: Account, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(digests, "MAX_LINES", 2)
        box = asked(desk, anne)
        for _ in range(5):
            desk.office.table(anne)
        desk.pump()
        next_day(desk, anne)
        desk.send()
        body = text(desk.server.mails[-1])
        assert (body.count("Your seat: 1"), "and 3 more" in body) == (2, True)
        (row,) = desk.office.context.ledger.execute("SELECT id, box FROM deliveries WHERE type = ?", (DIGEST,))
        kept = desk.office.context.ledger.keys.open("notices", f"delivery|{row[0]}", bytes.fromhex(row[1]))
        assert len(json.loads(kept)["data"]["turns"]) == 2
        assert box.webhook


class TestWhatItTells:
    def test_end_that_the_views_learn_of_late_is_told_the_next_day(self, desk: Desk, anne: Account) -> None:
        asked(desk, anne)
        game, other = desk.office.table(anne), desk.office.table(anne)
        desk.office.context.commands.handle(other, Close("abandoned", "director"))
        desk.pump()
        next_day(desk, anne)
        desk.office.time[0] -= 1
        desk.office.context.commands.handle(game, Close("abandoned", "director"))
        desk.office.time[0] += 1
        desk.send()
        assert other in text([m for m in desk.server.mails if m["Subject"] == "Your games"][-1])
        desk.pump()
        next_day(desk, anne)
        desk.send()
        last = text(desk.server.mails[-1])
        assert (len(told(desk)), game in last, other in last) == (2, True, False)

    def test_what_has_ended_is_told_once(self, desk: Desk, anne: Account) -> None:
        asked(desk, anne)
        game = desk.office.table(anne)
        desk.office.context.commands.handle(game, Close("abandoned", "director"))
        desk.pump()
        for _ in range(2):
            next_day(desk, anne)
            desk.send()
        assert len(told(desk)) == 1

    def test_of_table_left_nothing_is_told_also_while_it_waits(self, desk: Desk, anne: Account) -> None:
        asked(desk, anne)
        left, kept = desk.office.table(anne, listing="invitation"), desk.office.table(anne)
        desk.pump()
        next_day(desk, anne)
        desk.office.owing.produce()
        ended = desk.office.access.revoke(left, 0)
        desk.office.context.commands.handle(left, Leave(0), GameConditions(extra_statements=lambda _: ended))
        desk.office.access.texts.set_card(left, "somebody", "Only for us", "")
        desk.office.deliver()
        body = text(desk.server.mails[-1])
        assert (kept in body, left in body, "Only for us" in body) == (True, False, False)

    def test_a_deadline_that_has_passed_while_it_waits_is_not_told(self, desk: Desk, anne: Account) -> None:
        asked(desk, anne)
        desk.office.table(anne, **PACE)
        desk.pump()
        next_day(desk, anne)
        desk.office.owing.produce()
        desk.office.time[0] += 2 * DAY
        desk.office.deliver()
        assert told(desk) == []

    def test_whoever_is_banned_gets_none(self, desk: Desk, anne: Account) -> None:
        asked(desk, anne)
        desk.office.table(anne)
        desk.pump()
        next_day(desk, anne)
        desk.office.people.accounts.set_state(anne.id, "banned", 0, [])
        desk.send()
        assert (desk.states(), told(desk)) == ({"delivered"}, [])
        desk.office.people.accounts.set_state(anne.id, "active", 0, [])
        desk.send()
        assert told(desk) == [ADDRESS]

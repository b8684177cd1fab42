"""The world goes on between what is owed and what leaves: no mail tells what is over, or to whom it is no concern."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from domain.accounts.accounts import Account
from domain.command_handler import GameConditions
from domain.errors import AccountError
from domain.kernel.game.table_commands import Close, Leave
from domain.notifications.email_subscriptions import EmailPreferences
from domain.notifications.outbox import BACKOFF, CLAIM_TIME, KEPT
from tests.notifications.conftest import Office, Receiver, receiver
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text
from tests.notifications.test_owing import PACE, submit
from workers.notifications.email_renderer import EmailRenderer
from workers.notifications.signatures import PREFIX

__all__ = ["anne", "desk", "receiver", "server"]


def away(desk: Desk) -> None:
    """The server cannot take anything now."""
    desk.server.answer = lambda word, _: "450 later" if word == "RCPT" else ""


def back(desk: Desk) -> int:
    """It can again, and it is time for the next try; how many were tried."""
    desk.server.answer = lambda *_: ""
    desk.office.time[0] += 2 * BACKOFF[0]
    return desk.office.deliver()


def leave(desk: Desk, game: str, seat: int) -> None:
    ended = desk.office.access.revoke(game, seat)
    desk.office.context.commands.handle(game, Leave(seat), GameConditions(extra_statements=lambda _: ended))


class TestBetween:
    def test_who_has_left_is_not_told_what_the_table_is_called_now(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        game = desk.office.table(anne, listing="invitation")
        away(desk)
        desk.send()
        leave(desk, game, 0)
        desk.office.access.texts.set_card(game, "somebody", "Only for us", "")
        back(desk)
        assert desk.server.got == []
        assert {each.state for each in desk.deliveries(anne)} == {"expired"}

    def test_a_turn_that_was_played_meanwhile_is_not_told(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        game = desk.office.table(anne)
        away(desk)
        desk.send()
        submit(desk.office, game, 0)
        desk.pump()
        back(desk)
        assert (desk.server.got, [each.state for each in desk.deliveries(anne)]) == ([], ["expired"])

    def test_one_that_still_stands_is_told_with_views_behind(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.pump()
        game = desk.office.table(anne)
        assert desk.send() == 2
        desk.server.got.clear()
        away(desk)
        third = desk.office.table(anne)
        desk.pump()
        desk.send()
        back(desk)
        assert third in text(desk.server.mails[0])
        assert game not in text(desk.server.mails[0])

    def test_a_deadline_is_not_told_once_the_table_is_closed(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "deadline.near")
        game = desk.office.table(anne, **PACE)
        desk.office.owing.produce()
        (near,) = desk.deliveries(anne)
        desk.office.time[0] = near.due
        away(desk)
        desk.send()
        desk.office.context.commands.handle(game, Close("abandoned", "director"))
        desk.pump()
        back(desk)
        assert (desk.server.got, [each.state for each in desk.deliveries(anne)]) == ([], ["expired"])

    def test_who_is_banned_is_told_nothing_and_later_nothing_old(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()
        desk.office.people.accounts.set_state(anne.id, "banned", 0, [])
        assert desk.office.deliver() == 0
        desk.office.time[0] += KEPT + 1
        desk.office.notices.outbox.prune()
        desk.office.people.accounts.set_state(anne.id, "active", 0, [])
        assert (desk.office.deliver(), desk.server.got) == (0, [])

    def test_who_is_erased_while_it_is_sent_leaves_nothing(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()

        def erase(word: str, _: str) -> str:
            if word == "RCPT":
                desk.office.people.accounts.erase(anne.id, lambda _: desk.office.notices.erase(anne.id))
            return ""

        desk.server.answer = erase
        assert desk.office.deliver() == 1
        assert desk.office.rows() == []

    def test_who_ends_mail_while_one_waits_gets_none(self, desk: Desk, anne: Account) -> None:
        box = desk.confirmed(anne)
        desk.office.table(anne)
        away(desk)
        desk.send()
        desk.office.notices.email_subscriptions.switch_off(box, [])
        assert (back(desk), desk.server.got) == (0, [])

    def test_code_asked_for_address_before_confirms_no_other(self, desk: Desk, anne: Account) -> None:
        desk.keep(anne)
        desk.send()
        code = desk.code()
        desk.keep(anne, "other@example.org")
        assert not desk.confirm(anne, code)
        assert (desk.box(anne).state, desk.box(anne).preferences.address) == ("waiting", "other@example.org")


class TestWhatCannotBeMade:
    def test_it_ends_with_first_try_and_the_log_tells_no_content(
        self, desk: Desk, anne: Account, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        bob = desk.office.person("Bob")
        desk.confirmed(anne)
        desk.confirmed(bob, "bob@example.org")
        real = EmailRenderer.render

        def write(letters: EmailRenderer, id_: str, doc: object, box: object, now: int) -> object:
            if getattr(box, "account", "") == anne.id:
                raise RuntimeError(f"{ADDRESS}: Sunday")
            return real(letters, id_, doc, box, now)  # type: ignore[arg-type] # as it was called

        monkeypatch.setattr(EmailRenderer, "render", write)
        game = desk.office.table(anne, bob)
        desk.office.access.texts.set_card(game, anne.player, "Sunday", "")
        assert desk.send() == 2
        assert [to for _, to, _ in desk.server.got] == ["bob@example.org"]
        (dead,) = desk.deliveries(anne)
        assert (dead.state, dead.log[-1]["said"]) == ("dead", "not_made")
        desk.office.time[0] += CLAIM_TIME
        assert desk.office.deliver() == 0
        (told,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert (dead.id in told.getMessage(), "RuntimeError" in told.getMessage()) == (True, True)
        assert not any(word in caplog.text for word in (ADDRESS, "Sunday"))

    def test_a_webhook_whose_secret_is_none_holds_up_nobody(self, office: Office, receiver: Receiver) -> None:
        who = office.person("Anne")
        bad, good = office.hook(who, receiver.url), office.hook(who, receiver.url)
        box = office.notices.webhooks.seal_box(bad.id, receiver.url, [[f"{PREFIX}x", 0]])
        office.context.ledger.execute("UPDATE webhooks SET box = ? WHERE id = ?", (box, bad.id))
        for hook in (bad, good):
            office.notices.outbox.send_test(hook)
        assert office.deliver() == 2
        found = {hook.id: office.notices.outbox.list_deliveries(hook.id)[0].state for hook in (bad, good)}
        assert found == {bad.id: "dead", good.id: "delivered"}

    @pytest.mark.parametrize("table", ["webhooks", "deliveries"])
    def test_a_row_that_is_damaged_holds_up_nobody(self, office: Office, receiver: Receiver, table: str) -> None:
        who = office.person("Anne")
        bad, good = office.hook(who, receiver.url), office.hook(who, receiver.url)
        for hook in (bad, good):
            office.notices.outbox.send_test(hook)
        key = "id" if table == "webhooks" else "webhook"
        damage = f"UPDATE {table} SET box = replace(box, substr(box, 60, 8), '00000000') WHERE {key} = ?"  # noqa: S608
        office.context.ledger.execute(damage, (bad.id,))
        assert office.deliver() == 1
        assert len(receiver.got) == 1
        (dead,) = office.notices.outbox.list_deliveries(bad.id)
        assert (dead.state, dead.log[-1]["said"]) == ("dead", "damaged")
        assert not office.notices.outbox.has_due()


def test_the_link_stands_in_its_header_as_programs_read_it(desk: Desk, anne: Account) -> None:
    """RFC 2369 and 8058: an address in angle brackets. Encoded words (RFC 2047) are none there, however long it is."""
    box = desk.confirmed(anne)
    desk.office.table(anne)
    desk.send()
    ((_, _, raw),) = desk.server.got
    head = raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert f"List-Unsubscribe: <https://play.example/mail/end?token={box.token}>".encode() in head
    assert b"List-Unsubscribe-Post: List-Unsubscribe=One-Click" in head


class TestWhatProgramsReadOtherwise:
    """RFC 2047: `=?utf-8?q?...?=` stands for something else, and the library of mail puts that in its place."""

    TITLE = "=?utf-8?q?a=0ABcc=3A_eve=40example.org?="

    def test_a_title_is_no_header(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.access.texts.set_card(desk.office.table(anne), anne.player, self.TITLE, "")
        assert desk.send() == 1
        ((_, to, raw),) = desk.server.got
        head = raw.partition(b"\r\n\r\n")[0]
        assert (to, b"\nBcc" in head, desk.server.mails[0].keys().count("Subject")) == (ADDRESS, False, 1)
        assert desk.server.subjects == [f"Your turn: {self.TITLE.replace('=?', '= ?')}"]
        assert self.TITLE in text(desk.server.mails[0])

    @pytest.mark.parametrize("title", ["=?utf-8?b?AAAA?=", "=?=?x", "=" * 40 + "?" * 40, "=?utf-8?q?hello?= =?x?="])
    def test_others_come_as_they_are(self, desk: Desk, anne: Account, title: str) -> None:
        desk.confirmed(anne)
        desk.office.access.texts.set_card(desk.office.table(anne), anne.player, title, "")
        assert desk.send() == 1
        assert desk.server.subjects == [f"Your turn: {title.replace('=?', '= ?')}"]

    @pytest.mark.parametrize(
        "address",
        [
            "=?utf-8?q?victim=40example.com=2C?=@example.org",
            "=?utf-8?q?v?=@example.org",
            "=?utf-8?q?x=0D=0ABcc=3A?=@example.org",
        ],
    )
    def test_an_address_is_no_other_one(self, desk: Desk, anne: Account, address: str) -> None:
        """It would be a way around how many codes an address is sent."""
        with pytest.raises(AccountError) as refused:
            desk.keep(anne, address)
        assert refused.value.code == "webhook_refused"

    def test_mail_goes_where_it_is_addressed(self, desk: Desk, anne: Account) -> None:
        """Whatever sign the name has: neither another recipient nor another header."""
        signs = "!#$%&'*+/=?^_`{|}~-."
        letters = desk.mailer.renderer
        box = desk.keep(anne)
        for sign in signs:
            for name in (f"a{sign}b", f"a{sign}{sign}b", f"a{sign}", sign if sign != "." else "a"):
                wish = EmailPreferences(f"{name}@example.org")
                if "=?" in name:
                    continue
                made = letters.render(
                    "msg", {"type": "mail.confirm", "data": {"code": "X"}}, replace(box, preferences=wish), 0
                )
                assert str(made["To"]) == wish.address
                assert f"\r\nTo: {wish.address}\r\n".encode() in made.as_bytes()

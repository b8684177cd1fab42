"""Mail, handed over to a server that really listens: what it says, to whom it goes, and what comes of refusals."""

from __future__ import annotations

import logging
import random
import re
import socket
import ssl
import threading
from email.message import EmailMessage
from pathlib import Path
from string import Formatter

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.errors import AccountError
from domain.kernel.game.pause_commands import PauseGame
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Leave
from domain.kernel.rules.decide import decisions
from domain.kernel.text.message_catalog import LANGUAGES
from domain.kernel.text.package_data import load
from domain.notifications import email_subscriptions
from domain.notifications.deliveries import DeliveryResult
from domain.notifications.email_subscriptions import (
    CODES_A_DAY,
    CODES_OF_ADDRESS,
    TRIES,
    EmailPreferences,
    next_digest_time,
)
from domain.notifications.notification_store import NotificationStore
from domain.notifications.outbox import BACKOFF, CLAIM_TIME, GIVEN_UP, MOST_BOUNCES
from domain.rollouts import random_move
from tests.deploy.test_tls import certify
from tests.notifications.conftest import CATALOGUE
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import MailServer, mail_server, text
from workers.notifications.smtp_client import SmtpClient
from workers.notifications.smtp_settings import SmtpServer, parse_smtp_url

__all__ = ["anne", "desk", "server"]


class TestConfirming:
    def test_before_the_code_is_shown_nothing_else_is_sent(self, desk: Desk, anne: Account) -> None:
        desk.keep(anne)
        desk.office.table(anne)
        assert desk.send() == 1
        (mail,) = desk.server.mails
        assert (mail["To"], mail["From"]) == (ADDRESS, "annals@play.example")
        assert "List-Unsubscribe" not in mail
        assert not desk.confirm(anne, "AAAAAAAAAA")
        desk.office.table(anne)
        assert desk.send() == 0
        assert desk.confirm(anne, desk.code().lower())
        desk.office.table(anne)
        assert desk.send() == 1
        assert desk.server.subjects[1].startswith("Your turn:")

    def test_who_guesses_has_few_tries(self, desk: Desk, anne: Account) -> None:
        desk.keep(anne)
        desk.send()
        for _ in range(TRIES):
            assert not desk.confirm(anne, "AAAAAAAAAA")
        assert not desk.confirm(anne, desk.code())

    def test_a_code_is_good_for_a_day_and_for_its_account_alone(self, desk: Desk, anne: Account) -> None:
        bob = desk.office.person("Bob")
        desk.keep(anne)
        desk.send()
        code = desk.code()
        desk.keep(bob, "bob@example.org")
        assert not desk.confirm(bob, code)
        desk.office.time[0] += email_subscriptions.CODE_LASTS
        assert not desk.confirm(anne, code)

    def test_code_shown_switches_on_nothing_that_was_put_off(self, desk: Desk, anne: Account) -> None:
        desk.keep(anne)
        desk.send()
        code = desk.code()
        assert all(desk.confirm(anne, code) for _ in range(2))
        desk.office.notices.email_subscriptions.switch_off(desk.box(anne), [])
        desk.confirm(anne, code)
        assert desk.box(anne).state == "off"

    def test_a_request_that_is_repeated_sends_one_code(self, desk: Desk, anne: Account) -> None:
        for _ in range(3):
            desk.keep(anne)
        assert desk.send() == 1
        desk.office.time[0] += email_subscriptions.CODE_INTERVAL
        desk.keep(anne)
        assert desk.send() == 1
        assert desk.confirm(anne, desk.code())

    def test_another_address_is_told_nothing_before_it_is_confirmed(self, desk: Desk, anne: Account) -> None:
        before = desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()
        desk.keep(anne, "other@example.org")
        desk.office.table(anne)
        assert desk.send() == 1
        assert desk.server.got[0][1] == "other@example.org"
        assert desk.office.notices.email_subscriptions.find_by_token(before.token) is None
        assert desk.box(anne).state == "waiting"

    def test_one_account_asks_for_so_many_codes_a_day(self, desk: Desk, anne: Account) -> None:
        for n in range(CODES_A_DAY):
            desk.keep(anne, f"a{n}@example.org")
        with pytest.raises(AccountError):
            desk.keep(anne, "more@example.org")
        desk.office.time[0] += DAY
        desk.keep(anne, "more@example.org")

    def test_one_address_is_sent_so_many_and_nobody_learns_of_it(self, desk: Desk) -> None:
        """Neither letters nor what follows a `+` make another address of it."""
        kept = [
            desk.keep(desk.office.person(f"P{n}"), a)
            for n, a in enumerate(
                ("v@example.org", "V@example.org", "v+1@example.org", "v+2@example.org", "v@EXAMPLE.org")
            )
        ]
        assert {box.state for box in kept} == {"waiting"}
        assert desk.send() == CODES_OF_ADDRESS

    @pytest.mark.parametrize(
        "address",
        [
            "",
            "a",
            "a@b",
            "a@localhost",
            "a b@example.org",
            "a@example.org\r\nBcc: b@example.org",
            "a@example.org\n",
            "<a@example.org>",
            "a@[127.0.0.1]",
            '"a b"@example.org',
            "a@-x.org",
            "é@example.org",
            ".a@example.org",
        ],
    )
    def test_what_is_no_address(self, address: str) -> None:
        assert not email_subscriptions.ADDRESS.fullmatch(address)


class TestTurns:
    def test_who_has_just_moved_gets_no_mail_of_the_next_decision(self, desk: Desk, anne: Account) -> None:
        """Somebody who was playing got nine mails in 35 seconds. A program still hears of every decision."""
        desk.confirmed(anne, ADDRESS, "turn.due")
        game, rng, own = desk.office.table(anne, ruleset="passage@1"), random.Random(3), 0
        hook = desk.office.hook(anne, "http://127.0.0.1:9/x", "mine", "", "turn.due")
        commands, rules = desk.office.context.commands, CATALOGUE.get("passage@1")
        desk.office.owing.produce()

        def told() -> tuple[int, int]:
            rows = [row for row in desk.office.rows() if row[2] == "turn.due"]
            return sum(row[1] == hook.id for row in rows), sum(row[1] != hook.id for row in rows)

        while not own and (opened := decisions(rules, commands.game(game).state)):
            seat, (programs, mails) = opened[0].must[0], told()
            commands.handle(game, Play(seat, [random_move(rules, commands.game(game).state, seat, rng)]))
            desk.office.owing.produce()
            again = decisions(rules, commands.game(game).state)
            if seat == 0 and again and 0 in again[0].must and again[0].id != opened[0].id:
                own += 1
                assert told() == (programs + 1, mails)
        assert own


class TestLetters:
    @pytest.mark.parametrize(("language", "subject"), [("en", "Your turn: Sunday"), ("fr", "À vous de jouer : Sunday")])
    def test_a_turn_is_told_in_the_language_of_the_mailbox(
        self, desk: Desk, anne: Account, language: str, subject: str
    ) -> None:
        box = desk.confirmed(anne, language=language)
        game = desk.office.table(anne)
        desk.office.access.texts.set_card(game, anne.player, "Sunday", "a note")
        assert desk.send() == 1
        (mail,) = desk.server.mails
        link = f"https://play.example/mail/end?token={box.token}"
        assert mail["Subject"] == subject
        (told,) = [row[0] for row in desk.office.rows() if row[2] == "turn.due"]
        assert mail["Message-ID"] == f"<{told}@play.example>"
        assert (mail["List-Unsubscribe"], mail["List-Unsubscribe-Post"]) == (f"<{link}>", "List-Unsubscribe=One-Click")
        assert mail.get_content_type() == "text/plain"
        body = text(mail)
        assert f"https://play.example/games/{game}" in body
        assert link in body
        for kept in (anne.id, anne.player, box.webhook, "a note"):
            assert kept not in desk.server.got[0][2].decode()

    @pytest.mark.parametrize("title", ["x\r\nBcc: eve@example.org\r\n\r\nHello", "\r\n.\r\nRSET", "a\x0bb\x85c\u2028d"])
    def test_a_title_makes_no_header_and_no_command(self, desk: Desk, anne: Account, title: str) -> None:
        desk.confirmed(anne)
        game = desk.office.table(anne)
        desk.office.access.texts.set_card(game, anne.player, title, "")
        desk.server.said.clear()
        assert desk.send() == 1
        (mail,) = desk.server.mails
        assert "Bcc" not in mail
        assert len(mail.get_all("Subject", [])) == 1
        assert desk.server.words == ["EHLO", "MAIL", "RCPT", "DATA"]

    def test_a_title_is_no_template(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.access.texts.set_card(desk.office.table(anne), anne.player, "{seat.__class__} {x}", "")
        desk.send()
        assert desk.server.subjects == ["Your turn: {seat.__class__} {x}"]

    def test_both_languages_say_the_same(self) -> None:
        english, french = (load("workers.notifications", f"texts/{lang}.json") for lang in LANGUAGES)
        assert english.keys() == french.keys()
        for key, said in english.items():
            places = [{place for _, place, _, _ in Formatter().parse(form) if place} for form in (said, french[key])]
            assert places[0] == places[1], key
            assert said != french[key] or not re.search("[A-Za-z]{3}", re.sub(r"{\w+}", "", said)), key


class TestTries:
    def test_a_server_that_cannot_now_is_asked_again(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.server.answer = lambda word, _: "450 later" if word == "RCPT" else ""
        assert desk.send() == 1
        assert desk.office.deliver() == 0
        desk.server.answer = lambda *_: ""
        desk.office.time[0] += int(BACKOFF[0] * 1.3)
        assert desk.office.deliver() == 1
        (found,) = [
            d for d in desk.office.notices.outbox.list_deliveries(desk.box(anne).webhook) if d.type == "turn.due"
        ]
        assert (found.state, [each["status"] for each in found.log]) == ("delivered", [450, 250])
        assert len(desk.server.got) == 1

    @pytest.mark.parametrize("at", ["MAIL", "RCPT", "DATA", "BODY"])
    def test_what_is_refused_for_good_is_dead(self, desk: Desk, anne: Account, at: str) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.server.answer = lambda word, _: "554 no" if word == at else ""
        assert desk.send() == 1
        assert desk.states() == {"delivered", "dead"}
        assert desk.box(anne).state == "on"

    def test_address_refused_several_times_on_end_is_switched_off(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)

        def told(answer: str) -> None:
            desk.server.answer = lambda word, _: answer if word == "RCPT" else ""
            desk.office.table(anne)
            desk.send()
            desk.office.time[0] += DAY

        for _ in range(MOST_BOUNCES - 1):
            told("550 unknown")
        told("")
        for _ in range(MOST_BOUNCES - 1):
            told("550 unknown")
        told("450 later")
        assert desk.box(anne).state == "on"
        told("550 unknown")
        assert desk.box(anne).state == "off"
        assert [e.what for e in desk.office.people.audit_log.list_entries(anne.id)] == ["mail_off"]
        count = len(desk.office.rows())
        desk.office.table(anne)
        desk.send()
        assert len(desk.office.rows()) == count

    def test_a_server_that_is_away_for_days_switches_no_address_off(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.server.answer = lambda word, _: "421 away" if word == "CONNECT" else ""
        for _ in range(3):
            desk.office.table(anne)
            desk.send()
            desk.office.time[0] += GIVEN_UP
        assert desk.box(anne).state == "on"

    def test_one_killed_before_it_notes_is_sent_again_under_same_id(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()
        parcel = desk.office.notices.outbox.claim()
        assert parcel
        assert desk.mailer.send(parcel, desk.office.time[0])  # and there the process is killed
        assert desk.office.deliver() == 0
        desk.office.time[0] += CLAIM_TIME
        assert desk.office.deliver() == 1
        first, second = desk.server.mails
        assert first["Message-ID"] == second["Message-ID"]

    def test_a_deadline_that_has_passed_is_not_told(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "turn.due", "deadline.near")
        desk.office.table(anne, pace={"seconds": {"turn": 86_400}})
        desk.office.owing.produce()
        desk.office.time[0] += 3 * DAY
        desk.office.deliver()
        assert desk.server.got == []
        assert desk.states() == {"delivered", "expired"}

    def test_a_pause_is_told(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "turn.due", "deadline.near")
        game = desk.office.table(anne, pace={"seconds": {"turn": 86_400}})
        desk.office.owing.produce()
        desk.office.context.commands.handle(game, PauseGame())
        desk.pump()
        desk.send()
        (mail,) = desk.server.mails
        assert "The game is paused: no time runs.\n" in text(mail)

    def test_only_what_is_wanted_is_told(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "game.over")
        desk.office.table(anne)
        assert desk.send() == 0


class TestRows:
    def test_nothing_that_opens_anything_is_kept_in_plain_form(self, desk: Desk, anne: Account) -> None:
        desk.keep(anne)
        desk.send()
        execute = desk.office.context.ledger.execute
        kept = "".join(
            repr(execute(f"SELECT * FROM {table}"))  # noqa: S608 - our own names
            for table in ("webhooks", "deliveries", "mailboxes", "mail_asked")
        )
        box = desk.box(anne)
        assert not any(word in kept for word in (ADDRESS, "anne@", box.token, desk.code()))
        assert not any(word in repr(box) for word in (ADDRESS, box.token))

    def test_with_the_account_all_of_it_is_gone(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()
        desk.office.people.accounts.erase(anne.id, lambda _: desk.office.notices.erase(anne.id))
        execute = desk.office.context.ledger.execute
        assert [execute(f"SELECT * FROM {t}") for t in ("webhooks", "deliveries", "mailboxes")] == [[], [], []]  # noqa: S608
        assert desk.office.deliver() == 0
        with pytest.raises(AccountError):
            desk.keep(anne)

    def test_a_mailbox_is_no_webhook(self, desk: Desk, anne: Account) -> None:
        box, hooks = desk.confirmed(anne), desk.office.notices.webhooks
        assert hooks.list_by_account(anne.id) == []
        assert hooks.find(anne.id, box.webhook) is None
        assert hooks.rotate_secret(anne.id, box.webhook) is None
        assert not hooks.remove(anne.id, box.webhook)
        assert desk.box(anne) == box

    def test_where_operator_sends_none_nothing_is_owed_or_tried(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne)
        desk.keep(desk.office.person("Bob"), "bob@example.org")
        ledger = desk.office.context.ledger
        silent = NotificationStore(ledger, ledger.keys, desk.office.context.clock, ("mine", "table", "lobby"))
        assert silent.outbox.first_position() is None
        assert not silent.outbox.has_due()
        assert silent.outbox.claim() is None

    def test_put_off_it_is_told_nothing_and_on_again_only_by_a_code(self, desk: Desk, anne: Account) -> None:
        box = desk.confirmed(anne)
        desk.office.table(anne)
        desk.office.owing.produce()
        found = desk.office.notices.email_subscriptions.find_by_token(box.token)
        assert found
        assert desk.office.notices.email_subscriptions.switch_off(found, [])
        assert not desk.office.notices.email_subscriptions.switch_off(found, [])
        desk.office.table(anne)
        assert desk.send() == 0
        desk.keep(anne)
        assert desk.box(anne).state == "waiting"


class TestDigests:
    def test_it_comes_at_its_hour_with_what_stands(self, desk: Desk, anne: Account) -> None:
        office = desk.office
        desk.confirmed(anne, ADDRESS, "game.over", digest="daily", hour=6)
        games = [office.table(anne) for _ in range(2)]
        office.access.texts.set_card(games[0], anne.player, "Sunday", "")
        desk.pump()
        assert desk.send() == 0
        office.time[0] = desk.box(anne).next
        for _ in range(2):
            office.owing.produce()
        assert office.deliver() == 1
        assert desk.server.subjects == ["Your games"]
        body = text(desk.server.mails[0])
        assert body.count("Your seat: 1") == 2
        assert all(game in body for game in games)
        assert "Sunday" in body
        assert desk.box(anne).next == office.time[0] + DAY

    def test_one_that_would_tell_nothing_is_not_sent(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, digest="weekly", hour=23)
        desk.pump()
        desk.office.time[0] = desk.box(anne).next
        assert desk.send() == 0
        assert desk.box(anne).next == desk.office.time[0] + 7 * DAY

    def test_killed_before_the_next_is_noted_it_is_sent_once(self, desk: Desk, anne: Account) -> None:
        office = desk.office
        before = desk.confirmed(anne, ADDRESS, "game.over", digest="daily")
        office.table(anne)
        desk.pump()
        office.time[0] = before.next
        office.owing.produce()
        office.context.ledger.execute("UPDATE mailboxes SET next = ?, last = ?", (before.next, before.last))
        assert desk.send() == 1

    def test_after_a_long_silence_there_is_one(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "game.over", digest="daily")
        desk.office.table(anne)
        desk.pump()
        desk.office.time[0] += 30 * DAY
        assert desk.send() == 1

    @pytest.mark.parametrize(
        ("digest", "hour", "after"),
        [("none", 0, None), ("daily", 12, DAY // 2), ("daily", 0, DAY), ("weekly", 0, 4 * DAY)],
    )
    def test_when_the_next_is_due(self, digest: str, hour: int, after: int | None) -> None:
        """1970 began on a Thursday."""
        assert next_digest_time(0, EmailPreferences(ADDRESS, (), digest, hour)) == (after or 0)


def letter() -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "annals@play.example", ADDRESS, "x"
    mail.set_content(".hidden\n..\n")
    return mail


class TestHandingOver:
    @pytest.fixture
    def contexts(self, tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        """The server's, and that of who trusts it."""
        cert, key = certify(tmp_path, "localhost")
        serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        serving.load_cert_chain(cert, key)
        trusting = ssl.create_default_context(cafile=cert)
        trusting.hostname_checks_common_name = True
        return serving, trusting

    def test_what_begins_with_a_point_comes_as_it_is(self, server: MailServer) -> None:
        assert SmtpClient(SmtpServer("127.0.0.1", server.port, "none")).send(letter()).is_success
        assert text(server.mails[0]).splitlines() == [".hidden", ".."]

    @pytest.mark.parametrize("tls", ["starttls", "whole"])
    def test_by_tls_with_a_name_and_a_password(self, contexts: tuple[ssl.SSLContext, ...], tls: str) -> None:
        serving, trusting = contexts
        with mail_server(context=serving, whole=tls == "whole", user=("annals", "s3cret word")) as server:
            post = SmtpClient(SmtpServer("localhost", server.port, tls, "annals", "s3cret word"), lambda: trusting)
            assert post.send(letter()).is_success
            assert server.tls == [True]
            before = server.said[: server.said.index("STARTTLS")] if tls == "starttls" else []
            assert not [line for line in before if line.startswith("AUTH")]

    @pytest.mark.parametrize("tls", ["starttls", "whole"])
    def test_a_certificate_that_nobody_has_signed_is_refused(
        self, contexts: tuple[ssl.SSLContext, ...], tls: str
    ) -> None:
        with mail_server(context=contexts[0], whole=tls == "whole", user=("annals", "s3cret word")) as server:
            found = SmtpClient(SmtpServer("localhost", server.port, tls, "annals", "s3cret word")).send(letter())
        assert (found.status, found.said, server.got) == (0, "tls_failed", [])
        assert not [line for line in server.said if line.startswith("AUTH")]

    def test_a_server_without_starttls_is_told_nothing(self, server: MailServer) -> None:
        server.user = ("annals", "s3cret word")
        found = SmtpClient(SmtpServer("127.0.0.1", server.port, "starttls", "annals", "s3cret word")).send(letter())
        assert (found.said, server.got) == ("tls_failed", [])
        assert server.words == ["EHLO"]

    def test_a_wrong_password_is_tried_again_and_never_told(
        self, desk: Desk, anne: Account, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The server quotes it; it is the operator's to put right, and no notice is lost."""
        caplog.set_level(logging.DEBUG)
        desk.confirmed(anne)
        desk.server.user = ("annals", "right")
        wrong = SmtpClient(SmtpServer("127.0.0.1", desk.server.port, "none", "annals", "s3cret-w0rd"))
        desk.by(wrong)
        desk.office.table(anne)
        assert desk.send() == 1
        (found,) = desk.office.notices.outbox.list_deliveries(desk.box(anne).webhook, "waiting")
        assert (found.log[0]["status"], found.log[0]["said"]) == (535, "login_refused")
        assert "login_refused" in caplog.text
        assert "s3cret-w0rd" not in caplog.text + repr(found) + repr(wrong)

    def test_a_server_that_says_nothing_is_left(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            found = SmtpClient(SmtpServer("127.0.0.1", silent.getsockname()[1], "none"), seconds=0.3).send(letter())
        assert (found.status, found.said) == (0, "timeout")

    def test_one_that_goes_on_word_by_word_is_left(self, server: MailServer) -> None:
        server.answer = lambda word, _: "250-x\r\n" * 50_000 + "250 x" if word == "EHLO" else ""
        found = SmtpClient(SmtpServer("127.0.0.1", server.port, "none"), seconds=0.5).send(letter())
        assert found.ms < 5000

    def test_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        assert SmtpClient(SmtpServer("127.0.0.1", port, "none")).send(letter()).said == "no_answer"

    def test_of_a_worker_there_is_one_connection_at_a_time(self, server: MailServer) -> None:
        post, found, at_once = SmtpClient(SmtpServer("127.0.0.1", server.port, "none")), list[DeliveryResult](), [0]

        def counted(word: str, _: str) -> str:
            """From the first word to the answer to the mail."""
            at_once.append(at_once[-1] + {"CONNECT": 1, "BODY": -1}.get(word, 0))
            return ""

        server.answer = counted
        threads = [threading.Thread(target=lambda: found.append(post.send(letter()))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ([each.is_success for each in found], max(at_once)) == ([True] * 6, 1)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.example", SmtpServer("mail.example", 587, "starttls")),
        ("smtps://u:p%40%3A@mail.example", SmtpServer("mail.example", 465, "whole", "u", "p@:")),
        ("smtp://mail.example:25?starttls=no", SmtpServer("mail.example", 25, "none")),
        ("smtp://127.0.0.1:2525", SmtpServer("127.0.0.1", 2525, "none")),
        ("smtp://localhost", SmtpServer("localhost", 587, "none")),
        ("smtp://localhost.example", SmtpServer("localhost.example", 587, "starttls")),
        ("smtp://127.0.0.1.example", SmtpServer("127.0.0.1.example", 587, "starttls")),
    ],
)
def test_a_server_is_named_by_an_address(url: str, expected: SmtpServer) -> None:
    assert parse_smtp_url(url) == expected


def test_a_seat_that_was_left_is_told_nothing(desk: Desk, anne: Account) -> None:
    desk.confirmed(anne)
    game = desk.office.table(anne)
    desk.send()
    desk.server.got.clear()
    for statement, params in desk.office.access.revoke(game, 0):
        desk.office.context.ledger.execute(statement, params)
    desk.office.context.commands.handle(game, Leave(0))
    assert desk.send() == 0

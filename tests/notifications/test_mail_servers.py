"""Servers on a bad day: whatever they say, and wherever they fall silent, no mail is lost and none counts as sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.notifications.deliveries import DeliveryResult
from domain.notifications.outbox import BACKOFF, MOST_BOUNCES
from tests.notifications.desk import Desk, anne, desk, server
from tests.notifications.mailserver import MailServer
from tests.notifications.test_mail import letter
from workers.notifications import smtp_client
from workers.notifications.smtp_client import MAX_REPLY_BYTES, SmtpClient
from workers.notifications.smtp_settings import SmtpServer
from workers.notifications.webhook_client import MAX_ADDRESSES

__all__ = ["anne", "desk", "server"]

STEPS = ("CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "BODY")


def at(step: str, said: str) -> Callable[[str, str], str]:
    """Who says that at one step. A server that does not know EHLO is asked by HELO."""
    steps = ("EHLO", "HELO") if step == "EHLO" else (step,)
    return lambda word, _: said if word in steps else ""


def handed(server: MailServer, seconds: float = 5.0) -> DeliveryResult:
    server.user = ("annals", "s3cret")
    return SmtpClient(SmtpServer("127.0.0.1", server.port, "none", "annals", "s3cret"), seconds=seconds).send(letter())


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "said", ["299 x", "354 x", "399 x", "421 x", "450 x", "550 x", "9 x", "hello", "250", "\0" * 99]
)
def test_only_what_was_taken_counts_as_sent(server: MailServer, step: str, said: str) -> None:
    if (step, said[:3]) in (("DATA", "354"), ("BODY", "299"), ("BODY", "250")):
        return  # so it goes on as it should
    server.answer = at(step, said)
    found = handed(server)
    assert found.is_success == (len(server.got) == 1)
    assert 0 <= found.status < 600
    assert found.said or found.is_success
    assert found.is_final == (not found.is_success and said[0] == "5" and step in ("MAIL", "RCPT", "DATA", "BODY"))


@pytest.mark.parametrize("step", STEPS)
def test_one_that_falls_silent_is_left_in_time(server: MailServer, step: str) -> None:
    over = threading.Event()

    def silent(word: str, _: str) -> str:
        if word == step:
            over.wait(5)
        return ""

    server.answer = silent
    began = time.monotonic()
    found = handed(server, 0.3)
    over.set()
    assert (found.said, found.is_final) == ("timeout", False)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("step", ["CONNECT", "EHLO", "RCPT"])
@pytest.mark.parametrize("line", ["250-x\r\n", "250-" + "x" * 8000 + "\r\n"])
def test_one_that_never_comes_to_an_end_is_not_listened_to(server: MailServer, step: str, line: str) -> None:
    server.answer = at(step, line * (20 * MAX_REPLY_BYTES // len(line)) + "250 x")
    found = handed(server)
    assert (found.status, found.said, server.got) == (0, "no_answer", [])


def test_who_has_handed_over_takes_leave(server: MailServer) -> None:
    """RFC 5321, 4.1.1.10: no connection is closed before QUIT."""
    assert handed(server).is_success
    for _ in range(100):
        if server.said[-1] == "QUIT":
            break
        time.sleep(0.01)
    assert server.said[-1] == "QUIT"


def test_few_addresses_of_a_name_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs seconds, and whoever waits for a delivery has taken it for a minute."""
    monkeypatch.setattr(smtp_client, "resolve", lambda *_: [f"127.0.0.{n}" for n in range(2, 20)])
    tried: list[object] = []

    def nobody(to: object, *_: object) -> None:
        tried.append(to)
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.create_connection", nobody)
    assert SmtpClient(SmtpServer("mail.example", 25, "none")).send(letter()).said == "no_answer"
    assert len(tried) == MAX_ADDRESSES


class TestRefusals:
    """RFC 3463: a server says whether it speaks of the address, of the mail, or of what the operator has set up."""

    @pytest.mark.parametrize(
        ("said", "expected"),
        [
            ("550 5.1.1 no such user", "off"),
            ("553 5.1.3 bad address", "off"),
            ("550 5.2.1 mailbox disabled", "off"),
            ("550 unknown", "off"),
            ("554 5.7.1 relay access denied", "on"),
            ("552 5.3.4 message too big", "on"),
            ("530 5.7.0 authentication required", "on"),
        ],
    )
    def test_only_what_is_said_of_an_address_switches_it_off(
        self, desk: Desk, anne: Account, said: str, expected: str
    ) -> None:
        desk.confirmed(anne)
        desk.server.answer = at("RCPT", said)
        for _ in range(MOST_BOUNCES):
            desk.office.table(anne)
            desk.send()
            desk.office.time[0] += DAY
        assert desk.box(anne).state == expected

    @pytest.mark.parametrize("step", ["MAIL", "RCPT"])
    def test_what_the_operator_must_put_right_loses_no_mail(self, desk: Desk, anne: Account, step: str) -> None:
        desk.confirmed(anne)
        desk.office.table(anne)
        desk.server.answer = at(step, "530 5.7.0 authentication required")
        desk.send()
        (waiting,) = desk.deliveries(anne)
        assert (waiting.state, waiting.log[-1]["said"]) == ("waiting", "login_refused")
        desk.server.answer = at("", "")
        desk.office.time[0] += 2 * BACKOFF[0]
        assert desk.send() == 1
        assert len(desk.server.got) == 1

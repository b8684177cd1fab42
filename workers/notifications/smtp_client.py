"""Hands mails to the operator's SMTP server, by TLS unless configured otherwise, with a time limit.

Server replies are never logged or stored, because they may quote the password or the mail.
"""

from __future__ import annotations

import contextlib
import json
import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import parseaddr
from typing import BinaryIO

from domain.notifications.deliveries import NO_MAILBOX, REFUSED, ClaimedDelivery, DeliveryResult
from domain.notifications.email_subscriptions import (
    CONFIRM,
    DIGEST,
    EVENT_PART,
    GAME_PARTS,
    RECOVERY,
    EmailSubscription,
    EmailSubscriptions,
)
from domain.notifications.unread_mail import ONCE_TYPES, UnreadMail
from domain.notifications.unread_messages import UnreadMessageFinder
from domain.types import Doc
from projections.reader import Reader
from workers.notifications.dns import resolve
from workers.notifications.email_renderer import EmailRenderer, list_lines
from workers.notifications.notice_relevance import NoticeRelevance
from workers.notifications.smtp_settings import SmtpServer
from workers.notifications.webhook_client import CONNECT_SECONDS, connect_first, system_trust, time_limit

TOTAL_SECONDS = 20.0
"""Seconds from the connection to the reply to a mail."""

MAX_REPLY_BYTES = 2**16
"""Longest total replies of a server, in bytes, before TLS and again after."""

NOT_NOW, NO_LOGIN, NO_ANSWER = "not_now", "login_refused", "no_answer"

_LOGIN = (530, 534, 535, 538)
"""Status codes for a missing or wrong login (RFC 4954)."""

_DETAIL = re.compile(rb"5\.(\d{1,3})\.\d{1,3}\b")
"""Subject of an enhanced status code (RFC 3463): 1 and 2 are the address and its mailbox."""


class _SmtpRefusedError(Exception):
    """A refusal by the server, with its status and our word for the reason."""

    def __init__(self, status: int, word: str) -> None:
        super().__init__(word)
        self.status, self.word = status, word


class _LimitedReader:
    """Reads lines from a server up to a total size."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, MAX_REPLY_BYTES

    def readline(self, size: int) -> bytes:
        line = self._file.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise OSError("the server says too much")
        return line

    def close(self) -> None:
        self._file.close()


class _SmtpConnection(smtplib.SMTP):
    """An SMTP session over an open socket."""

    def __init__(self, connection: socket.socket, host: str, name: str, seconds: float) -> None:
        self._connection = connection
        super().__init__(host, 0, name, seconds)

    def _get_socket(self, *_: object) -> socket.socket:
        return self._connection

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _LimitedReader(self.sock.makefile("rb"))
        return super().getreply()


@dataclass(frozen=True)
class SmtpClient:
    """Sends mails one at a time. Thread-safe."""

    server: SmtpServer
    context: Callable[[], ssl.SSLContext] = system_trust
    """Makes the TLS context on first use."""
    seconds: float = TOTAL_SECONDS
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def send(self, mail: EmailMessage) -> DeliveryResult:
        """Send a mail and return the result. No act of the server can raise an error here."""
        body = mail.as_bytes()
        with self._lock:
            began = time.monotonic()
            try:
                status, word = self._send(mail, body, began), ""
            except _SmtpRefusedError as error:
                status, word = error.status, error.word
            except smtplib.SMTPResponseException as error:
                status, word = error.smtp_code, NOT_NOW
            except socket.gaierror:
                status, word = 0, "no_such_host"
            except TimeoutError:
                status, word = 0, "timeout"
            except ssl.SSLError:
                status, word = 0, "tls_failed"
            except (OSError, smtplib.SMTPException, ValueError):
                status, word = 0, NO_ANSWER
            if status < 0:  # not an SMTP reply
                status, word = 0, NO_ANSWER
            ms = int((time.monotonic() - began) * 1000)
            return DeliveryResult(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else word)

    def _send(self, mail: EmailMessage, body: bytes, began: float) -> int:
        server, sender = self.server, parseaddr(str(mail["From"]))[1]
        raw = connect_first(resolve(server.host, server.port), server.port, min(CONNECT_SECONDS, self.seconds))
        with raw, time_limit(raw, self.seconds - (time.monotonic() - began)):
            raw.settimeout(self.seconds)
            from_start = server.tls == "whole"
            tls_socket = self.context().wrap_socket(raw, server_hostname=server.host) if from_start else raw
            connection = _SmtpConnection(tls_socket, server.host, sender.rpartition("@")[2], self.seconds)
            try:
                self._greet(connection)
                return _send_message(connection, sender, str(mail["To"]), body)
            finally:
                with contextlib.suppress(OSError, smtplib.SMTPException, ValueError):
                    connection.putcmd("quit")  # the reply does not matter
                connection.close()

    def _greet(self, connection: _SmtpConnection) -> None:
        connection.ehlo_or_helo_if_needed()
        if self.server.tls == "starttls":
            if not connection.has_extn("starttls") or connection.starttls(context=self.context())[0] != 220:
                raise _SmtpRefusedError(0, "tls_failed")
            connection.ehlo_or_helo_if_needed()
        if self.server.user:
            try:
                connection.login(self.server.user, self.server.password)
            except (smtplib.SMTPAuthenticationError, smtplib.SMTPNotSupportedError) as error:
                raise _SmtpRefusedError(getattr(error, "smtp_code", 0), NO_LOGIN) from None


def _send_message(connection: _SmtpConnection, sender: str, to: str, body: bytes) -> int:
    """Return the status of an accepted mail; raise for a refused one."""
    _check_reply(*connection.mail(sender), REFUSED)
    _check_reply(*connection.rcpt(to), NO_MAILBOX)
    try:
        status, reply = connection.data(body)
    except smtplib.SMTPDataError as error:  # the server did not ask for the body
        raise _make_refusal(error.smtp_code, REFUSED) from error
    _check_reply(status, reply, REFUSED)
    return status


def _check_reply(status: int, reply: bytes, word: str) -> None:
    if 200 <= status < 300:
        return
    detail = _DETAIL.match(reply)
    of_address = detail is None or detail[1] in (b"1", b"2")
    raise _make_refusal(status, word if of_address else REFUSED)


def _make_refusal(status: int, word: str) -> _SmtpRefusedError:
    return _SmtpRefusedError(status, NO_LOGIN if status in _LOGIN else word if status >= 500 else NOT_NOW)


@dataclass(frozen=True)
class Mailer:
    """Renders due notifications as mails and sends them."""

    subscriptions: EmailSubscriptions
    renderer: EmailRenderer
    smtp_client: SmtpClient
    reader: Reader
    unread_mail: UnreadMail
    unread_messages: UnreadMessageFinder

    def send(self, delivery: ClaimedDelivery, now: int) -> DeliveryResult | None:
        """Send a delivery as mail; return None if it is obsolete. `now` is in ms."""
        box = self.subscriptions.find_by_webhook(delivery.webhook.id)
        doc = self._current_content(json.loads(delivery.body), box, now) if box else None
        return self.smtp_client.send(self.renderer.render(delivery.id, doc, box, now)) if box and doc else None

    def _current_content(self, doc: Doc, box: EmailSubscription, now: int) -> Doc | None:
        """Return the parts still true. A mail can wait hours for its server."""
        if doc["type"] in (CONFIRM, RECOVERY):
            return doc
        if "tournament" in doc["data"]:
            return doc if self._relevance.is_event_current(doc["data"]) else None
        seats = self.subscriptions.list_seats(box.account, [line["game"] for line in list_lines(doc)])

        def is_current(line: Doc) -> bool:
            roles, due = seats.get(line["game"], []), line.get("deadline")
            has_role = str(line["seat"]) in roles if "seat" in line else bool(roles)
            return has_role and (due is None or due > now)

        if doc["type"] == DIGEST:
            lines_by_part = {part: [line for line in doc["data"][part] if is_current(line)] for part in GAME_PARTS}
            is_due = any(lines_by_part.values()) or doc["data"].get(EVENT_PART)
            return doc | {"data": doc["data"] | lines_by_part} if is_due else None
        type_, data = doc["type"], doc["data"]
        is_told = type_ in ONCE_TYPES and self.unread_mail.has_unread(box.account, data["game"], type_)
        return doc if is_current(data) and not is_told and self._relevance.waits(box.account, doc) else None

    @property
    def _relevance(self) -> NoticeRelevance:
        return NoticeRelevance(self.reader, self.unread_messages)

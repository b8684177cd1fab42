"""Handing one mail over to the operator's server: by TLS unless it is said otherwise, and for so long at most.

What the server says is never repeated: it may quote what it was sent, and a password was.
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

from domain.notifications.deliveries import NO_MAILBOX, REFUSED, Outcome, Parcel
from domain.notifications.email_subscriptions import CONFIRM, DIGEST, Mailbox, Mailboxes
from domain.types import Doc
from projections.reader import Reader
from workers.notifications.dns import resolve
from workers.notifications.email_renderer import Letters, lines_of
from workers.notifications.smtp_settings import Relay
from workers.notifications.table_status import PARTS, owed
from workers.notifications.webhook_client import CONNECT, connected, limited, trusted

WHOLE = 20.0
"""Seconds from the beginning of the connection to the answer to a mail."""

LONGEST = 2**16
"""Bytes that a server may say before TLS begins, and after that."""

NOT_NOW, NO_LOGIN, NO_ANSWER = "not_now", "login_refused", "no_answer"

_LOGIN = (530, 534, 535, 538)
"""Statuses of a server that wants another password, or one at all (RFC 4954)."""

_DETAIL = re.compile(rb"5\.(\d{1,3})\.\d{1,3}\b")
"""What a refusal speaks of (RFC 3463): 1 and 2 are the address and its mailbox."""


class _RefusedError(Exception):
    """The server will not have it: its status, and a word for what it was asked."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status, self.said = status, said


class _Ear:
    """Reads the lines of a server, and not without end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, LONGEST

    def readline(self, size: int) -> bytes:
        line = self._file.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise OSError("the server says too much")
        return line

    def close(self) -> None:
        self._file.close()


class _Line(smtplib.SMTP):
    """The library's, over a connection that is there."""

    def __init__(self, made: socket.socket, host: str, name: str, seconds: float) -> None:
        self._made = made
        super().__init__(host, 0, name, seconds)

    def _get_socket(self, *_: object) -> socket.socket:
        return self._made

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Ear(self.sock.makefile("rb"))
        return super().getreply()


@dataclass(frozen=True)
class Post:
    """Hands mails over, one at a time. Safe with threads."""

    relay: Relay
    context: Callable[[], ssl.SSLContext] = trusted
    """What the server's certificate must be signed by; asked for when it is first needed."""
    seconds: float = WHOLE
    _one: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def send(self, mail: EmailMessage) -> Outcome:
        """What came of it. Raises nothing that a server could cause."""
        body = mail.as_bytes()
        with self._one:
            began = time.monotonic()
            try:
                status, said = self._handed(mail, body, began), ""
            except _RefusedError as error:
                status, said = error.status, error.said
            except smtplib.SMTPResponseException as error:
                status, said = error.smtp_code, NOT_NOW
            except socket.gaierror:
                status, said = 0, "no_such_host"
            except TimeoutError:
                status, said = 0, "timeout"
            except ssl.SSLError:
                status, said = 0, "tls_failed"
            except (OSError, smtplib.SMTPException, ValueError):
                status, said = 0, NO_ANSWER
            if status < 0:  # what came was no reply
                status, said = 0, NO_ANSWER
            ms = int((time.monotonic() - began) * 1000)
            return Outcome(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else said)

    def _handed(self, mail: EmailMessage, body: bytes, began: float) -> int:
        to, sender = self.relay, parseaddr(str(mail["From"]))[1]
        raw = connected(resolve(to.host, to.port), to.port, min(CONNECT, self.seconds))
        with raw, limited(raw, self.seconds - (time.monotonic() - began)):
            raw.settimeout(self.seconds)
            whole = to.tls == "whole"
            made = self.context().wrap_socket(raw, server_hostname=to.host) if whole else raw
            line = _Line(made, to.host, sender.rpartition("@")[2], self.seconds)
            try:
                self._greet(line)
                return _delivered(line, sender, str(mail["To"]), body)
            finally:
                with contextlib.suppress(OSError, smtplib.SMTPException, ValueError):
                    line.putcmd("quit")  # its answer would change nothing
                line.close()

    def _greet(self, line: _Line) -> None:
        line.ehlo_or_helo_if_needed()
        if self.relay.tls == "starttls":
            if not line.has_extn("starttls") or line.starttls(context=self.context())[0] != 220:
                raise _RefusedError(0, "tls_failed")
            line.ehlo_or_helo_if_needed()
        if self.relay.user:
            try:
                line.login(self.relay.user, self.relay.password)
            except (smtplib.SMTPAuthenticationError, smtplib.SMTPNotSupportedError) as error:
                raise _RefusedError(getattr(error, "smtp_code", 0), NO_LOGIN) from None


def _delivered(line: _Line, sender: str, to: str, body: bytes) -> int:
    """The status with which the server takes it; raises for one that it does not."""
    _asked(*line.mail(sender), REFUSED)
    _asked(*line.rcpt(to), NO_MAILBOX)
    try:
        status, said = line.data(body)
    except smtplib.SMTPDataError as error:  # it did not ask for the body, whatever it says of that
        raise _refusal(error.smtp_code, REFUSED) from error
    _asked(status, said, REFUSED)
    return status


def _asked(status: int, said: bytes, word: str) -> None:
    if 200 <= status < 300:
        return
    detail = _DETAIL.match(said)
    of_address = detail is None or detail[1] in (b"1", b"2")
    raise _refusal(status, word if of_address else REFUSED)


def _refusal(status: int, word: str) -> _RefusedError:
    return _RefusedError(status, NO_LOGIN if status in _LOGIN else word if status >= 500 else NOT_NOW)


@dataclass(frozen=True)
class Mailer:
    """Makes a mail of what is to be delivered, and hands it over."""

    mailboxes: Mailboxes
    letters: Letters
    post: Post
    reader: Reader

    def send(self, parcel: Parcel, now: int) -> Outcome | None:
        """What came of it, or None for what is of no use any more; `now` in ms."""
        box = self.mailboxes.at(parcel.hook.id)
        doc = self._standing(json.loads(parcel.body), box, now) if box else None
        return self.post.send(self.letters.write(parcel.id, doc, box, now)) if box and doc else None

    def _standing(self, doc: Doc, box: Mailbox, now: int) -> Doc | None:
        """What may be told of it now: a mail waits for its server for hours, and names tables as they are."""
        if doc["type"] == CONFIRM:
            return doc
        seats = self.mailboxes.seats(box.account, [line["game"] for line in lines_of(doc)])

        def stands(line: Doc) -> bool:
            roles, due = seats.get(line["game"], []), line.get("deadline")
            there = str(line["seat"]) in roles if "seat" in line else bool(roles)
            return there and (due is None or due > now)

        if doc["type"] == DIGEST:
            kept = {part: [line for line in doc["data"][part] if stands(line)] for part in PARTS}
            return doc | {"data": doc["data"] | kept} if any(kept.values()) else None
        return doc if stands(doc["data"]) and not self._answered(doc["data"]) else None

    def _answered(self, data: Doc) -> bool:
        """Whether the views know that what it tells to be owed is not owed any more."""
        if "decision" not in data:
            return False
        summary = self.reader.game(data["game"], inside=True)
        if summary is None or summary["version"] < data["version"]:
            return False
        return data["decision"] not in [d["id"] for d in owed(self.reader, summary, data["seat"])]

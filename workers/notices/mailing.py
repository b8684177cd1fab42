"""Handing one mail over to the operator's server: by TLS unless it is said otherwise, and for so long at most.

What the server says is never repeated: it may quote what it was sent, and a password was.
"""

from __future__ import annotations

import json
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import parseaddr

from domain.beside.notices.mailboxes import Mailboxes
from domain.beside.notices.outbox import NO_MAILBOX, REFUSED, Outcome, Parcel
from workers.notices.letters import Letters
from workers.notices.relay import Relay
from workers.notices.sending import CONNECT, limited, trusted

WHOLE = 20.0
"""Seconds from the connection to the answer to a mail."""

FAREWELL = 1.0
"""Seconds for the answer to QUIT."""

_LOST = Outcome(0, 0, "mailbox_gone")


class _RefusedError(Exception):
    """The server will not have it: its status, and a word for what it was asked."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status, self.said = status, said


class _Line(smtplib.SMTP):
    """The library's, over a connection that is there."""

    def __init__(self, made: socket.socket, host: str, name: str, seconds: float) -> None:
        self._made = made
        super().__init__(host, 0, name, seconds)

    def _get_socket(self, *_: object) -> socket.socket:
        return self._made


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
        with self._one:
            began = time.monotonic()
            try:
                status, said = self._handed(mail), ""
            except _RefusedError as error:
                status, said = error.status, error.said
            except socket.gaierror:
                status, said = 0, "no_such_host"
            except TimeoutError:
                status, said = 0, "timeout"
            except ssl.SSLError:
                status, said = 0, "tls_failed"
            except (OSError, smtplib.SMTPException, ValueError):
                status, said = 0, "no_answer"
            ms = int((time.monotonic() - began) * 1000)
            return Outcome(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else said)

    def _handed(self, mail: EmailMessage) -> int:
        to, sender = self.relay, parseaddr(str(mail["From"]))[1]
        with socket.create_connection((to.host, to.port), CONNECT) as raw, limited(raw, self.seconds):
            raw.settimeout(self.seconds)
            whole = to.tls == "whole"
            made = self.context().wrap_socket(raw, server_hostname=to.host) if whole else raw
            try:
                line = _Line(made, to.host, sender.rpartition("@")[2], self.seconds)
            except smtplib.SMTPConnectError as error:
                raise _RefusedError(error.smtp_code, "not_now") from error
            try:
                self._greet(line)
                return _delivered(line, sender, str(mail["To"]), mail.as_bytes())
            finally:
                _part(line)

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
                raise _RefusedError(getattr(error, "smtp_code", 0), "login_refused") from None


def _part(line: _Line) -> None:
    """What is to be known is known: a server that does not answer now is not waited for."""
    with suppress(OSError, smtplib.SMTPException):
        if line.sock:
            line.sock.settimeout(FAREWELL)
            line.quit()
    line.close()


def _delivered(line: _Line, sender: str, to: str, body: bytes) -> int:
    """The status with which the server takes it; raises for one that it does not."""
    _asked(line.mail(sender)[0], REFUSED)
    _asked(line.rcpt(to)[0], NO_MAILBOX)
    try:
        status = line.data(body)[0]
    except smtplib.SMTPDataError as error:
        status = error.smtp_code
    _asked(status, REFUSED)
    return status


def _asked(status: int, said: str) -> None:
    if not 200 <= status < 300:
        raise _RefusedError(status, said if status >= 500 else "not_now")


@dataclass(frozen=True)
class Mailer:
    """Makes a mail of what is to be delivered, and hands it over."""

    mailboxes: Mailboxes
    letters: Letters
    post: Post

    def send(self, parcel: Parcel, now: int) -> Outcome:
        """What came of it; `now` in ms."""
        box = self.mailboxes.at(parcel.hook.id)
        return self.post.send(self.letters.write(parcel, box, now)) if box else _LOST


def late(parcel: Parcel, now: int) -> bool:
    """Whether a mail would tell of a deadline that has passed."""
    due = json.loads(parcel.body)["data"].get("deadline")
    return due is not None and due <= now

"""A mail server that speaks as real ones do, and refuses what it is told to; by sockets alone."""

from __future__ import annotations

import base64
import contextlib
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default


@dataclass
class MailServer:
    """`answer` gives the reply to a command, by its first word and line, or nothing for the usual one."""

    answer: Callable[[str, str], str] = lambda _, __: ""
    context: ssl.SSLContext | None = None
    """With it STARTTLS is offered; with `whole` it speaks TLS from the first byte."""
    whole: bool = False
    user: tuple[str, str] | None = None
    """Who must log in, with which password."""
    port: int = 0
    got: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Sender, recipient and mail of those that were taken."""
    said: list[str] = field(default_factory=list)
    """All commands."""
    tls: list[bool] = field(default_factory=list)
    """Whether each mail came by TLS."""

    @property
    def words(self) -> list[str]:
        """What was asked for; to take leave asks for nothing, and may come late."""
        return [line.split(" ")[0] for line in self.said if line != "QUIT"]

    @property
    def mails(self) -> list[EmailMessage]:
        return [message_from_bytes(body, policy=default) for _, _, body in self.got]

    @property
    def subjects(self) -> list[str]:
        return [str(mail["Subject"]) for mail in self.mails]


def text(mail: EmailMessage) -> str:
    return "\n".join(str(mail.get_content()).splitlines()).rstrip()


class _Talk(socketserver.StreamRequestHandler):
    timeout = 10

    def handle(self) -> None:
        self.of: MailServer = self.server.of  # type: ignore[attr-defined] # what the server below is given
        with contextlib.suppress(OSError), contextlib.ExitStack() as self.made:
            self._talk()

    def _talk(self) -> None:
        self.sock, self.secure, self.sender, self.to = self.request, False, "", ""
        self.file = self.sock.makefile("rwb")
        if self.of.whole:
            self._secured()
        self._say(self.of.answer("CONNECT", "") or "220 mail.test ready")
        while line := self.file.readline().decode().rstrip("\r\n"):
            word = line.split(" ")[0].upper()
            self.of.said.append(word + line[len(word) :])
            if told := self.of.answer(word, line):
                self._say(told)
            else:
                getattr(self, f"_{word.lower()}", self._fine)(line)
            if word == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.file.write(line.encode() + b"\r\n")
        self.file.flush()

    def _secured(self) -> None:
        assert self.of.context
        self.sock = self.made.enter_context(self.of.context.wrap_socket(self.sock, server_side=True))
        self.file, self.secure = self.sock.makefile("rwb"), True

    def _fine(self, _: str) -> None:
        self._say("250 fine")

    def _ehlo(self, _: str) -> None:
        offers = ["STARTTLS"] if self.of.context and not self.secure else []
        offers += ["AUTH PLAIN"] if self.of.user else []
        for offer in ("mail.test", *offers):
            self._say(f"250-{offer}")
        self._say("250 HELP")

    def _starttls(self, _: str) -> None:
        self._say("220 go on")
        self._secured()

    def _auth(self, line: str) -> None:
        _, user, password = base64.b64decode(line.split(" ")[2]).decode().split("\0")
        self._say("235 welcome" if (user, password) == self.of.user else f"535 {password} is wrong")

    def _mail(self, line: str) -> None:
        self.sender = line.partition("<")[2].partition(">")[0]
        self._say("250 fine")

    def _rcpt(self, line: str) -> None:
        self.to = line.partition("<")[2].partition(">")[0]
        self._say("250 fine")

    def _data(self, _: str) -> None:
        self._say("354 go on")
        body = b""
        while (part := self.file.readline()) not in (b".\r\n", b""):
            body += part.removeprefix(b".")
        told = self.of.answer("BODY", "")
        if not told:
            self.of.got.append((self.sender, self.to, body))
            self.of.tls.append(self.secure)
        self._say(told or "250 taken")


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    of: MailServer

    def handle_error(self, *_: object) -> None:
        """Who breaks off is no fault of the test."""


@contextmanager
def mail_server(**more: object) -> Iterator[MailServer]:
    with _Server(("127.0.0.1", 0), _Talk) as server:
        made = server.of = MailServer(**more)  # type: ignore[arg-type] # as the class has them
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        server.shutdown()
        thread.join()

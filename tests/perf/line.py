"""A client as small as it can be, since it shares the machine with what it measures."""

from __future__ import annotations

import socket
from http import HTTPStatus
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit


class Reply(NamedTuple):
    """What is read of an answer."""

    status: int
    tag: str
    body: bytes


class Line:
    """A connection that is kept. A library's takes a third of what a move does."""

    def __init__(self, address: str, token: str = "") -> None:
        where = urlsplit(address)
        shown = f"Authorization: Bearer {token}\r\n" if token else ""
        self._head = f"HTTP/1.1\r\nHost: {where.netloc}\r\n{shown}Content-Type: application/json\r\n"
        self._socket = socket.create_connection((where.hostname, where.port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")

    def ask(self, verb: str, path: str, body: str = "", **headers: str) -> Reply:
        """The answer to a request; in names of headers `_` stands for `-`."""
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self._socket.sendall(f"{verb} {path} {self._head}{more}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        first = self._answers.readline()
        if not first:
            raise ConnectionError(f"{verb} {path}: the service has ended the connection")
        status, length, tag = int(first.split()[1]), 0, b""
        while (header := self._answers.readline()) != b"\r\n":
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif name.lower() == b"etag":
                tag = value.strip()
        return Reply(status, tag.decode(), b"" if status == HTTPStatus.NOT_MODIFIED else self._answers.read(length))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._answers.close()
        self._socket.close()

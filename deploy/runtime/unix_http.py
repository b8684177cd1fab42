"""Servers of ours that listen on sockets of this machine, asked by themselves and not through the front."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

import orjson

from domain.types import Doc

PATIENCE = 0.25
"""Seconds that an answer may take where somebody else waits for ours."""


class Local(http.client.HTTPConnection):
    """Over a socket of this machine."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        """As in the library, to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def health(path: Path, seconds: float = PATIENCE) -> Doc | None:
    """What a server says of itself; None if it does not answer in time."""
    connection = Local(path, seconds)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        found = orjson.loads(answer.read())
        return found if answer.status == 200 and isinstance(found, dict) else None
    except (OSError, http.client.HTTPException, orjson.JSONDecodeError):
        return None
    finally:
        connection.close()

"""HTTP requests to our servers over Unix sockets, without nginx."""

from __future__ import annotations

import http.client
import socket
import ssl
from pathlib import Path

import msgspec

from domain.types import Doc

PATIENCE = 0.25
"""Seconds to wait for an answer while another request waits for ours."""


class UnixHttpConnection(http.client.HTTPConnection):
    """HTTP connection over a Unix socket, with TLS if there is a context for it."""

    def __init__(self, path: Path, seconds: float, context: ssl.SSLContext | None = None) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path, self._context = path, context

    def connect(self) -> None:
        """Connect to the Unix socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
        if self._context:
            self.sock = self._context.wrap_socket(self.sock)


def fetch_health(path: Path, seconds: float = PATIENCE) -> Doc | None:
    """Return the server's health document; None if it does not answer in time."""
    connection = UnixHttpConnection(path, seconds)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        doc = msgspec.json.decode(answer.read())
        return doc if answer.status == 200 and isinstance(doc, dict) else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()

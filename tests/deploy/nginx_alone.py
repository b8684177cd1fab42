"""Nginx without the service, before an application that echoes requests."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from deploy.config.settings import Settings, load_settings
from deploy.runtime import nginx
from tests.deploy.harness import PATIENCE, until
from tests.deploy.raw_http import (
    CLOSE,
    Client,
    Doc,
    request,
)


class Echo:
    """An application on the front's socket: it answers every request with its head, or as its path says."""

    def __init__(self, path: Path) -> None:
        self.met: list[str] = []
        self.sent = 0
        """Answers that have been taken from it whole."""
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen(64)
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._open.append(self._listening.accept()[0])
                threading.Thread(target=self._serve, args=(self._open[-1],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            data = b""
            while piece := client.recv(65536):
                data += piece
                while b"\r\n\r\n" in data:
                    head, _, data = data.partition(b"\r\n\r\n")
                    self.met.append(head.decode())
                    if b" /silent " not in head:
                        large = b" /large " in head
                        body = b"x" * 8_000_000 if large else head
                        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                        self.sent += 1

    def close(self) -> None:
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes who waits for it
            each.close()


@contextmanager
def alone(data: Path, limits: Doc | None = None, **env: str) -> Iterator[tuple[Settings, Echo]]:
    """The front, with other limits if need be."""
    given = load_settings({"data": str(data), "port": 0}, env)
    given.make_data_folder()
    with nginx.reserve_port(given) as settings, closing(Echo(nginx.server_socket(settings))) as echo:
        with started(settings, nginx.Limits(**(limits or {}))) as process:
            try:
                yield settings, echo
            finally:
                process.terminate()
                _, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, b"")


def started(settings: Settings, limits: nginx.Limits) -> subprocess.Popen[bytes]:
    """nginx as the supervisor starts it, once it listens."""
    args = nginx.nginx_command(settings)
    nginx.write_configuration(settings, nginx.limit_to_open_files(limits), args[0])
    process = subprocess.Popen(args, stderr=subprocess.PIPE)
    until(lambda: process.poll() is not None or is_listening(settings))
    return process


def is_listening(settings: Settings) -> bool:
    with suppress(OSError), socket.create_connection((settings.host, settings.port), 1):
        return True
    return False


def told(settings: Settings, *headers: str) -> dict[str, str]:
    """What the application is told by its headers."""
    with closing(Client(settings.port, "127.0.0.7")) as client:
        client.send(request("/", *headers, CLOSE))
        body = client.read(5).partition(b"\r\n\r\n")[2].decode()
    return dict(line.lower().split(": ", 1) for line in body.split("\r\n")[1:])


FORGED = (
    "X-Forwarded-For: 192.0.2.1",
    "X-Real-IP: 192.0.2.1",
    "Forwarded: for=192.0.2.1",
    "X-Forwarded-Proto: https",
    "Annals-Address: 192.0.2.1",
    "annals-scheme: https",
    "Annals_Address: 192.0.2.1",
)

"""Raw HTTP clients, and a service for them: the fixtures and helpers of the tests of nginx."""

from __future__ import annotations

import json
import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.services import ApiSettings
from tests.deploy.harness import Service, serving

MARGIN = 5.0
"""Seconds that a busy machine may take longer than a limit."""

LARGEST = ApiSettings().max_body
CLOSE = "Connection: close"
OTHERS = "127.0.0.1"
Doc = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def many_files() -> None:
    """Raise the limit of open files for many clients."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a service for the tests of a module, and check that it ends well."""
    with serving(tmp_path_factory.mktemp("front") / "data") as started:
        yield started
        assert started.end() == 0
        assert started.complaints() == ""


@dataclass
class Client:
    """A raw connection from an address of its own."""

    port: int
    source: str = OTHERS
    buffer: int = 0
    """Of what it has not read; 0 for the usual."""
    socket: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.socket = socket.socket()
        if self.buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer)
        self.socket.settimeout(10)
        self.socket.bind((self.source, 0))
        self.socket.connect(("127.0.0.1", self.port))

    def send(self, raw: bytes) -> None:
        with suppress(OSError):  # a front that has read enough has closed
            self.socket.sendall(raw)

    def well(self) -> bool:
        """Whether it is answered on this connection, once more."""
        self.send(request())
        got = b""
        with suppress(OSError):
            while piece := self.socket.recv(65536):
                got += piece
                if got.endswith(b'{"status":"ok"}'):
                    return True
        return False

    def read(self, seconds: float) -> bytes:
        """Everything until the other side is done, or silent for that long."""
        self.socket.settimeout(seconds)
        got = b""
        with suppress(OSError):
            while piece := self.socket.recv(65536):
                got += piece
        return got

    def answered(self) -> bool:
        """Whether the other side answers, and does not end it instead."""
        with suppress(OSError):
            return bool(self.socket.recv(65536))
        return False

    def over(self) -> bool:
        """Whether the other side has ended it."""
        self.socket.setblocking(False)
        try:
            while self.socket.recv(65536):
                pass
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def close(self) -> None:
        self.socket.close()


def port_of(service: Service) -> int:
    return int(service.url.rpartition(":")[2])


def request(target: str = "/healthz", *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: a", *headers, "", ""]).encode() + body


def statuses(raw: bytes) -> list[int]:
    """Of the answers in a row; the interim ones do not count."""
    found = [int(status) for status in re.findall(rb"(?:^|(?<=[\n}\]>]))HTTP/1\.[01] (\d{3})", raw)]
    return [status for status in found if status != 100]


def problem(raw: bytes) -> Doc:
    """The only answer of the connection, which must be a problem of the usual shape."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.decode().split("\r\n")]
    assert "content-type: application/problem+json" in lines
    assert "cache-control: no-store" in lines
    assert "x-content-type-options: nosniff" in lines
    doc: Doc = json.loads(body)
    assert doc["type"] == f"/v1/problems/{doc['code']}"
    assert doc["title"]
    assert [doc["status"]] == statuses(raw)
    return doc


def p95(port: int, source: str = OTHERS, count: int = 200) -> float:
    """Milliseconds that one address waits for an answer; each time with a new connection and on one that is kept."""
    took = []
    with closing(Client(port, source)) as kept:
        for _ in range(count // 2):
            began = time.perf_counter()
            with closing(Client(port, source)) as new:
                new.send(request("/v1/rulesets", "Connection: close"))
                assert statuses(new.read(10)) == [200]
            middle = time.perf_counter()
            assert kept.well()
            took += [middle - began, time.perf_counter() - middle]
    return sorted(took)[int(count * 0.95)] * 1000


def assert_prompt(port: int, quiet: float) -> None:
    """Nearly as on a quiet service: who is held up waits for ten seconds. Other tests may begin beside this one."""
    met: list[float] = []
    while len(met) < 4 and (not met or met[-1] >= prompt(quiet)):
        met.append(p95(port))
    assert met[-1] < prompt(quiet), f"{quiet:.1f} ms when it was quiet, then {met}"


def prompt(quiet: float) -> float:
    """Milliseconds."""
    return max(2 * quiet + 5, 1000)


def answer(service: Service, raw: bytes, seconds: float = 5) -> bytes:
    with closing(Client(port_of(service))) as client:
        client.send(raw)
        return client.read(seconds)

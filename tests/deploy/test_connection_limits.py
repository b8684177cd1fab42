"""The listener: few addresses keep nobody out, and a full harness is no outage."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from deploy.config.settings import Settings
from deploy.runtime import nginx, unix_http
from tests.deploy.harness import serving, until
from tests.deploy.nginx_alone import alone
from tests.deploy.raw_http import CLOSE, MARGIN, Client, many_files, port_of, problem, request, statuses

__all__ = ["many_files"]

CROWDS = 17
"""Addresses that hold all the connections that they get."""

OTHERS = 30
"""Addresses that ask once, meanwhile."""


@contextmanager
def held(port: int, addresses: int, each: int) -> Iterator[list[Client]]:
    """Hold idle connections from several addresses."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(closing(Client(port, f"127.0.3.{n}")))
            for n in range(1, addresses + 1)
            for _ in range(each)
        ]


def is_answered(port: int, source: str) -> bool:
    with closing(Client(port, source)) as client:
        client.send(request("/healthz", CLOSE))
        return statuses(client.read(5)) == [200]


def is_served(client: Client) -> bool:
    """Return True if the next answer is no refusal of the connection; too many requests at once are another limit."""
    try:
        return statuses(client.socket.recv(65536)) in ([200], [429])
    except OSError:
        return False


def count_answered(port: int) -> int:
    return sum(is_answered(port, f"127.0.4.{n}") for n in range(1, OTHERS + 1))


def test_idle_connections_keep_nobody_out_and_are_no_outage(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        port = port_of(service)
        with held(port, CROWDS, 256):
            began = time.monotonic()
            assert count_answered(port) == OTHERS
            time.sleep(max(began + 8 - time.monotonic(), 0))  # an outage is five seconds long
        assert count_answered(port) == OTHERS
        time.sleep(2)
        with closing(sqlite3.connect(service.data / "ledger.sqlite")) as ledger:
            assert ledger.execute("SELECT count(*) FROM silences").fetchone() == (0,)
        assert service.complaints() == ""


def test_with_few_files_one_address_is_not_enough_either(tmp_path: Path) -> None:
    """A process that may open 1,024 files has few connections, and each address its share of them."""
    few = nginx.limit_to_open_files(nginx.Limits(), 1024)
    with alone(tmp_path / "data", {"connections": few.connections}) as (settings, _):
        for addresses in (1, CROWDS):
            with held(settings.port, addresses, 200 // addresses):
                assert count_answered(settings.port) == OTHERS


def test_the_health_check_has_connections_of_its_own(tmp_path: Path) -> None:
    """Also while no client gets one any more."""
    with alone(tmp_path / "data", {"connections": 32}) as (settings, _), held(settings.port, 8, 4):
        assert not is_answered(settings.port, "127.0.4.1")
        assert is_probed(settings)


def is_probed(settings: Settings) -> bool:
    with closing(unix_http.UnixHttpConnection(nginx.probe_socket(settings), 5)) as probe:
        probe.request("GET", "/healthz")
        return probe.getresponse().status == 200


def test_networks_that_operator_names_have_no_limit_per_address(tmp_path: Path) -> None:
    limits = {"connections": 100, "requests_per_address": 3}
    with alone(tmp_path / "data", limits, ANNALS_SHARED_NETWORKS="127.0.5.0/24") as (settings, _):
        for source, expected in (("127.0.6.1", 8), ("127.0.5.1", 60)):
            with ExitStack() as stack:
                clients = [stack.enter_context(closing(Client(settings.port, source))) for _ in range(60)]
                for client in clients:
                    client.send(request("/"))
                assert sum(is_served(client) for client in clients) == expected
        with ExitStack() as stack:
            waiting = [stack.enter_context(closing(Client(settings.port, "127.0.5.1"))) for _ in range(10)]
            for client in waiting:
                client.send(request("/silent"))
            time.sleep(0.2)
            assert is_answered(settings.port, "127.0.5.1")


def test_a_connection_over_a_limit_is_told_so(tmp_path: Path) -> None:
    """A hall of people has one address: each browser opens six connections."""
    limits = nginx.Limits(connections=640)
    with alone(tmp_path / "data", {"connections": 640}) as (settings, echo), ExitStack() as stack:
        for _ in range(limits.connections_per_address):
            held_one = stack.enter_context(closing(Client(settings.port)))
            held_one.send(request("/"))
            assert is_served(held_one)
        before = len(echo.met)
        for n in range(3 * limits.refusals):
            with closing(Client(settings.port)) as refused:
                body = b"x" * (100_000 if n % 2 else 0)
                head = ("Accept-Language: fr", f"Content-Length: {len(body)}")
                refused.send(request("/v1/games", *head, method="POST", body=body))
                raw = refused.read(5)
                doc = problem(raw)
                assert (doc["code"], doc["status"]) == ("too_many_connections", 503)
                assert b"\r\nRetry-After: 5\r\n" in raw
                assert b"\r\nConnection: close\r\n" in raw
        assert len(echo.met) == before
        assert is_answered(settings.port, "127.0.4.1")


def test_connections_that_are_refused_are_few_and_short(tmp_path: Path) -> None:
    """They say nothing, so nobody can refuse them: some are held for two seconds, others are closed at once."""
    limits = nginx.Limits(connections=128)
    with alone(tmp_path / "data", {"connections": 128}) as (settings, _), held(settings.port, 2, 40) as clients:
        each = limits.connections_per_address
        time.sleep(0.5)
        kept = sum(not client.over() for client in clients)
        assert 2 * each < kept <= 2 * each + limits.refusals
        until(lambda: sum(not client.over() for client in clients) == 2 * each, limits.refusal + MARGIN)
        assert is_answered(settings.port, "127.0.4.1")

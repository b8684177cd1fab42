"""Whatever hangs is replaced, and nobody loses a turn by it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from deploy.runtime import embedded_redis
from domain.types import Json
from tests.deploy import harness
from tests.deploy.harness import Service, Table, call, command, environment, serving, until

REPLACED = 40
"""Seconds on a busy machine; ten and some on a quiet one."""


def answers(service: Service, path: str = "/readyz") -> bool:
    try:
        return httpx.get(f"{service.url}{path}", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False


def front(service: Service) -> list[int]:
    return [service.pid("nginx")]


def server(service: Service) -> list[int]:
    return [service.pid("annals-api")]


def redis(service: Service) -> list[int]:
    return [service.find("valkey-server")]


def halt(pids: list[int]) -> None:
    assert all(pids)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def lapses(table: Table) -> list[Json]:
    """Times at which defaults were played."""
    entries = table.get("/timeline?limit=200")["items"]
    return [e["at"] for e in entries if e["kind"] == "lapsed"]


@pytest.mark.parametrize("who", [server, front], ids=["server", "front"])
def test_a_hung_api_is_replaced_and_costs_nobody_a_turn(tmp_path: Path, who: Callable[[Service], list[int]]) -> None:
    """Deadlines that pass meanwhile are moved; as long as nobody is answered, none is played."""
    with serving(tmp_path / "data") as service:
        table = Table(service, pace={"seconds": {"turn": 6}}).open()
        halted = who(service)
        halt(halted)
        began = time.time() * 1000
        until(lambda: answers(service), REPLACED)
        ended = time.time() * 1000
        assert not set(halted) & set(service.group()), "it is still there"
        assert ended - began > 8000, "somebody was replaced who did not hang"
        found = until(lambda: [e for e in table.get("/timeline?limit=200")["items"] if e["by"] == "clock"])
        assert not [at for at in lapses(table) if began - 1000 < at < ended + 4000], "a default was played meanwhile"
        extended = [e for e in found if e["kind"] == "ruled"]
        assert len(extended) == 1, found
        table.submit(0, table.decision())


def test_a_hung_pump_costs_nobody_a_turn(tmp_path: Path) -> None:
    """Who is not shown what he is asked cannot answer it: while views stand still, no default is played."""
    with serving(tmp_path / "data") as service:
        table = Table(service)
        made = table.post("/games", {"ruleset": "skirmish@1", "seats": 3, "pace": {"seconds": {"move": 6}}})
        table.game = made["game"]
        table.tokens = [table.post(f"/games/{table.game}/seats", {})["token"] for _ in range(3)]
        table.post(f"/games/{table.game}/start", {}, made["token"])
        pump, first = service.pid("annals-pump"), table.decision()
        halt([pump])
        move = {"move": {"type": "pass"}, "decision": first}
        table.post(f"/games/{table.game}/moves", move, table.tokens[0])
        time.sleep(14)
        os.kill(pump, signal.SIGCONT)
        second = until(lambda: (found := table.decision()) != first and found)
        time.sleep(3)
        assert not lapses(table), "seat 1 was never shown that it is its turn"
        table.post(f"/games/{table.game}/moves", {"move": {"type": "pass"}, "decision": second}, table.tokens[1])


def test_a_hung_redis_is_replaced_and_turns_go_on_meanwhile(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        before = redis(service)
        halt(before)
        table.turn()
        until(lambda: redis(service) not in ([0], before), REPLACED)
        until(lambda: embedded_redis.is_alive(embedded_redis.server_url(service.data)))
        table.turn()


def test_a_hung_prober_is_replaced_and_the_api_is_not(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        api = service.pid("annals-api")
        os.kill(service.pid("annals-prober"), signal.SIGKILL)
        time.sleep(12)
        assert service.pid("annals-api") == api
        assert answers(service)


def test_whoever_a_frozen_prober_does_not_vouch_for_lives(tmp_path: Path) -> None:
    """It is replaced before what it has promised for others ends."""
    with serving(tmp_path / "data") as service:
        vouched = [service.pid(name) for name in ("nginx", "annals-api", "annals-streams", "valkey-server")]
        for wait in (0.3, 0.7):  # in different moments of its second
            time.sleep(wait)
            prober = service.pid("annals-prober")
            halt([prober])
            time.sleep(20)
            assert service.pid("annals-prober") != prober
        assert [service.pid(name) for name in ("nginx", "annals-api", "annals-streams", "valkey-server")] == vouched
        assert answers(service)


def test_a_front_without_a_connection_left_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has closed the prober's connection: who hangs closes none."""
    few = ["/bin/sh", "-c", 'ulimit -n 256; exec "$@"', "few"]
    monkeypatch.setattr(harness, "command", lambda *args, **kept: [*few, *command(*args, **kept)])
    with serving(tmp_path / "data") as service:
        vouched = [*front(service), service.pid("annals-api")]
        with crowd(service) as another:
            end = time.monotonic() + 16
            while time.monotonic() < end:  # whoever had a place before them has gone
                another()
                time.sleep(0.1)
            assert not answers(service), "there is a connection left"
        until(lambda: answers(service))
        assert [*front(service), service.pid("annals-api")] == vouched
        assert "no sign of life" not in service.errors.read_text()


@contextmanager
def crowd(service: Service) -> Iterator[Callable[[], None]]:
    """Who takes all connections, and keeps them after the first answer; gives what lets one more come."""
    with ExitStack() as kept:

        def another() -> None:
            client = kept.enter_context(socket.socket())
            client.settimeout(5)
            client.connect(("127.0.0.1", int(service.url.rpartition(":")[2])))
            with suppress(OSError):  # it is closed at once
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")

        for _ in range(60):
            another()
        yield another


def test_signs_of_life_can_be_asked_for(tmp_path: Path) -> None:
    """As a container's health check does, for all processes of the data folder."""
    data = str(tmp_path / "data")
    assert call("alive", "--data", data).returncode == 1
    with serving(tmp_path / "data") as service:
        assert call("alive", "--data", data).returncode == 0
        sign = tmp_path / "data" / "pulse" / "serve" / "pump"
        os.kill(service.process.pid, signal.SIGSTOP)  # it would end the pump, and begin another
        os.utime(sign, (0, 0))
        told = call("alive", "--data", data)
        os.kill(service.process.pid, signal.SIGCONT)
        assert told.returncode == 1
        assert "serve/pump" in told.stderr
    with serving(tmp_path / "data"):
        assert call("alive", "--data", data).returncode == 0, "what was left behind by the one before counts no more"


def test_where_nobody_supervises_health_check_ends_what_hangs(tmp_path: Path) -> None:
    """As in a container, whose process is then started anew."""
    data = str(tmp_path / "data")
    with serving(tmp_path / "other") as service:
        redis_url = embedded_redis.server_url(service.data)
        env = environment(ANNALS_REDIS_URL=redis_url)
        assert call("migrate", "--data", data).returncode == 0
        for args in (("pump",), ("worker", "turns")):
            process = subprocess.Popen(command(*args, "--data", data), env=env, stderr=subprocess.DEVNULL)
            name = "-".join(args)
            sign = tmp_path / "data" / "pulse" / f"{name}-{process.pid}" / name
            until(sign.exists)
            until(sign.read_text)
            until(lambda: call("alive", "--data", data).returncode == 0)
            process.send_signal(signal.SIGSTOP)
            os.utime(sign, (0, 0))
            assert call("alive", "--end", "--data", data).returncode == 1
            assert process.wait(20) == -signal.SIGKILL
            assert call("alive", "--data", data).returncode == 1
            assert not sign.exists(), "who has gone is not waited for"

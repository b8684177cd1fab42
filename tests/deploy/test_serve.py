"""`serve`: ready soon, alone, whole again after any death, and gone when asked."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from deploy.runtime import embedded_redis
from tests.deploy.harness import PATIENCE, Table, command, environment, run, serving, until
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]


def test_it_says_one_line_serves_and_ends_without_a_trace(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        Table(service).open().turn()
        assert service.end() == 0
        assert service.process.stdout is not None
        assert service.process.stdout.read() == ""
        assert not service.group()
        assert service.complaints() == ""


def test_ctrl_c_ends_it_in_order_and_with_success(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        os.killpg(service.process.pid, signal.SIGINT)  # as a terminal does: to all of them
        assert service.process.wait(20) == 0
        assert not service.group()
        assert service.errors.read_text() == f"annals: the data are in {service.data}\n"


def test_a_second_one_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        second = run("serve", "--port", "0", "--data", str(tmp_path / "data"))
        assert (second.returncode, second.stdout) == (2, "")
        assert f"in use by another service (process {service.process.pid})" in second.stderr


def test_two_folders_are_two_services(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as one, serving(tmp_path / "b") as other:
        game = Table(one).open().game
        assert other.http.get(f"/games/{game}").status_code == 404


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = run("serve", "--port", str(port), "--data", str(tmp_path / "data"))
    assert refused.returncode == 2
    assert f"127.0.0.1:{port} cannot be served" in refused.stderr


def test_what_was_acknowledged_is_there_after_machine_failed(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        table.turn()
        decision = table.decision()
        for seat in range(3):
            table.submit(seat, decision)
        service.kill_group()
    with serving(tmp_path / "data") as service:
        table.service = service
        versions = {r["public"]["v"] for r in map_records(table)}
        assert set(table.acknowledged) <= versions
        table.turn()
        until(lambda: table.get()["status"] == "closed")
        audit = table.get("/audit")
        assert audit["proved"], audit
        resolved = [r["public"]["v"] for r in map_records(table) if r["public"]["kind"] == "resolved"]
        assert len(resolved) == 3


def map_records(table: Table) -> list[dict[str, dict[str, object]]]:
    """The game's export, line by line."""
    text = table.service.http.get(f"/games/{table.game}/export").text
    return [json.loads(line) for line in text.splitlines()[1:-1]]


KILLED = (
    ("nginx", "annals-pump"),
    ("annals-api", "annals-worker-1", "annals-keeper"),
    ("annals-streams", "annals-batch", "valkey-server"),
)
"""Processes that die in one service, one after the other."""


@pytest.mark.parametrize("names", KILLED, ids=" ".join)
def test_a_process_that_dies_is_started_anew(tmp_path: Path, names: tuple[str, ...]) -> None:
    with serving(tmp_path / "data") as service:
        for name in names:
            table = Table(service).open()
            before = service.pid(name)
            os.kill(before, signal.SIGKILL)
            until(lambda: service.find(name) not in (0, before))  # noqa: B023
            until(lambda: _answers(service.url))
            table.turn()
            table.turn()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False


def test_nobody_outlives_the_supervisor(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        names = {
            "nginx",
            "annals-api",
            "annals-streams",
            "annals-pump",
            "annals-worker-1",
            "annals-batch",
            "annals-keeper",
            "valkey-server",
        }
        assert names <= {name for _, name in service.group().values()}
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait()
        until(lambda: not service.group(), 10)


def test_http_server_serves_beside_another_and_leaves_no_trace(tmp_path: Path) -> None:
    """Several share a data folder; each has a front of its own."""
    data = tmp_path / "data"
    with serving(data) as service:
        args = command("api", "--port", "0", "--data", str(data))
        with subprocess.Popen(args, env=environment(), stderr=subprocess.PIPE, text=True) as alone:
            try:
                own = int(service.url.rpartition(":")[2])
                port = until(lambda: [f.name for f in (data / "front").iterdir() if f.name != str(own)])[0]
                until(lambda: _answers(f"http://127.0.0.1:{port}"))
                refused = run("api", "--port", port, "--data", str(data))
                assert refused.returncode == 2
                assert f"in use by another service (process {alone.pid})" in refused.stderr
            finally:
                alone.terminate()
                _, errors = alone.communicate(timeout=PATIENCE)
        assert (alone.returncode, errors) == (0, "")
        assert [f.name for f in (data / "front").iterdir()] == [str(own)]


def test_server_that_was_left_behind_is_ended_before_the_start(tmp_path: Path) -> None:
    """Where the system does not end it with its supervisor, the next start does."""
    data = tmp_path / "data"
    data.mkdir()
    left = subprocess.Popen(embedded_redis.server_command(data), stdout=subprocess.DEVNULL)
    assert embedded_redis.wait_until_up(embedded_redis.server_url(data), 10)
    with serving(data) as service:
        assert left.wait(10) is not None
        Table(service).open().turn()


def test_a_folder_with_a_long_name_is_served(tmp_path: Path) -> None:
    data = tmp_path / ("long " * 20) / "data"
    data.parent.mkdir()
    with serving(data) as service:
        Table(service).open().turn()


def test_its_files_are_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as service:
        Table(service).open()
        open_to_others = [
            path.name
            for path in data.iterdir()
            if path.name in ("key", "ledger.sqlite", "views.sqlite") and stat.S_IMODE(path.stat().st_mode) & 0o077
        ]
        assert not open_to_others
        assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_it_runs_on_a_database_and_a_redis_that_are_given(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    env = {"ANNALS_DATABASE_URL": postgres_url, "ANNALS_REDIS_URL": redis_url}
    with serving(tmp_path / "data", "--workers", "2", **env) as service:
        table = Table(service).open()
        for _ in range(3):
            table.turn()
        until(lambda: table.get()["status"] == "closed")
        names = sorted(name for _, name in service.group().values())
        assert "valkey-server" not in names
        assert {"annals-worker-1", "annals-worker-2"} <= set(names)
        assert service.end() == 0


def test_it_is_ready_within_the_budget(tmp_path: Path) -> None:
    """Three seconds on a quiet machine; ten times as long where the tests of others run beside it."""
    began = time.monotonic()
    with serving(tmp_path / "data"):
        assert time.monotonic() - began < 30

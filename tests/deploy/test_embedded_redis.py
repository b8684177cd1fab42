"""Redis is never the record: whatever becomes of it, the service is ready, and turns and deadlines go on."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime import embedded_redis
from tests.deploy.harness import Doc, Service, Table, serving, until
from tests.valkey import Server, new_server
from workers.signals import TIMEOUT

SOON = 15
"""Seconds; as much as a busy machine needs for what takes less than five."""


def ready(service: Service) -> Doc:
    answer = httpx.get(f"{service.url}/readyz", timeout=5)
    found: Doc = answer.json()
    return found if answer.status_code == 200 else {}


def timed(table: Table) -> float:
    """A turn is played; the seconds that it took to be answered, the median: one may meet a busy moment."""
    decision, waits = table.decision(), list[float]()
    for seat in range(3):
        began = time.monotonic()
        table.submit(seat, decision)
        waits.append(time.monotonic() - began)
    until(lambda: table.get()["status"] == "closed" or table.get()["version"] > table.acknowledged[-1], SOON)
    assert max(waits) < SOON / 3
    return statistics.median(waits)


# --- what lies in the folder of the embedded server --------------------------------------------------------------


def torn_file(folder: Path) -> None:
    old = folder / "appendonlydir"
    old.mkdir()
    (old / "appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
    (old / "appendonly.aof.1.incr.aof").write_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1000\r\nxx")


def damaged_manifest(folder: Path) -> None:
    torn_file(folder)
    (folder / "appendonlydir" / "appendonly.aof.manifest").write_bytes(b"\xff\x00 nothing of the kind\n")


def damaged_dump(folder: Path) -> None:
    (folder / "dump.rdb").write_bytes(b"REDIS0011" + bytes(range(256)))


def foreign_config(folder: Path) -> None:
    (folder / "nodes.conf").write_bytes(b"\xff")
    (folder / "dump.rdb").mkdir()


def folder_for_a_socket(folder: Path) -> None:
    (folder / "socket").mkdir()
    (folder / "socket" / "file").touch()


def folder_for_a_log(folder: Path) -> None:
    (folder / "log").mkdir(mode=0o500)


def log_that_cannot_be_written(folder: Path) -> None:
    (folder / "log").touch(mode=0o000)


def log_that_nobody_reads(folder: Path) -> None:
    os.mkfifo(folder / "log")


def link_to_nowhere(folder: Path) -> None:
    (folder / "log").symlink_to("/nowhere/log")
    (folder / "socket").symlink_to("/nowhere/socket")


def nothing_may_be_written(folder: Path) -> None:
    (folder / "appendonlydir" / "deep").mkdir(parents=True)
    (folder / "appendonlydir" / "deep" / "file").touch(mode=0o400)
    for each in ("appendonlydir/deep", "appendonlydir", "."):
        (folder / each).chmod(0o500)


def no_folder(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("a file")


LEFT: list[Callable[[Path], None]] = [
    torn_file,
    damaged_manifest,
    damaged_dump,
    foreign_config,
    folder_for_a_socket,
    folder_for_a_log,
    log_that_cannot_be_written,
    log_that_nobody_reads,
    link_to_nowhere,
    nothing_may_be_written,
    no_folder,
]


@pytest.fixture
def settings(short_path: Path) -> Settings:
    made = load_settings({"data": str(short_path / "data")}, {})
    made.make_data_folder()
    (made.data / "redis").mkdir()
    return made


@pytest.mark.parametrize("left", LEFT, ids=lambda left: left.__name__)
def test_nothing_that_lies_there_stops_a_start(settings: Settings, left: Callable[[Path], None]) -> None:
    left(settings.data / "redis")
    embedded_redis.remove_leftovers(settings)
    with subprocess.Popen(embedded_redis.server_command(settings.data), stdout=subprocess.DEVNULL) as server:
        try:
            assert embedded_redis.wait_until_up(embedded_redis.server_url(settings.data), 10)
        finally:
            server.kill()
    assert {each.name for each in (settings.data / "redis").iterdir()} == {"log", "socket"}


def test_what_is_removed_is_told_once(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    torn_file(settings.data / "redis")
    damaged_dump(settings.data / "redis")
    embedded_redis.remove_leftovers(settings)
    assert len(caplog.records) == 1
    assert "appendonlydir, dump.rdb" in caplog.text
    (settings.data / "redis" / "log").touch()
    embedded_redis.remove_leftovers(settings)
    assert len(caplog.records) == 1


def test_what_cannot_be_removed_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError("not permitted")

    (settings.data / "redis" / "dump.rdb").touch()
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(SettingsError, match="is in the way"):
        embedded_redis.remove_leftovers(settings)


def test_a_link_to_another_disk_stays(settings: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (settings.data / "redis").rename(other)
    damaged_dump(other)
    (settings.data / "redis").symlink_to(other)
    embedded_redis.remove_leftovers(settings)
    assert (settings.data / "redis").is_symlink()
    assert list(other.iterdir()) == []


def test_nothing_is_kept(settings: Settings) -> None:
    url = embedded_redis.server_url(settings.data)
    for _ in range(2):
        embedded_redis.remove_leftovers(settings)
        with subprocess.Popen(embedded_redis.server_command(settings.data), stdout=subprocess.DEVNULL) as server:
            assert embedded_redis.wait_until_up(url, 10)
            with Redis.from_url(url) as client:
                assert client.dbsize() == 0
                client.set("a", "b")
            server.terminate()
    assert {each.name for each in (settings.data / "redis").iterdir()} == {"log"}


@pytest.fixture
def own() -> Iterator[Server]:
    with new_server() as server:
        yield server


def test_a_server_that_is_halted_does_not_live(own: Server) -> None:
    assert embedded_redis.is_alive(own.url)
    own.freeze()
    began = time.monotonic()
    assert not embedded_redis.is_alive(own.url, 0.5)
    assert time.monotonic() - began < SOON
    own.thaw()
    until(lambda: embedded_redis.is_alive(own.url))
    own.stop()
    assert not embedded_redis.is_alive(own.url)


# --- the whole service -------------------------------------------------------------------------------------------


def test_work_that_was_queued_outlives_its_redis(tmp_path: Path) -> None:
    """And what an earlier version has left in the folder does no harm."""
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        decision = table.decision()
        os.kill(service.pid("annals-worker-1"), signal.SIGSTOP)
        for seat in range(3):
            table.submit(seat, decision)
        service.kill_group()
    torn_file(tmp_path / "data" / "redis")
    with serving(tmp_path / "data") as service:
        table.service = service
        until(lambda: table.get()["version"] > table.acknowledged[-1], SOON)
        table.turn()
        assert service.errors.read_text().count("removed what a server has left behind") == 1


def test_a_halted_server_is_replaced_and_nobody_waits_for_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table, late = Table(service).open(), Table(service, {"seconds": {"turn": 4}}).open()
        before = service.pid("valkey-server")
        os.kill(before, signal.SIGSTOP)
        assert timed(table) < TIMEOUT + 1
        assert ready(service)["redis"] == "away"
        assert "annals_redis_up 0.0" in httpx.get(f"{service.url}/metrics").text
        until(lambda: late.get()["version"] > 5, SOON)
        until(lambda: service.find("valkey-server") not in (0, before), 40)
        until(lambda: ready(service)["redis"] == "up")
        table.turn()
        assert service.end() == 0


def test_a_server_that_never_comes_back_is_not_needed(short_path: Path) -> None:
    data = short_path / "data"
    with serving(data) as service:
        table = Table(service).open()
        (data / "redis" / "socket").unlink()
        (data / "redis" / "socket").mkdir()
        os.kill(service.pid("valkey-server"), signal.SIGKILL)
        assert timed(table) < TIMEOUT + 1
        assert ready(service)["redis"] == "away"
        assert timed(table) < TIMEOUT + 1
        assert service.end() == 0


def test_workers_that_hang_are_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        os.kill(service.pid("annals-worker-1"), signal.SIGSTOP)
        timed(table)
        with Redis.from_url(embedded_redis.server_url(service.data)) as redis:
            redis.flushall()
        timed(table)


def test_it_starts_without_redis_and_takes_it_when_it_comes(tmp_path: Path, own: Server) -> None:
    own.stop()
    with serving(tmp_path / "data", ANNALS_REDIS_URL=own.url) as service:
        assert ready(service)["redis"] == "away"
        table = Table(service).open()
        timed(table)
        own.start()
        until(lambda: ready(service)["redis"] == "up")
        until(lambda: Redis.from_url(own.url).scard("rq:workers") == 2, SOON)
        table.turn()

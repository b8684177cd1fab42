"""What a supervisor builds before it forks: nothing that a child may not inherit."""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.config.settings import Settings, load_settings
from deploy.runtime.heap import freeze_heap
from deploy.runtime.shared_services import SharedServices, build_shared_services
from deploy.runtime.supervisor import _set_environment
from deploy.runtime.wiring import create_services, migrate
from domain.errors import WrongKey
from domain.ruleset_registry import load_shipped

REDIS = "unix:///nowhere/socket"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(load_settings({"data": str(tmp_path)}, {}), redis_url=REDIS)


@pytest.fixture
def shared(settings: Settings) -> Iterator[SharedServices]:
    migrate(settings)
    shared = build_shared_services(create_services(settings, load_shipped()))
    yield shared
    shared.services.close()


def count_open_files(folder: Path) -> int:
    targets = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return sum(target.is_relative_to(folder) for target in targets)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the open files are seen on Linux alone")
def test_neither_thread_nor_a_connection_is_there_before_a_fork(settings: Settings) -> None:
    migrate(settings)
    threads = threading.active_count()
    build_shared_services(create_services(settings, load_shipped()))
    assert threading.active_count() == threads
    assert count_open_files(settings.data) == 0


def test_forked_process_reads_stores_with_what_it_inherits(shared: SharedServices) -> None:
    def answer(results: multiprocessing.connection.Connection) -> None:
        with shared.use_services() as services:
            health = shared.find_app().test_client().get("/v1/rulesets").status_code
            results.send((services is shared.services, services.reader.read_position(), health))

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=answer, args=(there,))
    child.start()
    assert here.poll(20)
    assert here.recv() == (True, 0, 200)
    child.join(10)
    assert child.exitcode == 0


def test_process_after_change_of_master_key_has_services_apart(shared: SharedServices) -> None:
    (shared.settings.data / "key").write_text(bytes(range(32)).hex())
    with pytest.raises(WrongKey), shared.use_services():
        pass
    with pytest.raises(WrongKey):
        shared.find_app()


def test_the_master_key_is_in_no_repr(shared: SharedServices) -> None:
    assert shared.key.hex() not in repr(shared)
    assert repr(shared.key) not in repr(shared)


def test_a_child_gets_exactly_the_environment_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ANNALS_MIGRATE_URL", "postgresql://owner"), ("ANNALS_RATE", "1"), ("ANNALS_PORT", "8000")):
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    wanted = {**before, "ANNALS_RATE": "2", "ANNALS_HOST": "::1"}
    del wanted["ANNALS_MIGRATE_URL"]
    try:
        _set_environment(wanted)
        assert dict(os.environ) == wanted
    finally:
        _set_environment(before)


def copied_kilobytes(results: multiprocessing.connection.Connection) -> None:
    def measure() -> int:
        text = Path("/proc/self/smaps_rollup").read_text()
        return int(re.findall(r"^Private_Dirty:\s+(\d+)", text, re.MULTILINE)[0])

    measure()
    before, blocks = measure(), [bytearray(size) for size in range(600, 1800)]
    results.send((measure() - before, sum(map(len, blocks)) // 1024))


def fork_with_holes(results: multiprocessing.connection.Connection) -> None:
    kept = [bytearray(600 + number % 1200) for number in range(40_000)]
    del kept[::2]
    freeze_heap()
    child = multiprocessing.get_context("fork").Process(target=copied_kilobytes, args=(results,))
    child.start()
    child.join(20)
    assert kept


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="a process's pages are seen on Linux alone")
def test_blocks_of_child_lie_in_few_pages_of_a_sparse_heap() -> None:
    """From a new process: what tests before this one have left in the heap is no matter."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=fork_with_holes, args=(there,))
    process.start()
    assert here.poll(60)
    copied, made = here.recv()
    process.join(20)
    assert copied < 1.5 * made

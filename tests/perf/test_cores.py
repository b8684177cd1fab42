"""Processes that have a part of a core each."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.perf.cores import part_of_a_core, processes

COUNTS = "while True: pass"


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that takes all it is given."""
    process = subprocess.Popen([sys.executable, "-c", COUNTS])
    yield process.pid
    process.kill()
    process.wait()


def taken(pid: int, seconds: float) -> float:
    """Which part of a core, as seen for so many seconds."""

    def now() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before, began = now(), time.monotonic()
    time.sleep(seconds)
    return (now() - before) / (time.monotonic() - began)


def groups(pid: int) -> list[Path]:
    """Its control groups that there still are. Others come and go meanwhile, so nobody looks through all."""
    root = Path("/sys/fs/cgroup")
    return [found for tree in (root, root / "cpu") if (found := tree / f"annals-perf-{pid}").exists()]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has control groups")
class TestParts:
    def test_it_takes_its_part_and_all_of_it_afterwards(self, busy: int) -> None:
        group = Path(f"/proc/{busy}/cgroup").read_text()
        with part_of_a_core([busy], 0.1) as possible:
            if possible:
                assert taken(busy, 2) < 0.25
        assert Path(f"/proc/{busy}/cgroup").read_text() == group
        assert not groups(busy)

    def test_who_has_ended_meanwhile_leaves_no_group(self, busy: int) -> None:
        with part_of_a_core([busy], 0.5):
            os.kill(busy, signal.SIGKILL)
            os.waitpid(busy, 0)
        assert not groups(busy)

    def test_of_nobody_and_of_who_is_gone_none_is_limited(self, busy: int) -> None:
        with part_of_a_core([], 0.5) as possible:
            assert not possible
        group = Path(f"/proc/{busy}/cgroup").read_text()
        with part_of_a_core([busy, 2**22 + 1], 0.5) as possible:
            assert not possible
            assert Path(f"/proc/{busy}/cgroup").read_text() == group

    def test_only_descendants_are_found(self, busy: int) -> None:
        name = Path(f"/proc/{busy}/comm").read_text().strip()
        assert busy in processes(name)
        assert os.getppid() not in processes(Path(f"/proc/{os.getppid()}/comm").read_text().strip())

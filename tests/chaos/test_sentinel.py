"""A short run of `./run chaos sentinel`: the master is killed once, under a burst of turns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.sentinel import LATE, SHIPPED

ROOT = Path(__file__).resolve().parents[2]


def test_shipped_program_replaces_silent_master_in_time() -> None:
    shipped = dict(line.rsplit(" ", 2)[0::2] for line in SHIPPED.read_text("utf-8").splitlines() if " annals " in line)
    assert int(shipped["sentinel down-after-milliseconds"]) < LATE * 1000
    assert "sentinel monitor annals 10.0.0.1 6379 2\n" in SHIPPED.read_text("utf-8"), "two of three must agree"


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("storm")
@pytest.mark.usefixtures("one_storm")
def test_turns_are_neither_late_nor_doubled_with_killed_master() -> None:
    command = [sys.executable, "run", "chaos", "sentinel", "--runs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr

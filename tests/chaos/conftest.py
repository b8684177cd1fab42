"""What storms ask of the machine."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def one_storm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One storm at a time, whichever processes run the tests.

    Each starts seven processes over and over. Two of them keep a small machine so busy that traps kill processes before
    they have answered anybody, and neither comes to an end.
    """
    place = tmp_path_factory.getbasetemp().parent / "one-storm"
    with place.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def assert_holds(one_storm: None) -> Callable[..., None]:
    """Run `./run chaos` with arguments. The test is skipped where the machine cannot."""
    del one_storm

    def run(*args: str) -> None:
        command = [sys.executable, "run", "chaos", *args]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 2:
            pytest.skip(done.stderr.strip().splitlines()[-1])
        assert done.returncode == 0, done.stdout + done.stderr

    return run

"""A worker says by when it will be heard of again: soon while it waits, later while it does a job."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workers.conftest import Harness
from workers import liveness
from workers.job_calls import BATCH, BATCH_SECONDS, TURN_SECONDS, TURNS
from workers.jobs import audits
from workers.projector_process import LIVENESS_SECONDS, ProjectorLoop
from workers.queues import RowJob
from workers.worker import IDLE_SECONDS, OVERRUN_SECONDS


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "pulse"
    monkeypatch.setenv(liveness.ENV_VARIABLE, str(path))
    liveness.expect_first_sign(path, 1)
    return path


def left(path: Path) -> float:
    return path.stat().st_mtime - time.monotonic()


def test_while_it_works_it_is_given_time_that_the_job_may_take(
    harness: Harness, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile: list[float] = []

    def proved(*_: object) -> dict[str, bool]:
        meanwhile.append(left(file))
        return {"verified": True}

    monkeypatch.setattr(audits, "audit_game", proved)
    harness.ask("audit", harness.game())
    harness.reconciler.pass_once()
    assert harness.worked(BATCH)
    assert BATCH_SECONDS < meanwhile[0] <= BATCH_SECONDS + OVERRUN_SECONDS
    assert 0 < left(file) <= IDLE_SECONDS


def test_a_turn_has_a_minute_and_a_moment_to_tell_of_it(
    harness: Harness, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile: list[float] = []
    monkeypatch.setattr(RowJob, "perform", lambda _: meanwhile.append(left(file)))
    harness.submit(harness.game(), 0, 1, 2)
    harness.pumping.catch_up()
    harness.reconciler.pass_once()
    assert harness.worked(TURNS)
    assert TURN_SECONDS < meanwhile[0] <= TURN_SECONDS + OVERRUN_SECONDS


def test_a_pump_gives_signs_while_it_reads(harness: Harness, file: Path) -> None:
    harness.game()
    ProjectorLoop(harness.context, harness.signals, harness.reconciler).catch_up()
    assert LIVENESS_SECONDS - 10 < left(file) <= LIVENESS_SECONDS


def test_a_promise_is_broken_when_its_time_is_over(file: Path) -> None:
    assert not liveness.is_overdue(file)
    liveness.set_deadline(-0.01)
    assert liveness.is_overdue(file)


def test_what_a_supervisor_looked_after_goes_with_it(tmp_path: Path) -> None:
    """Ended by itself or killed: it stands for nobody any more."""
    with liveness.supervised_folder(tmp_path, "serve") as signs:
        liveness.expect_first_sign(signs / "pump", -1)
        assert liveness.check_processes(tmp_path) == {"serve/pump": True}
    assert liveness.check_processes(tmp_path) == {}
    assert list((tmp_path / "pulse").iterdir()) == []
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert killed.returncode == -9
    assert (tmp_path / "pulse" / "api-1" / "front").exists()
    assert liveness.check_processes(tmp_path) == {}
    assert list((tmp_path / "pulse").iterdir()) == []


KILLED = """
import os, pathlib, sys
from workers import liveness
data = pathlib.Path(sys.argv[1])
with liveness.supervised_folder(data, "api-1") as signs:
    liveness.expect_first_sign(signs / "front", -1)
    assert liveness.check_processes(data) == {"api-1/front": True}
    os.kill(os.getpid(), 9)
"""


def test_without_a_supervisor_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(liveness.ENV_VARIABLE, raising=False)
    liveness.set_deadline(5)
    monkeypatch.setenv(liveness.ENV_VARIABLE, str(tmp_path / "gone"))
    liveness.set_deadline(5)
    assert list(tmp_path.iterdir()) == []

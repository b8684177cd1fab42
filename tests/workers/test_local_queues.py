"""Queues and signals of a service in one process: each job once in its period, again after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from domain.errors import StoreUnavailable
from workers import local_queues
from workers.job_calls import BATCH, JobCall
from workers.local_queues import LocalQueues, LocalSignals


@dataclass
class Work:
    """Work that is counted, and may fail."""

    error: Exception | None = None
    done: list[str] = field(default_factory=list)
    finished: threading.Event = field(default_factory=threading.Event)

    def __call__(self, game: str, decision: str) -> str:
        self.done.append(decision)
        self.finished.set()
        if self.error:
            raise self.error
        return decision


@pytest.fixture
def queues(monkeypatch: pytest.MonkeyPatch) -> LocalQueues:
    monkeypatch.setattr(local_queues, "check_game", lambda _: None)
    return LocalQueues()


def make_call(work: Callable[[str, str], str], decision: str = "1-1", queue: str = "annals-turns") -> JobCall:
    return JobCall(f"lapse-game-{decision}", work, ("game", decision), queue)


def test_a_job_runs_once_in_its_period(queues: LocalQueues) -> None:
    work = Work()
    call = make_call(work)
    assert [queues.enqueue([call], now) for now in (0, 1, 9_999, 10_000)] == [1, 0, 0, 1]
    queues.start()
    queues.enqueue([make_call(work, "2-1", BATCH)], 0)
    assert work.finished.wait(5)
    _end(queues)
    assert sorted(work.done) == ["1-1", "1-1", "2-1"]


def test_a_failed_job_says_so_until_it_is_tried_again(queues: LocalQueues) -> None:
    work = Work(ValueError("broken"))
    queues.start()
    queues.enqueue([make_call(work)], 0)
    assert work.finished.wait(5)
    _end(queues)
    assert queues.job_state("lapse-game-1-1", 5_000) == "failed"
    assert queues.job_state("lapse-game-9-9", 5_000) == ""


def test_a_job_without_a_store_may_be_tried_at_once(queues: LocalQueues) -> None:
    work = Work(StoreUnavailable("away"))
    call = make_call(work)
    queues.start()
    queues.enqueue([call], 0)
    assert work.finished.wait(5)
    _end(queues)
    assert queues.enqueue([call], 1) == 1


def test_a_job_that_takes_too_long_is_noticed(queues: LocalQueues, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()
    monkeypatch.setattr(JobCall, "timeout", property(lambda _: -1))

    def work(_: str, __: str) -> str:
        begun.set()
        may_end.wait(5)
        return ""

    queues.start()
    assert not queues.is_stuck
    queues.enqueue([make_call(work)], 0)
    assert begun.wait(5)
    assert queues.is_stuck
    assert queues.job_state("lapse-game-1-1", 0) == "running"
    may_end.set()
    _end(queues)
    assert not queues.is_stuck


def test_signals_wake_the_projector_and_listeners() -> None:
    signals, told = LocalSignals(), list[frozenset[str]]()
    signals.listen(told.append)
    assert not signals.wait_appended(0)
    signals.notify_changed("one")
    assert signals.wait_appended(0)
    assert not signals.wait_appended(0)
    signals.notify_projected(3, ["one", "two"])
    assert told == [frozenset({"one"}), frozenset({"one", "two"})]


def _end(queues: LocalQueues) -> None:
    """Let the queues run dry: an end drops the jobs that wait."""
    for thread, waiting in zip(queues._threads, queues._waiting.values(), strict=True):
        waiting.put(None)
        thread.join(5)

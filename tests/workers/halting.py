"""Processes of a service on a Redis that is halted, stopped and started, in this process."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from domain.errors import StoreUnavailable
from projections.reader import DueWork
from tests.valkey import Server, new_server
from tests.workers.conftest import Harness
from workers.job_calls import TURNS, due_call
from workers.projector_process import ProjectorLoop
from workers.queues import Queues
from workers.reconciler import Reconciler
from workers.signals import Signals
from workers.worker import serve_queue

NOBODY = "unix:///nowhere/socket"


def until(what: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that may be halted."""
    with new_server() as server:
        yield server


class Pump:
    """The loop of the pump on a Redis at that address, turn by turn."""

    def __init__(self, harness: Harness, url: str) -> None:
        self.signals, self.queues = Signals(url), Queues(url)
        self.reconciler = Reconciler(
            harness.reader,
            harness.context.job_requests,
            harness.context.heartbeat,
            self.queues,
            harness.context.clock,
        )
        self.pumping = ProjectorLoop(harness.context, self.signals, self.reconciler)

    def until(self, what: Callable[[], object], seconds: float = 60) -> None:
        def turned() -> object:
            self.pumping._check_pending, self.pumping._checked_at = True, 0.0  # a pass each time
            self.pumping.run_once()
            return what()

        until(turned, seconds)
        self.pumping._fallback.stop()


def meanwhile(harness: Harness, url: str, script: Callable[[], object], queue: str = TURNS) -> float:
    """A worker works while the script is played, and is then asked to end; the seconds that this takes."""
    asked: list[float] = []

    def play() -> None:
        try:
            script()
        finally:
            until(lambda: signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN)  # the worker has begun to listen
            asked.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGTERM)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    player = threading.Thread(target=play)
    player.start()
    try:
        with warnings.catch_warnings():  # the signal may come while a socket is opened or closed, which is dropped then
            warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
            serve_queue(harness.context, url, queue)
        return time.monotonic() - asked[0]
    finally:
        player.join()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def handed(url: str, game: str, decision: str, now: int) -> None:
    """A turn is put into the queue, whatever became of it before."""
    queues = Queues(url)
    with suppress(StoreUnavailable):
        queues.enqueue([due_call(DueWork(game, decision, "resolve", 0))], now)
    queues.close()

"""Where something else than Redis answers, it counts as away, whatever it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.runtime import embedded_redis
from domain.errors import StoreUnavailable
from projections.reader import DueWork
from tests.imposter import ANSWERS, Answer, imposter
from tests.workers.conftest import Harness
from tests.workers.halting import Pump, meanwhile
from workers.job_calls import TURNS, due_call
from workers.queues import Queues
from workers.signals import Signals


@pytest.fixture(params=ANSWERS, ids=lambda answer: answer.__name__)
def address(request: pytest.FixtureRequest, short_path: Path) -> Iterator[str]:
    answer: Answer = request.param
    with imposter(short_path / "socket", answer) as url:
        yield url


def test_it_is_away_for_whoever_asks(address: str) -> None:
    signals, queues = Signals(address), Queues(address)
    assert not embedded_redis.is_alive(address, 0.25)
    assert not signals.is_up()
    signals.notify_appended(1)
    signals.notify_projected(1, ["game"])
    assert not signals.wait_appended(0.1)
    assert signals.wait_projected(0.1) is None
    assert signals.is_deaf
    assert queues.job_state("audit-1", 0) == ""
    with pytest.raises(StoreUnavailable):
        queues.enqueue([due_call(DueWork("0" * 36, "0-1", "resolve", 0))], 0)
    with pytest.raises(StoreUnavailable):
        queues.count_workers()
    signals.close()
    queues.close()


def test_the_pump_does_the_work_itself(harness: Harness, address: str) -> None:
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    Pump(harness, address).until(lambda: harness.kinds(game)[-1] == "resolved")


def test_a_worker_waits_for_a_redis_and_ends_when_asked(
    harness: Harness, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert meanwhile(harness, address, lambda: time.sleep(2.5), TURNS) < 2
    assert "Traceback" not in caplog.text

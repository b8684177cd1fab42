"""Turns and deadlines go on without Redis, and where nobody takes what was handed out."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from domain.errors import StoreUnavailable
from domain.kernel.game.game import Game
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Leave
from domain.types import Json
from tests.valkey import Server
from tests.workers.conftest import Harness
from tests.workers.halting import NOBODY, Pump, handed, meanwhile, own, until
from tests.workers.test_rewinds import filed, wished
from workers import redis_fallback
from workers.job_calls import PERIOD, TURNS, JobCall
from workers.reconciler import OVERDUE_MS
from workers.redis_fallback import RedisFallback
from workers.worker import POLL_SECONDS, REDIS_SECONDS

__all__ = ["own"]

MINUTE = 60_000


# --- without Redis -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("away", ["nowhere", "halted"])
def test_turns_deadlines_vacant_seats_and_rewinds_go_on(harness: Harness, own: Server, away: str) -> None:
    turn, late, vacant = harness.game(), harness.game(pace={"seconds": {"turn": 60}}), harness.game("sealed@1", 4)
    back, before = filed(harness)
    harness.context.job_requests.submit(wished(harness, back, before))
    harness.submit(turn, 0, 1, 2)
    harness.submit(late, 1)
    harness.later(MINUTE)
    harness.context.commands.handle(vacant, Leave(1))
    found: Game[Any] = harness.context.commands.game(vacant)
    card = next(c for c in found.state.hands[0] if c != "alliance")
    harness.context.commands.handle(vacant, Play(0, [{"type": "attack", "target": 2, "card": card}]))
    pump = Pump(harness, NOBODY if away == "nowhere" else own.url)
    if away == "halted":
        own.freeze()
    wanted = {turn: "resolved", late: "lapsed", vacant: "lapsed", back: "rewound"}
    pump.until(lambda: all(kind in harness.kinds(game) for game, kind in wanted.items()))


def test_long_work_waits_for_its_workers(harness: Harness) -> None:
    game = harness.game()
    id_ = harness.ask("audit", game)
    harness.submit(game, 0, 1, 2)
    pump = Pump(harness, NOBODY)
    pump.until(lambda: harness.kinds(game)[-1] == "resolved")
    errand = harness.context.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is None
    assert [call.queue for call in pump.reconciler.unclaimed] in ([], [TURNS])


def test_the_views_are_not_kept_waiting_by_a_halted_server(harness: Harness, own: Server) -> None:
    game = harness.game()
    pump = Pump(harness, own.url)
    pump.pumping.run_once()
    own.freeze()
    harness.submit(game, 0, 1, 2)
    pump.until(lambda: harness.kinds(game)[-1] == "resolved")
    waits: list[float] = []
    for _ in range(10):
        began = time.monotonic()
        pump.pumping._check_pending = True
        pump.pumping.run_once()
        waits.append(time.monotonic() - began)
    assert sorted(waits)[len(waits) // 2] < 1, "most of the time it is not tried"
    assert max(waits) < 4


# --- nobody takes what was handed out ----------------------------------------------------------------------------


def test_work_without_a_worker_is_done_after_few_seconds(harness: Harness) -> None:
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    assert not harness.reconciler.unclaimed
    harness.later(OVERDUE_MS)
    harness.reconciler.pass_once()
    assert not harness.reconciler.unclaimed, "the workers are given their time"
    harness.later(1)
    harness.reconciler.pass_once()
    assert [call.name.split("-")[0] for call in harness.reconciler.unclaimed] == ["resolve"]
    Pump(harness, harness.url)
    harness.pumping._fallback.run_all(harness.reconciler.unclaimed)
    assert harness.kinds(game)[-1] == "resolved"
    harness.passed()
    assert not harness.reconciler.unclaimed


def test_work_that_was_due_long_ago_is_the_workers_first(harness: Harness) -> None:
    """When the service is started again after a night."""
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.later(1000 * MINUTE)
    assert harness.passed() == 1
    assert not harness.reconciler.unclaimed
    harness.worked()
    assert harness.kinds(game)[-1] == "lapsed"


# --- the work itself ---------------------------------------------------------------------------------------------


def call(name: str, work: Callable[..., Json]) -> JobCall:
    return JobCall(name, work, ())


def test_what_raises_stops_neither_others_nor_what_comes_later(caplog: pytest.LogCaptureFixture) -> None:
    now, done = [0], list[str]()
    calls = [call("a", lambda: done.append("a")), call("b", lambda: 1 // 0), call("c", lambda: done.append("c"))]
    made = RedisFallback(lambda: now[0])
    made.run_all(calls)
    assert done == ["c", "a"], "the newest first: what fails gets old"
    assert "b has failed" in caplog.text
    made.run_all(calls)
    assert done == ["c", "a"], "once in a period"
    now[0] += PERIOD
    made.run_all(calls)
    assert done == ["c", "a"] * 2


def test_while_the_store_is_away_it_is_tried_again_at_once(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def away() -> None:
        tries.append(1)
        raise StoreUnavailable("gone")

    made = RedisFallback(lambda: 0)
    for _ in range(3):
        made.run_all([call("a", away)])
    assert len(tries) == 3
    assert "Traceback" not in caplog.text


def test_one_thread_at_a_time() -> None:
    go, begun = threading.Event(), list[str]()

    def wait(name: str) -> Callable[[], Json]:
        def begin() -> None:
            begun.append(name)
            go.wait(10)

        return begin

    made = RedisFallback(lambda: 0)
    for name in "abc":
        made.start([call(name, wait(name))])
    until(lambda: begun)
    assert begun == ["a"]
    go.set()
    made.stop()
    made.run_all([call("d", wait("d"))])
    assert begun == ["a"], "nothing new is begun after the end"


def test_work_that_hangs_ends_the_pump_which_is_started_anew(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    game, other = harness.game(), harness.game()
    harness.submit(game, 0, 1, 2)
    go = threading.Event()
    monkeypatch.setattr(harness.context.commands, "handle", lambda *_, **__: go.wait(20) and 1 // 0)
    monkeypatch.setattr(redis_fallback, "TURN_SECONDS", 1)
    pump = Pump(harness, NOBODY)
    began = time.monotonic()
    runner = threading.Thread(target=pump.pumping.run)
    runner.start()
    until(lambda: harness.reader.find_summary(other))
    runner.join(10)
    took = time.monotonic() - began
    go.set()
    assert pump.pumping._fallback._thread
    pump.pumping._fallback._thread.join(10)  # what it does last is not done in a harness that is closed
    assert not runner.is_alive()
    assert took >= 1
    assert f"resolve-{game}-{harness.decision(game)} takes too long" in caplog.text


# --- workers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before it starts", "while it waits"])
def test_a_worker_ends_when_asked_while_the_server_is_halted(
    harness: Harness, own: Server, when: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "rq.worker")
    if when == "before it starts":
        own.freeze()

    def script() -> None:
        time.sleep(1)
        own.freeze()
        time.sleep(0.5)

    assert meanwhile(harness, own.url, script) < REDIS_SECONDS + 2


def test_a_worker_comes_back_by_itself_when_the_server_does(harness: Harness, own: Server) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    took: list[float] = []

    def script() -> None:
        time.sleep(0.5)
        own.freeze()
        time.sleep(2 * POLL_SECONDS + 3)  # it has lost patience by then
        own.thaw()
        began = time.monotonic()
        handed(own.url, game, decision, 0)
        until(lambda: harness.kinds(game)[-1] == "resolved")
        took.append(time.monotonic() - began)

    meanwhile(harness, own.url, script)
    assert took[0] < POLL_SECONDS + 6


def test_a_worker_finds_the_server_that_replaces_its_own(harness: Harness, own: Server) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)

    def script() -> None:
        time.sleep(0.5)
        own.stop()
        time.sleep(1)
        own.start()
        handed(own.url, game, decision, 0)
        until(lambda: harness.kinds(game)[-1] == "resolved", 10)

    meanwhile(harness, own.url, script)


def test_job_is_finished_when_worker_ends_and_server_halts(
    harness: Harness, own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    real, begun = harness.context.commands.handle, threading.Event()

    def slow(*args: Any, **more: Any) -> Any:
        begun.set()
        time.sleep(1)
        return real(*args, **more)

    monkeypatch.setattr(harness.context.commands, "handle", slow)

    def script() -> None:
        handed(own.url, game, decision, 0)
        assert begun.wait(10)
        own.freeze()

    assert meanwhile(harness, own.url, script) < 20
    assert harness.kinds(game)[-1] == "resolved"


def test_an_emptied_server_loses_no_worker(harness: Harness, own: Server) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)

    def script() -> None:
        time.sleep(0.5)
        with Redis.from_url(own.url) as client:
            client.flushall()
        handed(own.url, game, decision, 0)
        until(lambda: harness.kinds(game)[-1] == "resolved", 10)

    meanwhile(harness, own.url, script)

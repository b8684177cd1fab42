"""Whoever can write to Redis can ask for work, and for nothing else; what is written there harms no worker."""

from __future__ import annotations

import json
import time
import urllib.request
import zlib
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from rq import Queue

from domain.errors import StoreUnavailable
from tests.workers.conftest import Harness
from workers.job_calls import BATCH, BATCH_PERIOD, PERIOD, TURNS, parse_id
from workers.jobs import turns
from workers.queues import MAX_QUEUED, SERIALIZER
from workers.reconciler import OVERDUE_MS

LINE = f"rq:queue:{TURNS}"
RAN: list[object] = []


def caught(*args: object, **_: object) -> None:
    """What no worker may run."""
    RAN.append(args)


CAUGHT = f"{__name__}.caught"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def data(func: str, instance: object = None, args: object = (), kwargs: object = None) -> bytes:
    return zlib.compress(json.dumps([func, instance, args, kwargs or {}]).encode())


def due(harness: Harness) -> tuple[str, str]:
    """A turn that waits in the queue: its game, and the key of its job."""
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    (key,) = harness.redis.keys("rq:job:resolve-*")
    assert isinstance(key, bytes)
    return game, key.decode()


def run_unclaimed(harness: Harness) -> None:
    """Do what no worker has done, as the projector does after some seconds."""
    harness.later(OVERDUE_MS + 1)
    harness.reconciler.pass_once()
    harness.pumping._fallback.run_all(harness.reconciler.unclaimed)


FOREIGN: dict[str, dict[Any, Any]] = {
    "another function": {"data": data(CAUGHT)},
    "a method of an instance": {"data": data("touch", "never", [])},
    "other arguments": {"data": data("workers.jobs.turns.resolve", None, [{"a": 1}, None, 7])},
    "no JSON": {"data": b"\x80\x04pickled"},
    "a callback for success": {"success_callback_name": CAUGHT},
    "a callback for failure": {"failure_callback_name": CAUGHT},
    "a callback for a stop": {"stopped_callback_name": CAUGHT},
    "text that is none": {"success_callback_name": b"\xff", "origin": b"\xfe", "worker_name": b"\xff"},
    "an address to be told": {"webhooks": json.dumps([{"url": "http://127.0.0.1:9/", "job_status": "finished"}])},
    "a repetition": {"repeats_left": 1_000_000, "repeat_intervals": "[0]"},
    "retries": {"retries_left": 1_000_000, "retry_intervals": "[0]"},
    "a status that there is not": {"status": "sleeping"},
    "numbers that are none": {"timeout": "soon", "result_ttl": "x", "retries_left": "many", "ttl": "-"},
    "no time limit": {"timeout": -1},
    "times that are none": {"created_at": "yesterday", "enqueued_at": b"\xff"},
    "another to wait for": {"dependency_ids": '["foreign"]', "dependency_id": "foreign"},
    "dependencies that are none": {"dependency_ids": b"{{{"},
    "a group": {"group_id": "../x"},
    "a result": {"result": b"\xff", "exc_info": b"\xff"},
    "notes": {"meta": b"[" * 10_000},
    "another queue": {"origin": "default"},
}


@pytest.mark.parametrize("what", FOREIGN)
def test_nothing_that_is_written_to_a_job_is_read(harness: Harness, what: str) -> None:
    game, key = due(harness)
    harness.redis.hset(key, mapping=FOREIGN[what])
    with mock.patch.object(urllib.request, "urlopen", caught), mock.patch("rq.webhook.urlopen", caught):
        assert harness.worked()
    assert RAN == []
    assert harness.kinds(game)[-1] == "resolved"
    assert not harness.worked(), "it is done once"


@pytest.mark.parametrize("what", FOREIGN)
def test_nor_when_it_fails(harness: Harness, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, key = due(harness)
    monkeypatch.setattr(harness.context.commands, "handle", lambda *_, **__: 1 // 0)
    harness.redis.hset(key, mapping=FOREIGN[what])
    with mock.patch("rq.webhook.urlopen", caught):
        assert harness.worked()
    assert RAN == []
    assert not harness.worked(), "it is not tried for ever"
    assert harness.redis.hget(key, "status") == b"failed"
    assert 0 < harness.redis.ttl(key) <= PERIOD // 1000, "but again soon"


def test_a_job_without_data_is_done_from_its_name(harness: Harness) -> None:
    game, key = due(harness)
    harness.redis.delete(key)
    assert harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


@pytest.mark.parametrize("kind", ["string", "list"])
def test_a_job_that_is_no_hash_is_done_without_the_queue(harness: Harness, kind: str) -> None:
    game, key = due(harness)
    harness.redis.delete(key)
    if kind == "string":
        harness.redis.set(key, "x")
    else:
        harness.redis.rpush(key, "x")
    harness.worked()
    run_unclaimed(harness)
    assert harness.kinds(game)[-1] == "resolved"


def test_jobs_that_follow_are_not_looked_for(harness: Harness) -> None:
    _, key = due(harness)
    harness.redis.hset("rq:job:foreign", mapping={"data": data(CAUGHT), "origin": TURNS, "status": "deferred"})
    harness.redis.sadd(f"{key}:dependents", "foreign", b"\xff")
    assert harness.worked()
    assert RAN == []
    assert harness.redis.llen(LINE) == 0


def test_a_foreign_job_is_passed_over(harness: Harness) -> None:
    queue = Queue(TURNS, connection=harness.redis, serializer=SERIALIZER)
    queue.enqueue(CAUGHT, job_id="foreign")
    assert not harness.worked()
    assert RAN == []


GAME = "00000000-0000-0000-0000-000000000000"
NAMES = [
    b"",
    b"\xff\xfe",
    b"a" * 100_000,
    b"rq:job:x",
    b"a:b",
    b"os.getcwd",
    b"../../x",
    f"resolve-{GAME}-0-1".encode(),
    f"resolve-{GAME}-0-1-1\n".encode(),
    f"resolve-{GAME}-0-x-1".encode(),
    f"resolve-{GAME.upper()}x-0-1-1".encode(),
    f"shred-{GAME}-0-1-1".encode(),
    f"audit-{GAME}-0-1-1".encode(),
    b"audit-x-1",
    b"rewind-" + b"0" * 24,
    f"resolve-{GAME}-\u0660-\u0661-1".encode(),
]


def test_names_of_no_job_of_ours_are_passed_over(harness: Harness) -> None:
    game, _ = due(harness)
    harness.redis.lpush(LINE, *NAMES)
    for _ in NAMES:  # a worker begins anew after a name that is no text
        harness.worked()
    assert harness.kinds(game)[-1] == "resolved"
    assert harness.redis.llen(LINE) == 0


def test_a_name_is_that_of_a_job_or_of_none() -> None:
    assert all(parse_id(name.decode(errors="replace")) is None for name in NAMES)
    call = parse_id(f"lapse-{GAME}-3-12-171")
    assert call is not None
    assert (call.args, call.queue, call.name) == ((GAME, "3-12"), TURNS, f"lapse-{GAME}-3-12")
    errand = parse_id("audit-0123456789abcdef01234567-4")
    assert errand is not None
    assert (errand.args, errand.queue) == (("audit-0123456789abcdef01234567",), BATCH)


def test_an_unknown_game_is_refused_once(harness: Harness) -> None:
    harness.redis.rpush(LINE, f"resolve-{GAME}-0-1-1", f"lapse-{GAME}-0-1-1", "rewind-" + "0" * 24 + "-1")
    assert harness.worked()
    assert not harness.worked()


def test_long_work_cannot_be_put_in_the_way_of_turns(harness: Harness) -> None:
    id_ = harness.ask("audit", harness.game())
    harness.redis.rpush(LINE, f"{id_}-1")
    harness.worked(TURNS)
    errand = harness.context.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is None


def test_workers_cannot_be_halted_through_redis(harness: Harness) -> None:
    game, _ = due(harness)
    harness.redis.set("rq:suspended", "1")
    assert harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


KEYS = [
    f"rq:wip:{TURNS}",
    f"rq:failed:{TURNS}",
    f"rq:finished:{TURNS}",
    f"rq:deferred:{TURNS}",
    f"rq:scheduled:{TURNS}",
    f"rq:canceled:{TURNS}",
    f"{LINE}:intermediate",
    "rq:groups",
    "rq:queues",
    f"rq:clean_registries:{TURNS}",
]


@pytest.mark.parametrize("write", ["set", "zadd", "rpush", "sadd"])
def test_what_is_written_to_library_s_own_keys_costs_no_turn(harness: Harness, write: str) -> None:
    """It may keep the workers from work. The projector then does it."""
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    for key in KEYS:
        kinds: dict[str, Callable[[str], object]] = {
            "set": lambda key: harness.redis.set(key, b"\xff"),
            "zadd": lambda key: harness.redis.zadd(key, {b"\xff": 1, b"a:b": 2}),
            "rpush": lambda key: harness.redis.rpush(key, b"\xff", b"foreign"),
            "sadd": lambda key: harness.redis.sadd(key, b"\xff", b"rq:group:x"),
        }
        if key != "rq:queues" or write == "sadd":  # to which a name is added at each enqueueing
            kinds[write](key)
    harness.passed()
    harness.worked()
    run_unclaimed(harness)
    assert harness.kinds(game)[-1] == "resolved"


def test_a_queue_that_is_none_stops_no_worker_for_good(harness: Harness) -> None:
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    harness.redis.set(LINE, "x")
    assert harness.passed() == 0
    assert not harness.worked()
    harness.redis.delete(LINE)
    harness.queues._enqueuing.report(failed=False)
    harness.later(PERIOD)
    assert harness.passed() == 1
    assert harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


def test_workers_that_are_gone_are_not_counted_and_forgotten(harness: Harness) -> None:
    known = f"rq:workers:{TURNS}"
    harness.redis.hset("rq:worker:alive", "last_heartbeat", "2026-01-01T00:00:00.000000Z")
    harness.redis.sadd(known, "rq:worker:dead", "rq:worker:alive")
    assert harness.queues.count_workers()[TURNS] == 1
    harness.worked()
    assert harness.redis.smembers(known) == {b"rq:worker:alive"}
    harness.redis.sadd(known, b"\xff")
    with pytest.raises(StoreUnavailable):
        harness.queues.count_workers()


@pytest.mark.parametrize("status", [b"\xff", b"", b"a" * 100_000, b"finished"])
def test_a_status_that_there_is_not_tells_nothing(harness: Harness, status: bytes) -> None:
    game, key = due(harness)
    harness.redis.hset(key, "status", status)
    name = f"resolve-{game}-{harness.decision(game)}"
    assert harness.queues.job_state(name, harness.context.clock()) == ""
    harness.redis.delete(key)
    harness.redis.set(key, status)
    assert harness.queues.job_state(name, harness.context.clock()) == ""


def test_what_nobody_takes_does_not_pile_up(harness: Harness) -> None:
    due(harness)
    harness.redis.rpush(LINE, *range(MAX_QUEUED + 10))
    harness.reconciler.pass_once()
    assert harness.redis.llen(LINE) <= MAX_QUEUED + 1


def test_everything_of_a_job_ends_by_itself(harness: Harness) -> None:
    due(harness)
    harness.worked()
    kept = {key for key in harness.redis.keys("*") if harness.redis.ttl(key) == -1}
    registries = {f"rq:{name}:{TURNS}".encode() for name in ("finished", "failed", "wip", "workers")}
    assert kept <= registries | {b"rq:queues", b"rq:workers"}, "the library sweeps its registries"


def test_failed_audit_is_handed_out_again_within_short_period(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    id_ = harness.ask("audit", harness.game())
    harness.reconciler.pass_once()
    with monkeypatch.context() as broken:
        broken.setattr(harness.context.ledger, "read", away)
        harness.worked(BATCH)
    key = f"rq:job:{id_}-{harness.context.clock() // BATCH_PERIOD}"
    assert 0 < harness.redis.ttl(key) <= PERIOD // 1000
    harness.redis.delete(key)
    assert harness.job(id_)["verified"] is True


def test_work_is_done_while_its_worker_loses_redis(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    game, _ = due(harness)
    real = harness.context.commands.handle

    def slow(*args: Any, **more: Any) -> Any:
        harness.redis.client_kill_filter(_type="normal", skipme=True)
        time.sleep(0.05)
        return real(*args, **more)

    monkeypatch.setattr(harness.context.commands, "handle", slow)
    harness.worked()
    assert harness.kinds(game)[-1] == "resolved"
    assert turns.resolve(game, "0-1") == turns.GONE

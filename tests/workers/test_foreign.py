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
from tests.workers.conftest import House
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


def due(house: House) -> tuple[str, str]:
    """A turn that waits in the queue: its game, and the key of its job."""
    game = house.game()
    house.submit(game, 0, 1, 2)
    assert house.passed() == 1
    (key,) = house.redis.keys("rq:job:resolve-*")
    assert isinstance(key, bytes)
    return game, key.decode()


def run_unclaimed(house: House) -> None:
    """Do what no worker has done, as the projector does after some seconds."""
    house.later(OVERDUE_MS + 1)
    house.reconciler.pass_once()
    house.pumping._fallback.run_all(house.reconciler.unclaimed)


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
def test_nothing_that_is_written_to_a_job_is_read(house: House, what: str) -> None:
    game, key = due(house)
    house.redis.hset(key, mapping=FOREIGN[what])
    with mock.patch.object(urllib.request, "urlopen", caught), mock.patch("rq.webhook.urlopen", caught):
        assert house.worked()
    assert RAN == []
    assert house.kinds(game)[-1] == "resolved"
    assert not house.worked(), "it is done once"


@pytest.mark.parametrize("what", FOREIGN)
def test_nor_when_it_fails(house: House, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, key = due(house)
    monkeypatch.setattr(house.crew.commands, "handle", lambda *_, **__: 1 // 0)
    house.redis.hset(key, mapping=FOREIGN[what])
    with mock.patch("rq.webhook.urlopen", caught):
        assert house.worked()
    assert RAN == []
    assert not house.worked(), "it is not tried for ever"
    assert house.redis.hget(key, "status") == b"failed"
    assert 0 < house.redis.ttl(key) <= PERIOD // 1000, "but again soon"


def test_a_job_without_data_is_done_from_its_name(house: House) -> None:
    game, key = due(house)
    house.redis.delete(key)
    assert house.worked()
    assert house.kinds(game)[-1] == "resolved"


@pytest.mark.parametrize("kind", ["string", "list"])
def test_a_job_that_is_no_hash_is_done_without_the_queue(house: House, kind: str) -> None:
    game, key = due(house)
    house.redis.delete(key)
    if kind == "string":
        house.redis.set(key, "x")
    else:
        house.redis.rpush(key, "x")
    house.worked()
    run_unclaimed(house)
    assert house.kinds(game)[-1] == "resolved"


def test_jobs_that_follow_are_not_looked_for(house: House) -> None:
    _, key = due(house)
    house.redis.hset("rq:job:foreign", mapping={"data": data(CAUGHT), "origin": TURNS, "status": "deferred"})
    house.redis.sadd(f"{key}:dependents", "foreign", b"\xff")
    assert house.worked()
    assert RAN == []
    assert house.redis.llen(LINE) == 0


def test_a_foreign_job_is_passed_over(house: House) -> None:
    queue = Queue(TURNS, connection=house.redis, serializer=SERIALIZER)
    queue.enqueue(CAUGHT, job_id="foreign")
    assert not house.worked()
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


def test_names_of_no_job_of_ours_are_passed_over(house: House) -> None:
    game, _ = due(house)
    house.redis.lpush(LINE, *NAMES)
    for _ in NAMES:  # a worker begins anew after a name that is no text
        house.worked()
    assert house.kinds(game)[-1] == "resolved"
    assert house.redis.llen(LINE) == 0


def test_a_name_is_that_of_a_job_or_of_none() -> None:
    assert all(parse_id(name.decode(errors="replace")) is None for name in NAMES)
    call = parse_id(f"lapse-{GAME}-3-12-171")
    assert call is not None
    assert (call.args, call.queue, call.name) == ((GAME, "3-12"), TURNS, f"lapse-{GAME}-3-12")
    errand = parse_id("audit-0123456789abcdef01234567-4")
    assert errand is not None
    assert (errand.args, errand.queue) == (("audit-0123456789abcdef01234567",), BATCH)


def test_an_unknown_game_is_refused_once(house: House) -> None:
    house.redis.rpush(LINE, f"resolve-{GAME}-0-1-1", f"lapse-{GAME}-0-1-1", "rewind-" + "0" * 24 + "-1")
    assert house.worked()
    assert not house.worked()


def test_long_work_cannot_be_put_in_the_way_of_turns(house: House) -> None:
    id_ = house.ask("audit", house.game())
    house.redis.rpush(LINE, f"{id_}-1")
    house.worked(TURNS)
    errand = house.crew.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is None


def test_workers_cannot_be_halted_through_redis(house: House) -> None:
    game, _ = due(house)
    house.redis.set("rq:suspended", "1")
    assert house.worked()
    assert house.kinds(game)[-1] == "resolved"


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
def test_what_is_written_to_library_s_own_keys_costs_no_turn(house: House, write: str) -> None:
    """It may keep the workers from work. The projector then does it."""
    game = house.game()
    house.submit(game, 0, 1, 2)
    for key in KEYS:
        kinds: dict[str, Callable[[str], object]] = {
            "set": lambda key: house.redis.set(key, b"\xff"),
            "zadd": lambda key: house.redis.zadd(key, {b"\xff": 1, b"a:b": 2}),
            "rpush": lambda key: house.redis.rpush(key, b"\xff", b"foreign"),
            "sadd": lambda key: house.redis.sadd(key, b"\xff", b"rq:group:x"),
        }
        if key != "rq:queues" or write == "sadd":  # to which a name is added at each enqueueing
            kinds[write](key)
    house.passed()
    house.worked()
    run_unclaimed(house)
    assert house.kinds(game)[-1] == "resolved"


def test_a_queue_that_is_none_stops_no_worker_for_good(house: House) -> None:
    game = house.game()
    house.submit(game, 0, 1, 2)
    house.redis.set(LINE, "x")
    assert house.passed() == 0
    assert not house.worked()
    house.redis.delete(LINE)
    house.queues._enqueuing.report(failed=False)
    house.later(PERIOD)
    assert house.passed() == 1
    assert house.worked()
    assert house.kinds(game)[-1] == "resolved"


def test_workers_that_are_gone_are_not_counted_and_forgotten(house: House) -> None:
    known = f"rq:workers:{TURNS}"
    house.redis.hset("rq:worker:alive", "last_heartbeat", "2026-01-01T00:00:00.000000Z")
    house.redis.sadd(known, "rq:worker:dead", "rq:worker:alive")
    assert house.queues.count_workers()[TURNS] == 1
    house.worked()
    assert house.redis.smembers(known) == {b"rq:worker:alive"}
    house.redis.sadd(known, b"\xff")
    with pytest.raises(StoreUnavailable):
        house.queues.count_workers()


@pytest.mark.parametrize("status", [b"\xff", b"", b"a" * 100_000, b"finished"])
def test_a_status_that_there_is_not_tells_nothing(house: House, status: bytes) -> None:
    game, key = due(house)
    house.redis.hset(key, "status", status)
    name = f"resolve-{game}-{house.decision(game)}"
    assert house.queues.job_state(name, house.crew.clock()) == ""
    house.redis.delete(key)
    house.redis.set(key, status)
    assert house.queues.job_state(name, house.crew.clock()) == ""


def test_what_nobody_takes_does_not_pile_up(house: House) -> None:
    due(house)
    house.redis.rpush(LINE, *range(MAX_QUEUED + 10))
    house.reconciler.pass_once()
    assert house.redis.llen(LINE) <= MAX_QUEUED + 1


def test_everything_of_a_job_ends_by_itself(house: House) -> None:
    due(house)
    house.worked()
    kept = {key for key in house.redis.keys("*") if house.redis.ttl(key) == -1}
    registries = {f"rq:{name}:{TURNS}".encode() for name in ("finished", "failed", "wip", "workers")}
    assert kept <= registries | {b"rq:queues", b"rq:workers"}, "the library sweeps its registries"


def test_failed_audit_is_handed_out_again_within_short_period(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    id_ = house.ask("audit", house.game())
    house.reconciler.pass_once()
    with monkeypatch.context() as broken:
        broken.setattr(house.crew.ledger, "read", away)
        house.worked(BATCH)
    key = f"rq:job:{id_}-{house.crew.clock() // BATCH_PERIOD}"
    assert 0 < house.redis.ttl(key) <= PERIOD // 1000
    house.redis.delete(key)
    assert house.job(id_)["verified"] is True


def test_work_is_done_while_its_worker_loses_redis(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game, _ = due(house)
    real = house.crew.commands.handle

    def slow(*args: Any, **more: Any) -> Any:
        house.redis.client_kill_filter(_type="normal", skipme=True)
        time.sleep(0.05)
        return real(*args, **more)

    monkeypatch.setattr(house.crew.commands, "handle", slow)
    house.worked()
    assert house.kinds(game)[-1] == "resolved"
    assert turns.resolve(game, "0-1") == turns.GONE

"""Jobs that another version has enqueued are done: the id of a job names its work, and no function's path is read."""

from __future__ import annotations

import json
import zlib

import pytest

from tests.workers.conftest import Harness
from workers.job_calls import BATCH, TURNS, JobCall, parse_id

GAME = "00000000-0000-0000-0000-000000000000"
ERRAND = "0123456789abcdef01234567"
IDS = {
    f"resolve-{GAME}-0-2": (TURNS, (GAME, "0-2"), 10_000),
    f"lapse-{GAME}-0-2": (TURNS, (GAME, "0-2"), 10_000),
    f"vacant-{GAME}-0-2": (TURNS, (GAME, "0-2"), 10_000),
    f"bot-{GAME}-0-2": (TURNS, (GAME, "0-2"), 1_000),
    f"sweep-{GAME}-0-2": (TURNS, (GAME, "0-2"), 10_000),
    f"rewind-{ERRAND}": (TURNS, (f"rewind-{ERRAND}",), 10_000),
    f"audit-{ERRAND}": (BATCH, (f"audit-{ERRAND}",), 60_000),
    f"rebuild-{ERRAND}": (BATCH, (f"rebuild-{ERRAND}",), 60_000),
    "notices": (TURNS, (), 1_000),
}


def found(name: str) -> JobCall:
    call = parse_id(f"{name}-171")
    assert call is not None
    return call


def test_the_queues_keep_their_names() -> None:
    assert (TURNS, BATCH) == ("annals-turns", "annals-batch")


@pytest.mark.parametrize("name", IDS)
def test_an_id_names_the_same_work(name: str) -> None:
    call = found(name)
    assert (call.queue, call.args, call.period, call.name) == (*IDS[name], name)


def test_each_id_names_work_of_its_own() -> None:
    assert len({found(name).function for name in IDS}) == len(IDS)


@pytest.mark.parametrize("path", ["workers.turns.resolve", "workers.moved.since", "resolve"])
def test_a_job_is_done_whatever_function_it_names(harness: Harness, path: str) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    id_ = f"resolve-{game}-{decision}-100"
    data = zlib.compress(json.dumps([path, None, [game, decision], {}]).encode())
    harness.redis.hset(f"rq:job:{id_}", "data", data)
    for member, value in (("status", "queued"), ("origin", "annals-turns"), ("description", "resolve")):
        harness.redis.hset(f"rq:job:{id_}", member, value)
    harness.redis.rpush("rq:queue:annals-turns", id_)
    assert harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


def test_no_module_is_named(harness: Harness) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    (key,) = harness.redis.keys("rq:job:resolve-*")
    data, description = harness.redis.hmget(key, "data", "description")
    assert isinstance(data, bytes)
    assert json.loads(zlib.decompress(data)) == ["resolve", None, [game, decision], {}]
    assert description == b"resolve"

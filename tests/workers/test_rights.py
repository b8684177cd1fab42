"""The rights that the service needs in a Redis, as the runbook has them: with these everything works, and no more."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError

from deploy.runtime import embedded_redis
from tests.valkey import Server, new_server
from tests.workers.conftest import Harness
from tests.workers.halting import Pump, meanwhile, until
from workers import log_throttle
from workers.change_listener import ChangeListener
from workers.job_calls import BATCH, TURNS
from workers.signals import Signals

RUNBOOK = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
RULE = re.compile(r"^    (user annals on .*(?:\n      .*)*)", re.MULTILINE)


@pytest.fixture
def guarded(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Server, str]]:
    """A server with the runbook's user, and the address for that one; without the rights that are named."""
    (rule,) = RULE.findall(RUNBOOK.read_text())
    rights = [right for right in rule.split() if right not in getattr(request, "param", ())]
    file = tmp_path / "users.acl"
    file.write_text(" ".join(rights).replace(">PASSWORD", ">secret") + "\nuser default on nopass ~* &* +@all\n")
    with new_server("--aclfile", str(file), "--enable-debug-command", "yes") as server:
        yield server, server.url.replace("unix://", "unix://annals:secret@")


def denied(server: Server) -> list[str]:
    """What the user has asked for in vain."""
    with Redis.from_url(server.url) as admin:
        return [f"{each['reason']}: {each['object']}" for each in admin.acl_log()]


def test_the_whole_chain_works(harness: Harness, guarded: tuple[Server, str]) -> None:
    server, url = guarded
    told: set[str] = set()
    ChangeListener(lambda: Signals(url)).listen(told.update)
    pump, game = Pump(harness, url), harness.game()
    harness.submit(game, 0, 1, 2)
    id_ = harness.ask("audit", game)
    pump.pumping.run_once()
    assert pump.queues.count_workers() == {TURNS: 0, BATCH: 0}
    meanwhile(harness, url, lambda: until(lambda: harness.kinds(game)[-1] == "resolved"))
    meanwhile(harness, url, lambda: until(lambda: not harness.context.job_requests.list_open()), BATCH)
    errand = harness.context.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is not None
    pump.pumping.run_once()
    until(lambda: game in told)
    assert pump.queues.job_state(f"resolve-{game}-0-2", harness.context.clock()) == ""
    pump.signals.notify_changed(game)
    assert pump.signals.is_up()
    assert embedded_redis.is_alive(url)
    assert set(denied(server)) <= {"command: client|list"}, "the library asks for its own address, and can do without"


@pytest.mark.parametrize("guarded", [(), ("+lpos",)], indirect=True)
def test_long_work_that_waits_keeps_no_turns_from_the_queue(harness: Harness, guarded: tuple[Server, str]) -> None:
    """Also with the rights of before: only what a worker has taken and not begun is not done at once then."""
    _, url = guarded
    pump, game = Pump(harness, url), harness.game()
    harness.ask("rebuild")
    assert [pump.reconciler.pass_once() for _ in range(2)] == [1, 0]
    harness.submit(game, 0, 1, 2)
    harness.pumping.catch_up()
    assert [pump.reconciler.pass_once() for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("guarded", [("+blmove",)], indirect=True)
def test_a_right_that_is_missing_is_told_in_a_sentence(
    harness: Harness, guarded: tuple[Server, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And now and then, however often it is missed."""
    monkeypatch.setattr(log_throttle, "PAUSE_SECONDS", 3600.0)
    server, url = guarded
    meanwhile(harness, url, lambda: until(lambda: len(denied(server)) and _times(server) > 2))
    told = [record for record in caplog.records if record.name == "rq.worker" and record.levelno >= logging.ERROR]
    assert len(told) == 1
    assert "NoPermissionError" in caplog.text
    assert "Traceback" not in caplog.text


def _times(server: Server) -> int:
    with Redis.from_url(server.url) as admin:
        return sum(int(each["count"]) for each in admin.acl_log())


def test_a_redis_that_is_full_is_told_now_and_then(
    harness: Harness, guarded: tuple[Server, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_throttle, "PAUSE_SECONDS", 3600.0)
    server, url = guarded
    with Redis.from_url(server.url) as admin:
        admin.config_set("maxmemory-policy", "noeviction")
        admin.config_set("maxmemory", 1)

        def refused() -> int:
            return int(admin.info("errorstats").get("errorstat_OOM", {}).get("count", 0))

        meanwhile(harness, url, lambda: until(lambda: refused() > 3))
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 1, caplog.text


def test_what_a_killed_worker_left_is_swept(harness: Harness, guarded: tuple[Server, str]) -> None:
    """Its name, the job that it was at, and one that it had taken and not begun."""
    server, url = guarded
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    id_ = f"resolve-{game}-{decision}-1"
    with Redis.from_url(server.url) as admin:
        admin.sadd(f"rq:workers:{TURNS}", "rq:worker:dead")
        admin.zadd(f"rq:wip:{TURNS}", {f"{id_}:0123": 1})
        admin.rpush(f"rq:queue:{TURNS}:intermediate", id_)

        def swept() -> bool:
            return not admin.zcard(f"rq:wip:{TURNS}") and b"rq:worker:dead" not in admin.smembers(f"rq:workers:{TURNS}")

        meanwhile(harness, url, lambda: until(swept))
    assert set(denied(server)) <= {"command: client|list"}


@pytest.mark.parametrize(
    "command",
    [
        "CONFIG GET *",
        "CONFIG SET dir /tmp",
        "FLUSHALL",
        "FLUSHDB",
        "KEYS *",
        "SCAN 0",
        "EVAL return 0",
        "SCRIPT FLUSH",
        "FUNCTION LIST",
        "DEBUG SLEEP 0",
        "SHUTDOWN NOSAVE",
        "MONITOR",
        "CLIENT LIST",
        "CLIENT KILL TYPE normal",
        "ACL LIST",
        "ACL SETUSER annals +@all",
        "SAVE",
        "BGREWRITEAOF",
        "REPLICAOF 127.0.0.1 1",
        "MODULE LIST",
        "MIGRATE 127.0.0.1 1 rq:queues 0 1",
        "GET other",
        "HSET other a b",
        "DEL other",
        "PUBLISH other x",
        "SUBSCRIBE other",
        "PSUBSCRIBE *",
    ],
)
def test_nothing_else_may_be_done(guarded: tuple[Server, str], command: str) -> None:
    with Redis.from_url(guarded[1]) as client, pytest.raises(NoPermissionError):
        client.execute_command(*command.split())

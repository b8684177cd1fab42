"""What `annals doctor` finds of several machines, each with what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import psycopg
import pytest
from redis import RedisError
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import ResponseError

from deploy.cli import cluster_checks
from deploy.cli.cluster_checks import CheckError, check_pooler, check_redis, check_replication, check_version
from deploy.runtime import embedded_redis
from domain.ledger import Ledger, socket_timeouts
from domain.ledger.socket_timeouts import TimeoutConnection, set_session
from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]


def services(**more: Any) -> Any:
    settings = {"sqlite": False, "signing": "confirmed", "redis_url": "redis://host"}
    return SimpleNamespace(settings=SimpleNamespace(**settings | more.pop("settings", {})), **more)


class TestReplication:
    @staticmethod
    def said(timeline: int, confirmed: int, standbys: int, signing: str = "confirmed") -> str:
        ledger = SimpleNamespace(execute=lambda *_: [(timeline, confirmed, standbys)], replication_query="")
        return check_replication(services(ledger=ledger, settings={"signing": signing}))

    def test_a_synchronous_standby_is_well(self) -> None:
        assert self.said(1, 1, 1) == "a synchronous standby confirms each commit"

    def test_a_server_alone_is_well(self) -> None:
        assert self.said(1, 0, 0) == "no standby: the server is alone"
        assert check_replication(services(settings={"sqlite": True})) == "one machine"

    @pytest.mark.parametrize(
        ("signing", "consequence"), [("confirmed", "no checkpoint is signed"), ("always", "may contradict checkpoints")]
    )
    def test_an_asynchronous_one_is_told_with_what_follows(self, signing: str, consequence: str) -> None:
        with pytest.raises(CheckError, match=rf"{consequence}.*`synchronous_mode`"):
            self.said(1, 0, 1, signing)


class TestPooler:
    @pytest.mark.parametrize(("mode", "said"), [("", "none"), ("transaction", "one keeps transactions together")])
    def test_one_that_keeps_transactions_is_well(self, mode: str, said: str) -> None:
        assert check_pooler(services(ledger=SimpleNamespace(admin=SimpleNamespace(find_pooler=lambda: mode)))) == said

    def test_one_that_breaks_them_is_told(self) -> None:
        ledger = SimpleNamespace(admin=SimpleNamespace(find_pooler=lambda: "statement"))
        with pytest.raises(CheckError, match=r"`pool_mode` to `transaction`"):
            check_pooler(services(ledger=ledger))

    def test_without_one_statements_are_prepared(self, postgres_url: str) -> None:
        assert Ledger.open(postgres_url).admin.find_pooler() == ""
        with TimeoutConnection.connect(postgres_url) as connection:
            set_session(connection)
            assert connection.prepare_threshold == 5

    def test_through_one_they_are_not(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its clients are told other numbers of processes than the server's."""
        monkeypatch.setattr(socket_timeouts, "is_pooled", lambda *_: True)
        with TimeoutConnection[psycopg.rows.TupleRow].connect(postgres_url) as connection:
            set_session(connection)
            connection.execute("SELECT 1", prepare=True)
            assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


class TestRedis:
    @staticmethod
    def said(monkeypatch: pytest.MonkeyPatch, memory: dict[str, Any] | RedisError | None) -> str:
        def info(_: str) -> dict[str, Any]:
            if isinstance(memory, RedisError):
                raise memory
            return memory or {}

        monkeypatch.setattr(embedded_redis, "is_up", lambda _: memory is not None)
        monkeypatch.setattr(cluster_checks, "connect", lambda _: SimpleNamespace(info=info, close=lambda: None))
        return check_redis(services())

    @pytest.mark.parametrize(
        "memory",
        [
            {"maxmemory_policy": "noeviction", "maxmemory": 1 << 20},
            {"maxmemory_policy": "allkeys-lru", "maxmemory": 0},
            RedisError("no right to ask"),
        ],
    )
    def test_one_that_drops_nothing_is_well(self, monkeypatch: pytest.MonkeyPatch, memory: Any) -> None:
        assert self.said(monkeypatch, memory) == "answers"

    def test_one_that_drops_keys_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(CheckError, match=r"allkeys-lru.*`maxmemory-policy noeviction`"):
            self.said(monkeypatch, {"maxmemory_policy": "allkeys-lru", "maxmemory": 1 << 20})

    def test_one_that_is_away_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(CheckError, match=r"does not answer"):
            self.said(monkeypatch, None)


class TestSentinels:
    WELL: ClassVar[dict[str, Any]] = {"num-slaves": 2, "num-other-sentinels": 2}

    @staticmethod
    def said(monkeypatch: pytest.MonkeyPatch, *states: dict[str, Any] | RedisError) -> str:
        """Of a service with these Sentinels."""

        def connect(url: str) -> Any:
            def ask(_: str) -> Any:
                state = states[int(url[-1])]
                if isinstance(state, RedisError):
                    raise state
                return state

            return SimpleNamespace(info=lambda _: {}, sentinel_master=ask, close=lambda: None)

        monkeypatch.setattr(embedded_redis, "is_up", lambda _: True)
        monkeypatch.setattr(cluster_checks, "connect", connect)
        hosts = ",".join(f"host:{26000 + n}" for n in range(len(states)))
        return check_redis(services(settings={"redis_url": f"redis+sentinel://{hosts}/annals"}))

    def test_three_with_replicas_are_well(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.said(monkeypatch, *[self.WELL] * 3) == "answers, with 3 Sentinels and 2 replicas"
        assert self.said(monkeypatch, self.WELL | {"num-slaves": 1}) == "answers, with 3 Sentinels and 1 replica"

    @pytest.mark.parametrize(
        ("other", "why"),
        [
            (LostConnection(), r"1 of 2 Sentinels do not answer"),
            (ResponseError("No such master with that name"), r"know no `annals`.*`sentinel monitor`"),
            (WELL | {"num-slaves": 0}, r"no replica"),
            (WELL | {"num-other-sentinels": 1}, r"has 2 Sentinels.*at least three"),
        ],
    )
    def test_those_that_could_not_help_are_told(self, monkeypatch: pytest.MonkeyPatch, other: Any, why: str) -> None:
        with pytest.raises(CheckError, match=why):
            self.said(monkeypatch, self.WELL, other)


def test_views_of_another_version_are_told() -> None:
    here = SimpleNamespace(is_current=lambda: True, count_other_versions=lambda: 0)
    assert check_version(services(views=here)) == "the tables are those of this version"
    here.count_other_versions = lambda: 1
    assert "other versions at work: 1" in check_version(services(views=here))
    with pytest.raises(CheckError, match=r"another version of the service than this node: update"):
        check_version(services(views=SimpleNamespace(is_current=lambda: False)))

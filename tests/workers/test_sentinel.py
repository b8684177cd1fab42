"""Addresses with Sentinels, and connections to the master that they name."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as LostConnection

from deploy.config.settings import SettingsError, load_settings
from deploy.runtime.logging_setup import redact
from tests.valkey import Server, new_server
from workers.queues import Queues
from workers.redis_address import parse_sentinel_url
from workers.sentinel import MasterConnection, MasterPool, MasterTLSConnection, connect_master
from workers.signals import Signals, connect
from workers.worker import _throttled_library_log

SERVICE = "redis+sentinel://one,two/annals"


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "service", "sentinels", "server"),
        [
            (SERVICE, "annals", ["redis://one:26379", "redis://two:26379"], "redis://sentinels/"),
            (
                "REDIS+SENTINEL://one:1,[::1]:2/a%2Fb/3",
                "a/b",
                ["redis://one:1", "redis://[::1]:2"],
                "redis://sentinels/3",
            ),
            (
                "rediss+sentinel://u:p%40@one/annals/0?ssl_ca_certs=/a&sentinel_username=s&sentinel_password=q%2F&protocol=2",
                "annals",
                ["rediss://s:q%2F@one:26379?ssl_ca_certs=%2Fa"],
                "rediss://u:p%40@sentinels/0?ssl_ca_certs=%2Fa&protocol=2",
            ),
            (
                "redis+sentinel://u@one/annals?passfile=/p&sentinel_username=s&sentinel_passfile=/q",
                "annals",
                ["redis://s@one:26379?passfile=%2Fq"],
                "redis://u@sentinels/?passfile=%2Fp",
            ),
        ],
    )
    def test_it_names_servers_and_sentinels(self, url: str, service: str, sentinels: list[str], server: str) -> None:
        found = parse_sentinel_url(url)
        assert found is not None
        assert (found.service, found.sentinel_urls, found.server_url) == (service, sentinels, server)
        assert "p%40" not in repr(found)
        assert load_settings({}, {"ANNALS_REDIS_URL": url}).redis_url == url

    @pytest.mark.parametrize("url", ["redis://host", "rediss://a:b@host/0", "unix:///run/socket", ""])
    def test_others_name_none(self, url: str) -> None:
        assert parse_sentinel_url(url) is None

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("redis+sentinel://hidden", "name of the service is missing"),
            ("redis+sentinel://:hidden@one,two", "name of the service is missing"),
            ("redis+sentinel:///hidden", "HOST or HOST:PORT"),
            ("redis+sentinel://one,,two/hidden", "HOST or HOST:PORT"),
            ("redis+sentinel://one:hidden/annals", "HOST or HOST:PORT"),
            ("redis+sentinel://:hidden@one:0/annals", "HOST or HOST:PORT"),
            ("redis+sentinel://one:70000/hidden", "HOST or HOST:PORT"),
            ("redis+sentinel://one two/hidden", "HOST or HOST:PORT"),
            ("redis+sentinel://one/annals/hidden", "number of a database"),
            ("redis+sentinel://one/annals/1/hidden", "number of a database"),
            ("redis+sentinel://one/annals?sentinel_hidden=1", "options of Sentinels are"),
            ("sentinel://one/hidden", "redis://, rediss://, unix:// or redis"),
            ("redis://:hidden@one,two/0", "several hosts are those of Sentinels"),
        ],
    )
    def test_one_that_is_wrong_is_refused_without_its_text(self, url: str, why: str) -> None:
        with pytest.raises(SettingsError, match=f"ANNALS_REDIS_URL.*{why}") as refused:
            load_settings({}, {"ANNALS_REDIS_URL": url})
        assert "hidden" not in str(refused.value)

    def test_passwords_of_sentinels_are_not_logged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        url = "redis+sentinel://u:first@one/annals?sentinel_password=second&db=1"
        assert redact(f"{url} is wrong") == "redis+sentinel://...@one/annals?sentinel_password=... is wrong"
        monkeypatch.setenv("ANNALS_REDIS_URL", url)
        assert redact("first, second") == "..., ..."

    def test_tls_is_that_of_servers_and_sentinels(self, tmp_path: Path) -> None:
        env = {"ANNALS_STORES": "verified", "ANNALS_STORES_CA": str(tmp_path / "ca")}
        (tmp_path / "ca").touch()
        asked = {"ANNALS_DATABASE_URL": "postgresql://u@host/name", "ANNALS_REDIS_URL": f"{SERVICE}?db=1"}
        with pytest.raises(SettingsError, match=r"rediss\+sentinel"):
            load_settings({}, env | asked)
        url = load_settings({}, env | asked | {"ANNALS_REDIS_URL": "rediss+sentinel://one,[::1]:2/annals"}).redis_url
        with closing(connect(url)) as client:
            assert isinstance(client.connection_pool, MasterPool)
            assert client.connection_pool.connection_class is MasterTLSConnection
            sentinels = client.connection_pool.sentinel_manager.sentinels
            for each in (client, *sentinels):
                asked = each.connection_pool.connection_kwargs
                assert (asked["ssl_cert_reqs"], asked["ssl_ca_certs"]) == ("required", str(tmp_path / "ca"))
            assert [s.connection_pool.connection_kwargs["host"] for s in sentinels] == ["one", "::1"]

    def test_each_has_a_password_of_its_own(self, tmp_path: Path) -> None:
        for name in ("of-servers", "of-sentinels"):
            (tmp_path / name).write_text(name)
        files = f"passfile={tmp_path}/of-servers&sentinel_passfile={tmp_path}/of-sentinels"
        with closing(connect(f"redis+sentinel://u@one/annals?{files}&sentinel_username=s")) as client:
            assert isinstance(client.connection_pool, MasterPool)
            (sentinel,) = client.connection_pool.sentinel_manager.sentinels
            for each, name, word in ((client, "u", "of-servers"), (sentinel, "s", "of-sentinels")):
                assert each.connection_pool.connection_kwargs["credential_provider"].get_credentials() == (name, word)


# --- a master ---------------------------------------------------------------------------------------------------


class Watching:
    """Stands in for a Sentinel: it names the master."""

    def __init__(self) -> None:
        self.port = 0
        self.connection_pool = SimpleNamespace(disconnect=lambda: None)

    def sentinel_masters(self) -> dict[str, Any]:
        if not self.port:
            raise LostConnection
        well = {"is_master": True, "is_sdown": False, "is_odown": False, "num-other-sentinels": 2}
        return {"annals": {"ip": "127.0.0.1", "port": self.port, **well}}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def masters() -> Iterator[tuple[tuple[Server, int], tuple[Server, int]]]:
    """Two servers, and their ports."""
    ports = free_port(), free_port()
    with new_server("--port", str(ports[0])) as one, new_server("--port", str(ports[1])) as two:
        yield (one, ports[0]), (two, ports[1])


@pytest.fixture
def sentinel(monkeypatch: pytest.MonkeyPatch, masters: tuple[tuple[Server, int], ...]) -> Watching:
    """The Sentinel of whoever connects from now on: it names the first server."""
    found = Watching()
    found.port = masters[0][1]

    def connect_watched(address: Any, _: object, options: Any) -> Redis:
        return connect_master(address, [found], options)  # type: ignore[list-item]

    monkeypatch.setattr("workers.signals.connect_master", connect_watched)
    return found


class _Told(Exception):
    pass


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """The block is broken off by a signal, as a worker's wait is."""

    def tell(_: int, __: FrameType | None) -> None:
        raise _Told

    before = signal.signal(signal.SIGALRM, tell)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(_Told):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_wait_that_is_broken_off_takes_no_job(sentinel: Watching, masters: tuple[tuple[Server, int], ...]) -> None:
    """With the library's own connection the server gives the next job to a worker that has ended."""
    assert sentinel.port
    with closing(connect(SERVICE, 5)) as worker, closing(connect(masters[0][0].url)) as other:
        other.flushall()
        with interrupted(0.05):
            worker.blmove("queue", "taken", 5)
        other.rpush("queue", "job")
        assert (other.lrange("queue", 0, -1), other.lrange("taken", 0, -1)) == ([b"job"], [])
        assert worker.ping() is True, "nor is its answer that of the next command"


@contextmanager
def demoted(server: Server) -> Iterator[None]:
    """It follows a server that never answers."""
    with closing(connect(server.url, 2)) as client:
        client.replicaof("127.0.0.1", "1")
        try:
            yield
        finally:
            client.replicaof("NO", "ONE")


def test_signals_follow_the_master(sentinel: Watching, masters: tuple[tuple[Server, int], ...]) -> None:
    (one, _), (two, second) = masters
    with closing(Signals(SERVICE)) as signals, closing(Signals(two.url)) as listening:
        listening.wait_appended(1)
        assert signals.is_up()
        signals.notify_appended(1)
        assert not listening.wait_appended(0.05)
        sentinel.port = second
        with demoted(one), closing(connect(one.url)) as old:
            old.client_kill_filter(skipme=True, _type="normal")  # as a Sentinel does
            signals.notify_appended(2)
            assert listening.wait_appended(5)
            assert signals.is_up()


def test_without_a_master_redis_is_away(sentinel: Watching) -> None:
    sentinel.port = 0
    with closing(Signals(SERVICE)) as signals:
        assert not signals.is_up()
    with closing(connect(SERVICE)) as client, pytest.raises(LostConnection) as away:
        client.ping()
    assert str(away.value) == "no Sentinel names a master of annals"


def test_a_master_that_was_demoted_takes_nothing(sentinel: Watching, masters: tuple[tuple[Server, int], ...]) -> None:
    (one, _), (_, second) = masters
    with closing(connect(SERVICE)) as client:
        assert client.set("rq:annals:x", 1)
        sentinel.port = second
        with demoted(one):
            with pytest.raises(LostConnection):
                client.set("rq:annals:x", 2)
            assert client.set("rq:annals:x", 3), "a new connection is one to the new master"


def test_jobs_are_enqueued_at_the_master(sentinel: Watching) -> None:
    assert sentinel.port
    queues = Queues(SERVICE)
    assert queues.count_workers() == {"annals-turns": 0, "annals-batch": 0}
    queues.close()


def test_closing_closes_connections_to_sentinels() -> None:
    closed = list[int]()
    url = parse_sentinel_url(SERVICE)
    assert url is not None
    sentinels: Any = [SimpleNamespace(connection_pool=SimpleNamespace(disconnect=lambda: closed.append(1)))] * 2
    client = connect_master(url, sentinels, {})
    assert isinstance(client.connection_pool, MasterPool)
    assert client.connection_pool.connection_class is MasterConnection
    client.connection_pool.disconnect(inuse_connections=False)
    assert closed == []
    client.close()
    assert len(closed) == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("redis.exceptions.ConnectionError: gone", "job j: exception redis.exceptions.ConnectionError: gone"),
        ("ValueError: wrong", "job j: exception\nTraceback\n  some line\nValueError: wrong\n"),
    ],
)
def test_a_redis_lost_amid_a_job_is_one_line_of_the_log(
    error: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with _throttled_library_log():
        logging.getLogger("rq.worker").error("job %s: exception\n%s", "j", f"Traceback\n  some line\n{error}\n")
    assert caplog.messages == [said]

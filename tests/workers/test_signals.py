"""The signal: it saves waiting, and nothing depends on it."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import pytest
from redis import Redis

from tests.valkey import new_server, redis_url, valkey_server
from workers import signals
from workers.batching_delay import SIGNAL_INTERVAL
from workers.change_listener import ChangeListener
from workers.queues import Queues
from workers.signals import ProjectedMessage, Signals

__all__ = ["redis_url", "valkey_server"]

NOBODY = "unix:///nowhere/socket"


@pytest.fixture
def two(redis_url: str) -> Iterator[tuple[Signals, Signals]]:
    """One rings, the other listens already."""
    ringing, listening = Signals(redis_url), Signals(redis_url)
    yield ringing, listening
    ringing.close()
    listening.close()


@contextmanager
def soon(call: Callable[..., object], *args: object) -> Iterator[None]:
    """Another thread calls it in a moment; over when that thread is."""
    other = threading.Timer(0.1, call, args)
    other.start()
    yield
    other.join()


def test_a_connection_reads_no_metadata_of_the_library(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a fiftieth of a second each time, and in a forked process a megabyte."""
    monkeypatch.setattr("redis.utils.get_lib_version", lambda: pytest.fail("metadata are read"))
    with closing(signals.connect(redis_url)) as client:
        signals.ping(client)


def test_redis_that_takes_nothing_is_not_up_and_rings_all_same(two: tuple[Signals, Signals], redis_url: str) -> None:
    ringing, listening = two
    listening.wait_appended(5)
    assert ringing.is_up()
    with Redis.from_url(redis_url) as client:
        before = client.config_get("maxmemory*")
        try:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", 1)
            assert not ringing.is_up()
            ringing.notify_appended(7)
            assert listening.wait_appended(5)
        finally:
            for name in ("maxmemory-policy", "maxmemory"):
                client.config_set(name, before[name])
    assert ringing.is_up()


@pytest.fixture
def black_hole() -> Iterator[str]:
    """The address of a listener that takes no connection: its queue is full."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = deaf.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        yield f"redis://127.0.0.1:{address[1]}"
        for each in waiting:
            each.close()


def until(what: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in that time."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


def took(seconds: float, call: Callable[..., object], *args: object) -> bool:
    """Whether the call came back within that time."""
    began = time.monotonic()
    call(*args)
    return time.monotonic() - began < seconds


def test_who_waits_is_woken_by_a_ring(two: tuple[Signals, Signals]) -> None:
    ringing, listening = two
    listening.wait_appended(5)
    with soon(ringing.notify_appended, 7):
        assert took(5, listening.wait_appended, 10)


def test_many_rings_are_answered_by_one_look(two: tuple[Signals, Signals]) -> None:
    ringing, listening = two
    listening.wait_appended(5)
    for position in range(100):
        ringing.notify_appended(position)
    time.sleep(0.1)
    assert took(5, listening.wait_appended, 10)
    assert not took(0.2, listening.wait_appended, 0.3)


class Slow(Signals):
    """Rings as slowly as it is let."""

    def __init__(self) -> None:
        super().__init__(NOBODY)
        self.rung: list[int] = []
        self.began, self.gate = threading.Semaphore(0), threading.Semaphore(0)

    def notify_appended(self, position: int) -> None:
        self.rung.append(position)
        self.began.release()
        assert self.gate.acquire(timeout=10)


class TestRinger:
    def test_nobody_waits_and_one_ring_tells_of_all_who_came(self) -> None:
        """Nobody is left out: whatever was rung for, a ring begins later than that."""
        slow = Slow()
        ringer = signals.SignalThread(slow)
        for position in (1, 2, 9, 3):
            assert took(1, ringer.notify_appended, position)
            if position == 1:
                assert slow.began.acquire(timeout=10)
        slow.gate.release()
        assert slow.began.acquire(timeout=10)
        slow.gate.release()
        assert not slow.began.acquire(timeout=0.2), "nobody came since"
        assert slow.rung == [1, 9]

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_whatever_ends_the_thread_the_next_one_rings(self) -> None:
        class Ends(Slow):
            def notify_appended(self, position: int) -> None:
                super().notify_appended(position)
                raise SystemExit

        slow = Ends()
        ringer = signals.SignalThread(slow)
        for position in (1, 2):
            slow.gate.release()
            ringer.notify_appended(position)
            assert slow.began.acquire(timeout=10)
            assert until(lambda: not ringer._is_running(), 10)
        assert slow.rung == [1, 2]

    def test_a_forked_process_rings_with_a_thread_of_its_own(self) -> None:
        slow = Slow()
        ringer = signals.SignalThread(slow)
        ringer.notify_appended(1)
        assert slow.began.acquire(timeout=10)
        child = os.fork()
        if not child:
            slow.began, slow.gate = threading.Semaphore(0), threading.Semaphore(1)
            ringer.notify_appended(2)
            os._exit(0 if slow.began.acquire(timeout=10) and slow.rung == [1, 2] else 1)
        assert os.waitpid(child, 0)[1] == 0
        slow.gate.release()

    def test_where_no_thread_can_be_begun_whoever_writes_rings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        slow = Slow()
        ringer = signals.SignalThread(slow)

        def none(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", none)
            slow.gate.release()
            ringer.notify_appended(1)
        assert slow.rung == [1]
        slow.gate.release()
        ringer.notify_appended(2)
        assert slow.began.acquire(timeout=10)
        assert until(lambda: slow.rung == [1, 2], 10), "with a thread again"

    def test_where_many_come_rings_are_kept_apart_and_last_is_told(self) -> None:
        open_ = Slow()
        open_.gate = threading.Semaphore(10**6)
        ringer, began, position = signals.SignalThread(open_), time.monotonic(), 0
        while time.monotonic() < began + 0.5:
            ringer.notify_appended(position := position + 1)
        most = (time.monotonic() - began) / SIGNAL_INTERVAL
        assert len(open_.rung) < most + 10 < position
        assert until(lambda: open_.rung[-1] == position, 10)

    def test_it_is_heard(self, two: tuple[Signals, Signals]) -> None:
        ringing, listening = two
        listening.wait_appended(5)
        signals.SignalThread(ringing).notify_appended(7)
        assert took(5, listening.wait_appended, 10)


def test_an_announcement_names_position_and_games_and_no_more(two: tuple[Signals, Signals]) -> None:
    ringing, listening = two
    listening.wait_projected(5)
    ringing.notify_projected(9, ["b", "a", "b"])
    assert listening.wait_projected(5) == ProjectedMessage(9, frozenset("ab"))


def test_a_crowd_of_games_is_announced_without_names(two: tuple[Signals, Signals]) -> None:
    ringing, listening = two
    listening.wait_projected(5)
    ringing.notify_projected(9, [str(n) for n in range(signals.MAX_GAMES + 1)])
    assert listening.wait_projected(5) == ProjectedMessage(9)


def test_a_redis_that_was_started_anew_hears_the_very_next_ring() -> None:
    """A connection is kept for ringing; that its other end has gone is found out when it is used."""
    with new_server() as server, closing(Signals(server.url)) as ringing:
        ringing.notify_appended(1)
        server.stop()
        server.start()
        with closing(Signals(server.url)) as listening:
            assert not listening.wait_appended(5)  # it listens from now on
            ringing.notify_appended(2)
            assert listening.wait_appended(5)


MANY = 120
"""More connections than the library's pool makes."""


def test_however_often_it_is_cut_off_the_next_ring_is_heard(two: tuple[Signals, Signals], redis_url: str) -> None:
    ringing, listening = two
    assert not listening.wait_appended(5)  # it listens from now on
    with Redis.from_url(redis_url) as anybody:
        for position in range(MANY):
            ringing.notify_appended(position)
            assert listening.wait_appended(5)
            anybody.client_kill_filter(_type="normal", skipme=True)
    ringing.notify_appended(MANY)
    assert listening.wait_appended(5)
    assert ringing.is_up()


def test_however_long_redis_was_away_it_is_rung_when_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "RETRY_SECONDS", 0.0)
    with new_server() as server, closing(Signals(server.url)) as ringing:
        server.stop()
        for position in range(MANY):
            ringing.notify_appended(position)
        server.start()
        with closing(Signals(server.url)) as listening:
            assert not listening.wait_appended(5)
            ringing.notify_appended(MANY)
            assert listening.wait_appended(5)
        assert ringing.is_up()


def test_a_forked_process_rings_over_a_connection_of_its_own(two: tuple[Signals, Signals]) -> None:
    signals, other = two
    signals.notify_appended(1)
    assert not other.wait_appended(5)
    child = os.fork()
    if not child:
        signals.notify_appended(2)
        signals.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert other.wait_appended(5)
    for position in range(3, 6):
        signals.notify_appended(position)
        assert other.wait_appended(5)
    assert signals.is_up()


def test_a_forked_process_listens_over_a_connection_of_its_own(two: tuple[Signals, Signals]) -> None:
    """What it hears the parent hears too."""
    ringing, listening = two
    assert not listening.wait_appended(5)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        listening.wait_appended(5)
        os.write(write, b"x")
        heard = listening.wait_appended(10)
        listening.close()
        os._exit(0 if heard else 1)
    assert os.read(read, 1) == b"x"
    ringing.notify_appended(1)
    assert os.waitpid(child, 0)[1] == 0
    assert listening.wait_appended(5)
    os.close(read)
    os.close(write)


def test_without_redis_ringing_costs_next_to_nothing() -> None:
    alone = Signals(NOBODY)
    began = time.monotonic()
    for position in range(100):
        alone.notify_appended(position)
    assert time.monotonic() - began < 5


def test_without_redis_nobody_sleeps_for_long() -> None:
    alone = Signals(NOBODY)
    began = time.monotonic()
    for _ in range(20):
        alone.wait_appended(10)
    assert time.monotonic() - began < 10
    assert alone.is_deaf


def test_a_redis_that_comes_back_is_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "RETRY_SECONDS", 0.05)
    with new_server() as server:
        ringing, listening = Signals(server.url), Signals(server.url)
        listening.wait_projected(5)
        server.stop()
        ringing.notify_projected(1, ["a"])
        assert listening.wait_projected(0.2) is None
        server.start()
        end = time.monotonic() + 10
        heard = None
        while heard is None and time.monotonic() < end:
            heard = listening.wait_projected(0.05)
            ringing.notify_projected(2, ["a"])
        assert heard == ProjectedMessage(2, frozenset("a"))
        ringing.close()
        listening.close()


class Heard:
    """What a process is told of."""

    def __init__(self, make: Callable[[], Signals]) -> None:
        self.told: queue.Queue[frozenset[str]] = queue.Queue()
        ChangeListener(make).listen(self.told.put)

    def of(self, game: str, seconds: float = 5) -> bool:
        """Whether it is told of that game by its name in that time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with suppress(queue.Empty):
                if game in self.told.get(timeout=left):
                    return True
        return False


@pytest.fixture
def heard(redis_url: str) -> Heard:
    """Its listener ends with the process."""
    made, ringing = Heard(lambda: Signals(redis_url)), Signals(redis_url)
    while not made.of("warm", 0.1):
        ringing.notify_projected(0, ["warm"])
    ringing.close()
    return made


def test_who_listens_is_told_which_games_have_changed(heard: Heard, redis_url: str) -> None:
    ringing = Signals(redis_url)
    ringing.notify_projected(1, ["b"])
    ringing.notify_changed("a")
    assert heard.of("b")
    assert heard.of("a")
    ringing.close()


def test_without_redis_everybody_looks_now_and_then() -> None:
    alone = Heard(lambda: Signals(NOBODY))
    assert alone.told.get(timeout=20) == alone.told.get(timeout=20) == frozenset()


def test_unheard_announcements_are_looked_for(heard: Heard) -> None:
    while heard.told.get(timeout=20):  # what was announced before may have been so twice
        pass


# --- what anybody may say ----------------------------------------------------------------------------------------

FOREIGN = [
    b"",
    b"not JSON",
    b"\xff\xfe\x00",
    b"null",
    b"7",
    b'"annals"',
    b"[]",
    b"{}",
    b"[" * 10_000,
    b'{"position": 1}',
    b'{"position": "1", "games": []}',
    b'{"position": true, "games": []}',
    b'{"position": 1.5, "games": []}',
    b'{"position": 1e999, "games": []}',
    b'{"position": ' + b"9" * 5000 + b', "games": []}',
    b'{"position": 1, "games": null}',
    b'{"position": 1, "games": "abc"}',
    b'{"position": 1, "games": [1]}',
    b'{"position": 1, "games": [["a"]]}',
    b'{"position": 1, "games": [{}]}',
    b'{"position": 1, "games": ["' + b"a" * 65 + b'"]}',
    b'{"position": 1, "games": [' + b",".join([b'"a"'] * 201) + b"]}",
    b'{"position": 1, "games": [], "more": "' + b"x" * 20_000 + b'"}',
    b"x" * 3_000_000,
]


def test_no_announcement_is_nothing_and_the_next_is_heard(two: tuple[Signals, Signals], redis_url: str) -> None:
    ringing, listening = two
    listening.wait_projected(5)
    with Redis.from_url(redis_url) as anybody:
        for message in FOREIGN:
            anybody.publish(signals.PROJECTED_CHANNEL, message)
    ringing.notify_projected(9, ["a"])
    heard = [listening.wait_projected(1) for _ in range(len(FOREIGN) + 1)]
    assert [h for h in heard if h] == [ProjectedMessage(9, frozenset("a"))]


def test_who_waits_for_a_ring_takes_anything_for_one(two: tuple[Signals, Signals], redis_url: str) -> None:
    listening = two[1]
    listening.wait_appended(5)
    with Redis.from_url(redis_url) as anybody:
        for message in FOREIGN:
            anybody.publish(signals.APPENDED_CHANNEL, message)
            assert listening.wait_appended(5)


def test_the_listening_thread_outlives_what_is_no_announcement(heard: Heard, redis_url: str) -> None:
    ringing = Signals(redis_url)
    with Redis.from_url(redis_url) as anybody:
        for message in FOREIGN:
            anybody.publish(signals.PROJECTED_CHANNEL, message)
    ringing.notify_projected(2, ["a"])
    assert heard.of("a")
    ringing.close()


def test_a_bell_that_breaks_is_followed_by_another(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    made = [object(), Signals(redis_url)]
    heard, ringing = Heard(lambda: made.pop(0)), Signals(redis_url)  # type: ignore[arg-type, return-value]
    while not heard.of("a", 0.1):
        ringing.notify_projected(2, ["a"])
    ringing.close()
    assert "listening begins anew" in caplog.text


def test_crowd_that_never_stops_ringing_lets_others_look(
    two: tuple[Signals, Signals], redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = two[1]
    listening.wait_appended(5)
    monkeypatch.setattr(listening, "_receive", lambda *_: b"0")
    assert took(5, listening.wait_appended, 10)


# --- a server that answers nobody --------------------------------------------------------------------------------


def test_halted_server_costs_who_rings_its_patience_once_second() -> None:
    with new_server() as server:
        ringing = Signals(server.url)
        assert ringing.is_up()
        server.freeze()
        began = time.monotonic()
        for position in range(1000):
            ringing.notify_appended(position)
            ringing.notify_changed("a")
            assert not ringing.is_up()
        assert time.monotonic() - began < 20 * signals.TIMEOUT
        server.thaw()
        assert until(ringing.is_up, 5)
        ringing.close()


def test_of_many_threads_one_waits_for_a_halted_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with new_server() as server, ThreadPoolExecutor(8) as threads:
        ringing, asked = Signals(server.url), list[str]()
        say = ringing._send_command

        def counted(*command: str) -> None:
            asked.append(command[-1])
            say(*command)

        monkeypatch.setattr(ringing, "_send_command", counted)
        server.freeze()
        ringing.notify_appended(0)
        assert asked == ["0"]
        time.sleep(signals.RETRY_SECONDS)
        list(threads.map(ringing.notify_appended, range(8)))
        assert len(asked) == 2
        server.thaw()
        ringing.close()


def test_an_address_where_nobody_answers_costs_no_more(black_hole: str) -> None:
    alone = Signals(black_hole)
    began = time.monotonic()
    for position in range(1000):
        alone.notify_appended(position)
        alone.is_up()
    assert time.monotonic() - began < 20 * signals.TIMEOUT


def test_who_hears_nothing_for_long_asks_to_be_told_again(
    two: tuple[Signals, Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other end of a connection may be gone without a word."""
    ringing, listening = two
    listening.wait_projected(5)
    gone = listening._subscription
    with monkeypatch.context() as patch:
        patch.setattr(signals, "RESUBSCRIBE_SECONDS", 0.0)
        listening.wait_projected(0.2)
    assert listening.is_deaf
    listening.wait_projected(5)
    assert listening._subscription not in (None, gone)
    ringing.notify_projected(3, ["a"])
    assert listening.wait_projected(5) == ProjectedMessage(3, frozenset("a"))


@pytest.mark.parametrize("where", ["halted", "nobody answers"])
def test_nor_does_asking_how_a_job_stands(where: str, black_hole: str) -> None:
    with new_server() as server:
        queues = Queues(server.url if where == "halted" else black_hole)
        server.freeze()
        began = time.monotonic()
        assert {queues.job_state(f"audit-{n}", 0) for n in range(1000)} == {""}
        assert time.monotonic() - began < 20 * signals.TIMEOUT
        queues.close()

"""The doorbell: it saves waiting, and nothing depends on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.valkey import new_server, redis_url, valkey_server
from workers import bell
from workers.bell import Bell, Pumped
from workers.changes import Changes

__all__ = ["redis_url", "valkey_server"]

NOBODY = "unix:///nowhere/socket"


@pytest.fixture
def two(redis_url: str) -> Iterator[tuple[Bell, Bell]]:
    """One rings, the other listens already."""
    ringing, listening = Bell(redis_url), Bell(redis_url)
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


def took(seconds: float, call: Callable[..., object], *args: object) -> bool:
    """Whether the call came back within that time."""
    began = time.monotonic()
    call(*args)
    return time.monotonic() - began < seconds


def test_who_waits_is_woken_by_a_ring(two: tuple[Bell, Bell]) -> None:
    ringing, listening = two
    listening.wait(0.1)
    with soon(ringing.ring, 7):
        assert took(5, listening.wait, 10)


def test_many_rings_are_answered_by_one_look(two: tuple[Bell, Bell]) -> None:
    ringing, listening = two
    listening.wait(0.1)
    for position in range(100):
        ringing.ring(position)
    time.sleep(0.1)
    assert took(5, listening.wait, 10)
    assert not took(0.2, listening.wait, 0.3)


def test_an_announcement_names_position_and_games_and_no_more(two: tuple[Bell, Bell]) -> None:
    ringing, listening = two
    listening.pumped(0.1)
    ringing.announce(9, ["b", "a", "b"])
    assert listening.pumped(5) == Pumped(9, frozenset("ab"))


def test_a_crowd_of_games_is_announced_without_names(two: tuple[Bell, Bell]) -> None:
    ringing, listening = two
    listening.pumped(0.1)
    ringing.announce(9, [str(n) for n in range(bell.MOST_GAMES + 1)])
    assert listening.pumped(5) == Pumped(9)


def test_without_redis_ringing_costs_next_to_nothing() -> None:
    alone = Bell(NOBODY)
    assert took(1, alone.ring, 1)
    for position in range(100):
        assert took(0.1, alone.ring, position)


def test_without_redis_nobody_sleeps_for_long() -> None:
    alone = Bell(NOBODY)
    for _ in range(5):
        assert took(0.5, alone.wait, 10)
    assert alone.deaf


def test_a_redis_that_comes_back_is_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "SILENCE", 0.05)
    with new_server() as server:
        ringing, listening = Bell(server.url), Bell(server.url)
        listening.pumped(0.1)
        server.stop()
        ringing.announce(1, ["a"])
        assert listening.pumped(0.2) is None
        server.start()
        end = time.monotonic() + 10
        heard = None
        while heard is None and time.monotonic() < end:
            heard = listening.pumped(0.05)
            ringing.announce(2, ["a"])
        assert heard == Pumped(2, frozenset("a"))
        ringing.close()
        listening.close()


@pytest.fixture
def changes(redis_url: str) -> Changes:
    """Waiting threads of a process; its listener ends with the process."""
    made = Changes(lambda: Bell(redis_url))
    made.wait("warm", 1)
    time.sleep(0.2)
    return made


def test_the_first_wait_ends_at_once(changes: Changes) -> None:
    assert took(0.5, changes.wait, "a", 10)


def test_who_waits_for_a_game_is_woken_by_its_news_alone(changes: Changes, redis_url: str) -> None:
    ringing = Bell(redis_url)
    changes.wait("a", 0)
    ringing.announce(1, ["b"])
    assert not took(0.3, changes.wait, "a", 0.4)
    with soon(ringing.announce, 2, ["a"]):
        assert took(1, changes.wait, "a", 10)
    ringing.close()


def test_news_between_reading_and_waiting_is_not_missed(changes: Changes, redis_url: str) -> None:
    ringing = Bell(redis_url)
    changes.wait("a", 0)
    ringing.announce(1, ["a"])
    time.sleep(0.2)
    assert took(0.2, changes.wait, "a", 10)
    ringing.close()


def test_without_redis_everybody_looks_now_and_then() -> None:
    alone = Changes(lambda: Bell(NOBODY))
    alone.wait("a", 0)
    assert took(2, alone.wait, "a", 10)

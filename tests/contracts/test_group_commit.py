"""Group commit: who comes while a commit is under way is served by the next one, with everybody else who came."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest

from domain.errors import StoreUnavailable
from domain.ledger.group_commit import MOST_WORKS, GroupCommit, _PendingWork

PATIENCE = 20.0


@dataclass
class Book:
    """What was committed, one list for each commit; the gate holds up those that have begun."""

    commits: list[list[str]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    broken: Callable[[list[str]], bool] = lambda _: False

    @contextmanager
    def transaction(self, _: int) -> Iterator[list[str]]:
        page: list[str] = []
        self.begun.release()
        assert self.gate.wait(PATIENCE)
        yield page
        if self.broken(page):
            raise OSError("the disk is full")
        self.commits.append(page)


class RefusedError(Exception):
    pass


def write(word: str) -> Callable[[list[str]], str]:
    def work(page: list[str]) -> str:
        if word.startswith("refused"):
            raise RefusedError(word)
        page.append(word)
        if word.startswith("fault"):
            raise ZeroDivisionError(word)
        return word.upper()

    return work


def crowd(
    book: Book, words: list[str], patience: float = PATIENCE, lost: tuple[type[Exception], ...] = ()
) -> list[Future[str]]:
    """One writer whose commit is held up, and all the others, who have come meanwhile."""
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), patience, lost)
    pool = ThreadPoolExecutor(len(words))
    found = [pool.submit(together.run, write(words[0]))]
    assert book.begun.acquire(timeout=PATIENCE)
    for n, word in enumerate(words[1:], 1):
        found.append(pool.submit(together.run, write(word)))
        while len(together._waiting) < n and not found[-1].done():  # or it has waited for too long already
            pass
    pool.shutdown(wait=False)
    return found


def results(found: list[Future[str]]) -> list[object]:
    return [future.exception(PATIENCE) or future.result() for future in found]


def test_who_comes_meanwhile_is_committed_together_and_in_order() -> None:
    book = Book()
    found = crowd(book, ["a", "b", "c", "d"])
    book.gate.set()
    assert results(found) == ["A", "B", "C", "D"]
    assert book.commits == [["a"], ["b", "c", "d"]]


def test_nobody_is_answered_before_the_commit() -> None:
    book = Book()
    found = crowd(book, ["a", "b"])
    assert [future.done() for future in found] == [False, False]
    book.gate.set()
    assert results(found) == ["A", "B"]


def test_nobody_waits_for_company() -> None:
    book = Book()
    book.gate.set()
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), PATIENCE)
    assert [together.run(write(word)) for word in "abc"] == ["A", "B", "C"]
    assert book.commits == [["a"], ["b"], ["c"]]


def test_a_crowd_is_committed_in_parts() -> None:
    book = Book()
    words = [str(n) for n in range(MOST_WORKS + 3)]
    found = crowd(book, words)
    book.gate.set()
    assert results(found) == words
    assert [len(page) for page in book.commits] == [1, MOST_WORKS, 2]


def test_one_that_is_refused_harms_nobody() -> None:
    book = Book()
    found = crowd(book, ["a", "b", "refused", "c"])
    book.gate.set()
    a, b, refused, c = results(found)
    assert [a, b, c] == ["A", "B", "C"]
    assert isinstance(refused, RefusedError)
    assert book.commits == [["a"], ["b", "c"]]


def test_one_that_fails_harms_nobody() -> None:
    """What stood beside it is done anew, each alone."""
    book = Book()
    found = crowd(book, ["a", "b", "fault", "refused", "c"])
    book.gate.set()
    a, b, fault, refused, c = results(found)
    assert [a, b, c] == ["A", "B", "C"]
    assert isinstance(fault, ZeroDivisionError)
    assert isinstance(refused, RefusedError)
    assert [page for page in book.commits if page] == [["a"], ["b"], ["c"]]


def test_a_commit_that_fails_is_told_to_all_of_it() -> None:
    book = Book(broken=lambda page: "b" in page or "c" in page)
    found = crowd(book, ["a", "b", "c"])
    book.gate.set()
    a, *others = results(found)
    assert a == "A"
    assert [type(each) for each in others] == [OSError, OSError]
    assert book.commits == [["a"]]


def test_after_unknown_commit_nothing_is_done_anew() -> None:
    book = Book(broken=lambda page: "b" in page)
    found = crowd(book, ["a", "b", "c"], lost=(OSError,))
    book.gate.set()
    a, *others = results(found)
    assert a == "A"
    assert [type(each) for each in others] == [OSError, OSError]
    assert book.commits == [["a"]]


def test_a_writer_that_dies_takes_nobody_along() -> None:
    class Ended(BaseException):
        pass

    book = Book()

    def die(_: list[str]) -> str:
        raise Ended

    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), PATIENCE)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(together.run, write("a"))
        assert book.begun.acquire(timeout=PATIENCE)
        dying = pool.submit(together.run, die)
        while not together._waiting:
            pass
        beside = pool.submit(together.run, write("b"))
        while len(together._waiting) < 2:
            pass
        book.gate.set()
        assert first.result(PATIENCE) == "A"
        assert isinstance(dying.exception(PATIENCE), Ended)
        assert isinstance(beside.exception(PATIENCE), StoreUnavailable)
        assert together.run(write("c")) == "C"
    assert book.commits == [["a"], ["c"]]


class TimeoutFromOutsideError(BaseException):
    """What a job that takes too long gets, wherever it stands."""


def interrupted(together: GroupCommit[list[str], str], after: int) -> bool:
    """Whether a work was ended from outside when it had gone so many lines through the group commit.

    Not between a lock, a `try` and what they guard: there the interpreter lets nothing come in.
    """
    seen = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        name = frame.f_code.co_filename
        if name != sys.modules[GroupCommit.__module__].__file__:
            return None
        if event == "line" and not linecache.getline(name, frame.f_lineno).strip().startswith(("with", "try")):
            seen += 1
            if seen == after:
                raise TimeoutFromOutsideError
        return trace

    sys.settrace(trace)
    try:
        together.run(write(f"interrupted {after}"))
    except TimeoutFromOutsideError:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("beside", [False, True])
def test_a_time_out_from_outside_may_come_anywhere(*, beside: bool) -> None:
    """Who is served with it or comes after it is not held up; what was ended is written once or not at all."""
    book = Book()
    book.gate.set()
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), patience=0.25)
    after, missed = 1, 0
    with ThreadPoolExecutor(1) as pool:
        while True:
            other = pool.submit(together.run, write(f"beside {after}")) if beside else None
            ended = interrupted(together, after)
            missed += other is not None and other.exception(PATIENCE) is not None
            assert together.run(write(f"after {after}")) == f"AFTER {after}"
            if not ended:
                break
            after += 1
    assert after > 25
    written = [word for page in book.commits for word in page]
    assert len(set(written)) == len(written)
    assert len([word for word in written if word.startswith("beside")]) >= (after - missed if beside else 0)
    assert len([word for word in written if word.startswith("after")]) == after


def test_who_waits_too_long_gives_up_and_is_not_written_later() -> None:
    book = Book()
    first, *others = crowd(book, ["a", "b", "c"], patience=0.05)
    for each in others:
        assert isinstance(each.exception(PATIENCE), StoreUnavailable)
    book.gate.set()
    assert first.result(PATIENCE) == "A"
    assert book.commits == [["a"]]


def test_who_leads_out_of_turn_is_of_its_own_commit() -> None:
    """Who should have led is not there any more, and of those who wait one far behind finds that first."""
    book = Book()
    book.gate.set()
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), patience=0.25)
    together._waiting = [_PendingWork(write(str(n))) for n in range(MOST_WORKS)]
    together._leader, *_, last = together._waiting
    assert together.run(write("late")) == "LATE"
    assert book.commits == [["late", *map(str, range(MOST_WORKS - 1))]]
    assert together._waiting == [last]
    assert last.turn.is_set()


def test_who_was_served_before_it_led_makes_no_commit() -> None:
    book = Book()
    book.gate.set()
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), PATIENCE)
    first, late = entries = [_PendingWork(write("first")), _PendingWork(write("late"))]
    together._waiting, together._leader = [*entries], first
    together._lead_commit(first)
    together._waiting = [_PendingWork(write("other"))]
    together._lead_commit(late)
    assert late.result() == "LATE"
    assert book.commits == [["first", "late"]]


@pytest.mark.parametrize("threads", [2, 16])
def test_all_that_many_threads_write_is_there_once(threads: int) -> None:
    book = Book()
    book.gate.set()
    together: GroupCommit[list[str], str] = GroupCommit(book.transaction, (RefusedError,), PATIENCE)
    words = [f"{n}" for n in range(2_000)]
    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(lambda word: together.run(write(word)), words)) == words
    assert sorted(word for page in book.commits for word in page) == sorted(words)
    assert not together._leader

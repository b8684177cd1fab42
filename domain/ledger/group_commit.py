"""Group commit: threads that write during a commit share the next one, and its flush to disk.

A thread that finds no commit in progress commits at once. Later threads wait, and the first of them makes the next
commit for all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from domain.errors import StoreUnavailable

C = TypeVar("C")
"""The context of a work within a transaction."""
T = TypeVar("T")

MOST_WORKS = 64
"""Works of one commit at most."""


_NEVER = float("inf")
"""Start time without a commit in progress."""


@dataclass(eq=False)
class _PendingWork(Generic[C, T]):
    """A work that waits for its commit."""

    work: Callable[[C], T]
    turn: threading.Event = field(default_factory=threading.Event)
    """Set once the work is done, or is to lead the next commit."""
    done: bool = False
    """True once result or error are final."""
    results: list[T] = field(default_factory=list)
    error: Exception | None = None

    def attempt(self, c: C, refusals: tuple[type[Exception], ...]) -> None:
        """Do the work and keep its result or refusal; raise any other error."""
        try:
            self.results[:] = [self.work(c)]
        except refusals as error:
            self.error = error

    def result(self) -> T:
        if not self.done:
            raise StoreUnavailable("the writer before this one has ended")
        if self.error is not None:
            raise self.error
        return self.results[0]


class GroupCommit(Generic[C, T]):
    """Runs works of several threads in as few transactions as possible.

    `transaction` takes the number of works, and commits or rolls back at its end. A work that raises one of the
    `refusals` must have written nothing; the others are committed. After any other error the transaction is rolled
    back, and each work is repeated in a transaction of its own, except after an error of `lost`: then the result is
    unknown.
    """

    def __init__(
        self,
        transaction: Callable[[int], AbstractContextManager[C]],
        refusals: tuple[type[Exception], ...],
        patience: float,
        lost: tuple[type[Exception], ...] = (),
    ) -> None:
        """Create the group; `patience` is the time (s) after which a waiting work is given up."""
        self._transaction, self._refusals, self._patience, self._lost = transaction, refusals, patience, lost
        self._guard = threading.Lock()
        self._committing = threading.Lock()
        self._since = _NEVER
        self._waiting: list[_PendingWork[C, T]] = []
        self._leader: _PendingWork[C, T] | None = None
        """The work that makes the current commit, or is called to make the next; without one nobody waits.

        It is a hint. A thread that is killed (a job over its time limit) stays the leader forever, so a thread that has
        waited long checks the leader's lock.
        """

    def seconds_busy(self) -> float:
        """Return the duration of the commit in progress, in seconds, or 0."""
        return max(time.monotonic() - self._since, 0.0)

    def run(self, work: Callable[[C], T]) -> T:
        """Return the result of a work after its commit; raise its error, or StoreUnavailable."""
        entry = _PendingWork(work)
        try:
            with self._guard:
                self._waiting.append(entry)
                self._leader = self._leader or entry
            if self._leader is entry or self._wait_for_turn(entry):
                self._lead_commit(entry)
            return entry.result()
        finally:
            self._pass_lead(entry)

    def _wait_for_turn(self, entry: _PendingWork[C, T]) -> bool:
        """Wait until the work is done (return False) or is to lead the next commit (return True)."""
        while not entry.turn.wait(self._patience):
            with self._guard:
                waits, nobody = entry in self._waiting, not self._committing.locked()
                if waits and nobody:
                    self._leader = entry
                    return True
                if waits:
                    self._waiting.remove(entry)
                    raise StoreUnavailable("the writers before this one take too long")
                if nobody and not entry.turn.is_set():
                    raise StoreUnavailable("the writer before this one has ended")
        return not entry.done

    def _lead_commit(self, mine: _PendingWork[C, T]) -> None:
        """Commit a batch that always includes this work: after a long wait it may lead out of turn."""
        with self._committing:
            with self._guard:
                if mine not in self._waiting:  # another leader took it
                    return
                line = [mine, *(entry for entry in self._waiting if entry is not mine)]
                batch, self._waiting = line[:MOST_WORKS], line[MOST_WORKS:]
            self._since = time.monotonic()
            try:
                self._commit_batch(batch)
            finally:
                self._since = _NEVER
                for entry in batch:
                    if not entry.done:  # its thread was killed
                        entry.done = True
                        entry.error = StoreUnavailable("the writer before this one has ended")
                    entry.turn.set()

    def _pass_lead(self, entry: _PendingWork[C, T]) -> None:
        """Call the next leader, however this work has ended."""
        with self._guard:
            if entry in self._waiting:
                self._waiting.remove(entry)
            if self._leader is entry:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader:
                    self._leader.turn.set()

    def _commit_batch(self, batch: Sequence[_PendingWork[C, T]]) -> None:
        has_begun = False
        try:
            with self._transaction(len(batch)) as c:
                has_begun = True
                for entry in batch:
                    entry.attempt(c, self._refusals)
        except Exception as error:  # noqa: BLE001 - any error is passed to the callers
            if has_begun and len(batch) > 1 and not isinstance(error, self._lost):
                for entry in batch:
                    entry.error = None
                    self._commit_batch([entry])
                return
            for entry in batch:
                entry.error = error
        for entry in batch:
            entry.done = True

"""Group commit: what threads write while a commit is under way is committed as one, so that one flush serves them all.

Nobody waits for company: who finds no commit under way makes one at once. Who comes meanwhile waits, and the first of
those makes the next one for all of them.
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
"""What the work is done with in a transaction."""
T = TypeVar("T")

MOST = 64
"""Works of one commit."""


_NEVER = float("inf")
"""Since when no commit is under way."""


@dataclass(eq=False)
class _Entry(Generic[C, T]):
    """A work on its way."""

    work: Callable[[C], T]
    turn: threading.Event = field(default_factory=threading.Event)
    """Set once it is done, or is to make the next commit."""
    done: bool = False
    """Whether what follows is final."""
    given: list[T] = field(default_factory=list)
    error: Exception | None = None

    def attempt(self, c: C, refusals: tuple[type[Exception], ...]) -> None:
        """Raises all but a refusal."""
        try:
            self.given[:] = [self.work(c)]
        except refusals as error:
            self.error = error

    def result(self) -> T:
        if not self.done:
            raise StoreUnavailable("the writer before this one has ended")
        if self.error is not None:
            raise self.error
        return self.given[0]


class Together(Generic[C, T]):
    """Works of several threads, in as few transactions as it takes.

    `transaction` is told the number of works; it commits at its end, or rolls back. A work that raises one of the
    `refusals` must have written nothing; the others are committed. After any other error nothing of a transaction is
    there, and each is done in one of its own; unless the error is one of `lost`, after which nobody knows.
    """

    def __init__(
        self,
        transaction: Callable[[int], AbstractContextManager[C]],
        refusals: tuple[type[Exception], ...],
        patience: float,
        lost: tuple[type[Exception], ...] = (),
    ) -> None:
        """`patience`: seconds until a work that nobody has begun is given up."""
        self._transaction, self._refusals, self._patience, self._lost = transaction, refusals, patience, lost
        self._guard, self._committing = threading.Lock(), threading.Lock()
        self._since = _NEVER
        self._waiting: list[_Entry[C, T]] = []
        self._leader: _Entry[C, T] | None = None
        """Who makes the commit that is under way, or is called to make the next one; without one nobody waits.

        It is a hint. A thread may be ended from outside wherever it stands (a job that takes too long), and then
        leads for ever; so who has waited long asks the lock that a leader holds.
        """

    def held(self) -> float:
        """Seconds for which the commit under way has been made, 0 for none: so long others wait already."""
        return max(time.monotonic() - self._since, 0.0)

    def do(self, work: Callable[[C], T]) -> T:
        """What the work gives, once it is committed. Raises what it raises, and StoreUnavailable."""
        mine = _Entry(work)
        try:
            with self._guard:
                self._waiting.append(mine)
                self._leader = self._leader or mine
            if self._leader is mine or self._called(mine):
                self._lead(mine)
            return mine.result()
        finally:
            self._leave(mine)

    def _called(self, mine: _Entry[C, T]) -> bool:
        """Waits until it is done, or (then true) is to make the next commit."""
        while not mine.turn.wait(self._patience):
            with self._guard:
                waits, nobody = mine in self._waiting, not self._committing.locked()
                if waits and nobody:
                    self._leader = mine
                    return True
                if waits:
                    self._waiting.remove(mine)
                    raise StoreUnavailable("the writers before this one take too long")
                if nobody and not mine.turn.is_set():
                    raise StoreUnavailable("the writer before this one has ended")
        return not mine.done

    def _lead(self, mine: _Entry[C, T]) -> None:
        """Who has waited long may lead out of turn: wherever it stands, it is of its own commit."""
        with self._committing:
            with self._guard:
                if mine not in self._waiting:  # another one has led meanwhile
                    return
                line = [mine, *(entry for entry in self._waiting if entry is not mine)]
                batch, self._waiting = line[:MOST], line[MOST:]
            self._since = time.monotonic()
            try:
                self._commit(batch)
            finally:
                self._since = _NEVER
                for entry in batch:
                    if not entry.done:  # something has ended the thread that did it
                        entry.done, entry.error = True, StoreUnavailable("the writer before this one has ended")
                    entry.turn.set()

    def _leave(self, mine: _Entry[C, T]) -> None:
        """However it has ended, the next one leads."""
        with self._guard:
            if mine in self._waiting:
                self._waiting.remove(mine)
            if self._leader is mine:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader:
                    self._leader.turn.set()

    def _commit(self, batch: Sequence[_Entry[C, T]]) -> None:
        begun = False
        try:
            with self._transaction(len(batch)) as c:
                begun = True
                for entry in batch:
                    entry.attempt(c, self._refusals)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told to who has asked
            if begun and len(batch) > 1 and not isinstance(error, self._lost):
                for entry in batch:
                    entry.error = None
                    self._commit([entry])
                return
            for entry in batch:
                entry.error = error
        for entry in batch:
            entry.done = True

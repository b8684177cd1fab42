"""Group commit: what threads write while a commit is under way is committed as one, so that one flush serves them all.

Nobody waits for company: who finds no commit under way makes one at once. Who comes meanwhile waits, and the first of
those makes the next one for all of them.
"""

from __future__ import annotations

import threading
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
        self._guard = threading.Lock()
        self._waiting: list[_Entry[C, T]] = []
        self._led = False
        """Whether a commit is under way; if none is, nobody waits."""

    def do(self, work: Callable[[C], T]) -> T:
        """What the work gives, once it is committed. Raises what it raises, and StoreUnavailable."""
        mine = _Entry(work)
        with self._guard:
            self._waiting.append(mine)
            leads, self._led = not self._led, True
        if leads or self._called(mine):
            self._lead()
        return mine.result()

    def _called(self, mine: _Entry[C, T]) -> bool:
        """Waits until it is done, or (then true) is to make the next commit."""
        if not mine.turn.wait(self._patience):
            with self._guard:
                if mine in self._waiting and not mine.turn.is_set():
                    self._waiting.remove(mine)
                    raise StoreUnavailable("the writers before this one take too long")
            mine.turn.wait()  # it is under way, and may be stored
        return not mine.done

    def _lead(self) -> None:
        with self._guard:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        try:
            self._commit(batch)
        finally:
            with self._guard:
                self._led = bool(self._waiting)
                if self._led:
                    self._waiting[0].turn.set()
            for entry in batch:
                if not entry.done:  # something has ended the thread that did it
                    entry.done, entry.error = True, StoreUnavailable("the writer before this one has ended")
                entry.turn.set()

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

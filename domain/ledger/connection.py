"""The connection of a process to the database of the ledger."""

from __future__ import annotations

import ctypes
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eventsourcing.persistence import ConnectionPoolClosedError, PersistenceError

from domain.errors import StoreDamaged, StoreUnavailable
from domain.ledger.store import Store

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, "XX001", "XX002")
"""Error codes of SQLite and PostgreSQL for corrupt pages."""


class StoreConnection:
    """A store that is opened on first use, once in each process; safe with threads and forks."""

    _store: Store | None

    def __init__(self, make: Callable[[], Store]) -> None:
        self._make = make
        self.reset()

    @contextmanager
    def use(self) -> Iterator[Store]:
        """Yield the open store; convert errors of its driver to StoreDamaged or StoreUnavailable."""
        try:
            yield self._store or self.open()
        except (PersistenceError, ConnectionPoolClosedError, sqlite3.Error, OSError) as e:
            raise (StoreDamaged if _is_corruption(e) else StoreUnavailable)(str(e)) from e

    def open(self) -> Store:
        """Return the store, opened if necessary."""
        with self._lock:
            store = self._store = self._store or self._make()
            return store

    def close(self) -> None:
        """Close the store of this process; a later use opens another."""
        if store := self._store:
            self._store = None
            store.close()

    def reset(self) -> None:
        """Forget the store without closing it."""
        self._store = None
        self._lock = threading.Lock()

    def after_fork(self) -> None:
        """Forget the parent's store without using or closing it.

        Closing an inherited connection corrupts SQLite's files, and garbage collection would close it, also in a child
        without any use of the ledger. An extra reference keeps the object until the process ends.
        """
        if self._store:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._store))
        self.reset()


def _is_corruption(error: BaseException | None) -> bool:
    """Return whether a driver's error below the library's errors reports corrupt pages."""
    while error is not None:
        if isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _CORRUPT:
            return True
        if getattr(error, "sqlstate", None) in _CORRUPT:
            return True
        error = error.__cause__
    return False

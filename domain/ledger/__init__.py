"""The ledger: the append-only log of all games, on SQLite or PostgreSQL.

The records of one append and the row of the command that caused them are stored in one transaction. Positions are
handed out by one writer at a time, in the order in which appends become visible: a reader that tails the log and has
seen position n never misses a smaller one.
"""

from __future__ import annotations

import ctypes
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from urllib.parse import unquote, urlsplit
from uuid import UUID

from eventsourcing.persistence import ConnectionPoolClosedError, IntegrityError, PersistenceError

from domain.beside.keys import Keyring
from domain.beside.tables import Execute, Row, Statement
from domain.errors import StaleVersion, StoreUnavailable, UnknownGame, WrongKey
from domain.forks import heed
from domain.kernel.record import Record
from domain.ledger.mapper import Filed, RecordMapper
from domain.ledger.sqlite import SqliteStore
from domain.ledger.store import Command, CommandRow, LogEntry, Receipt, Store

__all__ = ["Command", "CommandRow", "Ledger", "LogEntry", "Receipt"]

log = logging.getLogger("annals.security")


class Ledger:
    """Safe with threads, processes and forks: each process has connections of its own, made when first needed."""

    _made: Store | None

    def __init__(self, make: Callable[[], Store], key: bytes | None = None) -> None:
        self._make = make
        self._keys = Keyring(self, key) if key is not None else None
        self._mapper = RecordMapper(keys=self._keys)
        self._begin()
        heed(self)

    @classmethod
    def open(cls, url: str, key: bytes | None = None) -> Ledger:
        """`sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://...`; connects later, creates nothing.

        With the master key packs rest sealed; without it they are written in plain form, and sealed ones cannot be
        read. `sqlite://` alone is a ledger in memory, for tests. Raises ValueError for any other address.
        """
        parts = urlsplit(url)
        if url == "sqlite://":
            return cls(SqliteStore, key)
        if parts.scheme == "sqlite" and len(parts.path) > 1 and not (parts.netloc or parts.query or parts.fragment):
            return cls(partial(SqliteStore, unquote(parts.path)[1:]), key)
        if parts.scheme in ("postgresql", "postgres"):
            from domain.ledger.postgres import PostgresStore  # noqa: PLC0415 - SQLite's users need no driver

            return cls(partial(PostgresStore, url), key)
        raise ValueError("a ledger's address is sqlite:///path or postgresql://...")

    @property
    def keys(self) -> Keyring:
        """What secrets rest under; raises WrongKey for a ledger that was opened without a key."""
        if self._keys is None:
            raise WrongKey("no master key is given")
        return self._keys

    # --- writing

    def migrate(self) -> None:
        """Create the tables. May be run any number of times, also by several at once."""
        with self._store() as store:
            store.migrate()

    def append(
        self,
        game: str,
        records: Sequence[Record],
        expected: int,
        command: Command | None = None,
        beside: Sequence[Statement] = (),
    ) -> Receipt:
        """Store the records with their command and with rows beside the log, all or nothing; gives the positions.

        A known command stores nothing and gives the first receipt again, marked `replayed`. Raises CommandReused,
        StaleVersion, and StoreUnavailable (after a connection that broke midway only the command id tells what has
        become of it).
        """
        key = _key(game)
        if [r.version for r in records] != list(range(expected + 1, expected + 1 + len(records))) or not records:
            raise ValueError("the records must follow the expected version")
        events = [self._mapper.to_stored_event(Filed(key, r)) for r in records]
        with self._store() as store:
            try:
                return store.append(key, events, expected, command, beside)
            except IntegrityError as e:
                raise StaleVersion(expected, store.version(key)) from e

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """One statement on an ordinary table of the same database, `?` for each parameter; its rows.

        After a broken connection it may be sent again, so it must not matter how often it is done.
        """
        with self._store() as store:
            return store.run(statement, params)

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        """Statements on ordinary tables in one transaction that waits where an append would wait."""
        with self._store() as store:
            store.among_appends(work)

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        """One transaction in which the log may be changed: for restoring and archiving, never for playing.

        Gives what does a statement, `?` for each parameter. What is done and why stands in the table `repairs` from
        the same moment on; after an error nothing of it has happened. On PostgreSQL the role must own the tables or be
        a member of `annals_repair`.
        """
        if not (what and why):
            raise ValueError("a repair says what it does, and why")
        with self._store() as store, store.repair(what, why) as execute:
            yield execute
        log.warning("log_repaired: %s, because %s", what, why)

    def wipe(self) -> None:
        """Let what was deleted be gone from SQLite's files too; it waits for those who read."""
        with self._store() as store:
            store.wipe()

    def guarded(self) -> bool:
        """Whether the database itself refuses to change what was appended."""
        with self._store() as store:
            return store.guarded()

    def grant(self, service: str) -> None:
        """Let the role in that address append and read, and change only what stands beside the log; on SQLite nothing.

        The role, and `annals_repair`, are made if they are missing. To be called by who owns the tables.
        """
        with self._store() as store:
            store.grant(service)

    # --- reading

    def read(self, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        """The records of a game from version `after` + 1 to `upto` (or the newest); none for an unknown game."""
        if (key := _known(game)) is None:
            return []
        with self._store() as store:
            return [self._mapper.record(e) for e in store.select_events(key, gt=after, lte=upto)]

    def version(self, game: str) -> int:
        """The newest version of a game; 0 if it is unknown."""
        if (key := _known(game)) is None:
            return 0
        with self._store() as store:
            return store.version(key)

    def log(self, after: int, limit: int) -> list[LogEntry]:
        """Up to `limit` entries past position `after`, of all games, positions rising."""
        with self._store() as store:
            found = store.select_notifications(after, limit, inclusive_of_start=False)
        return [
            LogEntry(n.id, str(n.originator_id), n.originator_version, partial(self._mapper.record, n)) for n in found
        ]

    def command(self, game: str, id: str) -> CommandRow | None:  # noqa: A002 - the word of the table and of the API
        """The command if it was accepted; kept for ever."""
        if (key := _known(game)) is None:
            return None
        with self._store() as store:
            return store.command(key, id)

    # --- connections

    def close(self) -> None:
        """Close this process' connections; a later use makes new ones."""
        if store := self._made:
            self._made = None
            store.close()

    @contextmanager
    def _store(self) -> Iterator[Store]:
        try:
            yield self._made or self._connect()
        except (PersistenceError, ConnectionPoolClosedError, sqlite3.Error, OSError) as e:
            raise StoreUnavailable(str(e)) from e

    def _connect(self) -> Store:
        with self._lock:
            made = self._made = self._made or self._make()
            return made

    def _begin(self) -> None:
        self._made = None
        self._lock = threading.Lock()

    def after_fork(self) -> None:
        """What the parent has open is neither used nor closed here.

        SQLite's files are corrupted by closing an inherited connection, and closing is what a collected one does, also
        in a child that never uses a ledger: one reference too many keeps it until the process ends.
        """
        if self._made:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._made))
        self._begin()


def _key(game: str) -> UUID:
    """Only the canonical form names a game: draws and seals are made from the text."""
    if (key := _known(game)) is None:
        raise UnknownGame(game)
    return key


def _known(game: str) -> UUID | None:
    try:
        key = UUID(game)
    except ValueError:
        return None
    return key if str(key) == game else None

"""The ledger on SQLite: one file, several processes, one writer at a time."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from uuid import UUID, uuid4

from eventsourcing.persistence import IntegrityError, InterfaceError, Notification, StoredEvent
from eventsourcing.sqlite import (
    SQLiteApplicationRecorder,
    SQLiteConnection,
    SQLiteConnectionPool,
    SQLiteCursor,
    SQLiteDatastore,
)

from domain.errors import CommandReused, GameDamaged, StaleVersion, StoreUnavailable
from domain.ledger import store
from domain.ledger.group_commit import Together
from domain.ledger.sqlite_files import PATIENCE, TRIES, complaints, emptied, make_file, unwiped
from domain.ledger.sqlite_schema import GUARDS, LIFTED, SETTINGS, TABLES, WAL
from domain.ledger.store import EVENTS, NOBODY, Command, CommandRow, Receipt
from domain.service.database import Execute, Row, Statement

_REPAIRED = "INSERT INTO repairs (at, who, what, why) VALUES (?, ?, ?, ?)"

_INSERT = "INSERT INTO records (originator_id, originator_version, topic, state) VALUES (?,?,?,?)"

_HEAD = "SELECT max(originator_version) FROM records WHERE originator_id = ?"

_BEFORE = f"""SELECT ({_HEAD}), (SELECT min(version) FROM damages WHERE game = ?),
  EXISTS (SELECT 1 FROM commands WHERE game = ? AND id = ?)"""  # noqa: S608 - our names

_COMMAND = "SELECT body_hash, first_version, last_version FROM commands WHERE game = ? AND id = ?"

_POSITIONS = """
SELECT rowid FROM records WHERE originator_id = ? AND originator_version BETWEEN ? AND ? ORDER BY originator_version"""

_OVERWRITE = "UPDATE records SET topic = ?, state = ? WHERE originator_id = ? AND originator_version = ? RETURNING 1"

_TAKE = "DELETE FROM records WHERE originator_id = ? AND originator_version = ? AND state = ? RETURNING rowid, topic"

_NAME = "UPDATE records SET originator_id = ?, originator_version = ?, topic = ?, state = ? WHERE rowid = ?"

_PUT_BACK = "INSERT INTO records (rowid, originator_id, originator_version, topic, state) VALUES (?,?,?,?,?)"


def _text(stored: bytes) -> str:
    return stored.decode(errors="replace")


_uuid = functools.lru_cache(4096)(UUID)
"""The records of a game are read together."""


class _Pool(SQLiteConnectionPool):
    def _create_connection(self) -> SQLiteConnection:
        """The library's forgets to close one that cannot be used, and keeps one single statement prepared."""
        try:
            made = sqlite3.connect(
                self.db_name, uri=True, check_same_thread=False, isolation_level=None, timeout=PATIENCE
            )
        except sqlite3.Error as error:
            raise InterfaceError(error) from error
        try:
            for setting in SETTINGS if self.is_sqlite_memory_mode else (WAL, *SETTINGS):
                made.execute(setting)
        except BaseException:
            made.close()
            raise
        made.row_factory = sqlite3.Row
        # Bytes that are no text any more keep nobody from reading the rows around them.
        made.text_factory = _text
        return SQLiteConnection(made, self.max_age)

    # The library closes connections that threads are reading from, which ends the process.

    def put_connection(self, conn: SQLiteConnection) -> None:
        with self._put_condition:
            if self._closed:
                conn.close()
            else:
                super().put_connection(conn)

    def close(self) -> None:
        """Those that are in use are closed by whoever gives them back."""
        with self._put_condition:
            self._in_use.clear()
            super().close()


class _Datastore(SQLiteDatastore):
    """The library's, with transactions that take the write lock at once and always end."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.pool = _Pool(db_name=name, lock_timeout=PATIENCE, pool_size=8, max_overflow=24, pool_timeout=PATIENCE)
        # The pool's own lock for writers stays locked for ever after a connection that could not be made.
        self._writing = threading.Lock()

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        # An in-memory database knows no concurrent reading and writing.
        with self._alone(commit or self.pool.is_sqlite_memory_mode), self.connection() as connection:
            cursor = connection.cursor()
            try:
                # A deferred transaction that reads first can be refused the write lock without any waiting. A thread
                # that is ended from outside while it waits for that lock may have got it.
                cursor.execute("BEGIN IMMEDIATE" if commit else "BEGIN")
                yield cursor
                if commit:
                    connection.commit()
            finally:
                # Does nothing after a commit; after one that failed (disk full) the connection is usable again.
                connection.rollback()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Cursor]:
        """For queries each of which may see a moment of its own: there is no transaction around them.

        The last moment ends when the cursor is closed, which must be before anybody else has the connection.
        """
        with (
            self._alone(self.pool.is_sqlite_memory_mode),
            self.connection() as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    @contextmanager
    def _alone(self, needed: bool) -> Iterator[None]:
        if not needed:
            yield
        elif self._writing.acquire(timeout=PATIENCE):
            try:
                yield
            finally:
                self._writing.release()
        else:
            raise StoreUnavailable("the writers before this one take too long")

    @contextmanager
    def connection(self) -> Iterator[SQLiteConnection]:
        connection = self.pool.get_connection()
        try:
            yield connection
        finally:
            self.pool.put_connection(connection)


class SqliteStore(SQLiteApplicationRecorder):
    """The library's recorder, and the rows of commands in the same transaction.

    Without a path it keeps everything in memory, for tests in one process.
    """

    datastore: _Datastore

    def __init__(self, path: str = "") -> None:
        self._path = Path(path).absolute() if path else None
        # mode=rw: opening a ledger never makes one.
        name = f"{self._path.as_uri()}?mode=rw" if self._path else f"file:{uuid4()}?mode=memory&cache=shared"
        super().__init__(_Datastore(name), EVENTS)
        self.insert_events_statement = _INSERT
        self._together: Together[SQLiteCursor, Receipt] = Together(
            lambda _: self.datastore.transaction(commit=True), store.REFUSALS, PATIENCE
        )

    def construct_create_table_statements(self) -> list[str]:
        return [*TABLES.split(";"), *GUARDS.values()]

    def convert_originator_id(self, originator_id: str) -> UUID:
        """The game of a row; NOBODY where its bytes name none."""
        try:
            return _uuid(originator_id)
        except (ValueError, AttributeError, TypeError):  # other text, or none
            return NOBODY

    def migrate(self) -> None:
        if self._path:
            make_file(self._path)
        self.create_table()
        if self._path and unwiped(self._path).exists():
            self.wipe()

    server = ""

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        command: Command | None,
        beside: Sequence[Statement] = (),
        server: str | None = None,
    ) -> Receipt:
        del server  # a file stays the same as long as it is open

        def work(c: SQLiteCursor) -> Receipt:
            known, damaged, head = _before(c, game, command)
            if command and known:
                if known.body_hash != command.body_hash:
                    raise CommandReused(command.id)
                return Receipt(known.first, known.last, known.positions, replayed=True)
            if damaged is not None:
                raise GameDamaged(str(game), damaged)
            if head != expected:
                raise StaleVersion(expected, head)
            last = expected + len(events)
            if command:
                row_of = (game.hex, command.id, command.body_hash, expected + 1, last)
                c.execute("INSERT INTO commands VALUES (?,?,?,?,?)", row_of)
            positions = tuple(self._insert_events(c, events) or ())
            if beside:
                store.write_beside(c.execute, beside)
            return Receipt(expected + 1, last, positions)

        return self._together.do(work)

    def command(self, game: UUID, command: str) -> CommandRow | None:
        with self.datastore.reading() as c:  # its rows never change
            return _command(c, game, command)

    def version(self, game: UUID) -> int:
        with self.datastore.reading() as c:
            return _head(c, game)

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        reads = statement.startswith("SELECT")
        with self.datastore.reading() if reads else self.datastore.transaction(commit=True) as c:
            c.execute(statement, params)
            return [tuple(row) for row in c.fetchall()]

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> Sequence[StoredEvent]:
        return self.select_events(game, gt=after, lte=upto)

    def notifications(self, after: int, limit: int) -> Sequence[Notification]:
        return self.select_notifications(after, limit, inclusive_of_start=False)

    def position(self, game: UUID, version: int) -> int | None:
        rows = self.run(_POSITIONS.strip(), (game.hex, version, version))
        return rows[0][0] if rows else None

    def put_right(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        for event, position, misnamed in events:
            key = (cast("UUID", event.originator_id).hex, event.originator_version)
            if misnamed:
                execute("REINDEX records", ())  # it may know the row by its name of before
                execute(_NAME, (*key, event.topic, event.state, position))
            elif not execute(_OVERWRITE, (event.topic, event.state, *key)):
                execute(_PUT_BACK, (position, *key, event.topic, event.state))

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        for event, state in events:
            key = (cast("UUID", event.originator_id).hex, event.originator_version)
            # An update to less bytes leaves pages half empty; pages from which a row is taken are joined.
            taken = execute(_TAKE, (*key, event.state))
            if not taken:
                return False
            ((position, topic),) = taken
            execute(_PUT_BACK, (position, *key, topic, state))
        return True

    def complaints(self, patience: float) -> list[str]:
        return complaints(self._path, patience) if self._path else []

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        with self.datastore.transaction(commit=True) as c:
            work(_executing(c))

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        with self.datastore.transaction(commit=True) as c:
            c.execute(_REPAIRED, (time.time_ns() // 1_000_000, f"uid {os.getuid()}", what, why))
            for name in LIFTED:
                c.execute(f"DROP TRIGGER IF EXISTS {name}")
            try:
                yield _executing(c)
            except sqlite3.IntegrityError as error:
                raise IntegrityError(str(error)) from error
            for guard in LIFTED.values():
                c.execute(guard)

    def wipe(self) -> None:
        """The log of the last writes is emptied, in which pages of before stand.

        Whoever waits for readers here holds up all writers. So nobody waits: while somebody reads without end, as the
        running backup does, a file says that it is still to be done.
        """
        with self.datastore.connection() as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA busy_timeout=0")
            try:
                if not any(emptied(cursor.execute, cursor.fetchone) for _ in range(TRIES)):
                    self._unwiped(True)
                    return
            finally:
                cursor.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")
        self._unwiped(False)

    def _unwiped(self, is_so: bool) -> None:
        if self._path is None:
            return
        if is_so:
            unwiped(self._path).touch(0o600)
        else:
            unwiped(self._path).unlink(missing_ok=True)

    def guarded(self) -> bool:
        found = {name for (name,) in self.run("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        return GUARDS.keys() <= found

    def grant(self, service: str) -> None:
        """A file has an owner and no roles."""

    def close(self) -> None:
        self.datastore.close()


def _executing(c: SQLiteCursor) -> Execute:
    def execute(statement: str, params: Sequence[object]) -> list[Row]:
        c.execute(statement, params)
        return [tuple(row) for row in c.fetchall()]

    return execute


def _head(c: SQLiteCursor | sqlite3.Cursor, game: UUID) -> int:
    c.execute(_HEAD, (game.hex,))
    return c.fetchone()[0] or 0


def _before(c: SQLiteCursor, game: UUID, command: Command | None) -> tuple[CommandRow | None, int | None, int]:
    """What an append must know: the command if it was accepted, the version that is damaged, and the newest."""
    c.execute(_BEFORE, (game.hex, str(game), game.hex, command.id if command else None))
    head, damaged, known = c.fetchone()
    return _command(c, game, command.id) if command and known else None, damaged, head or 0


def _command(c: SQLiteCursor | sqlite3.Cursor, game: UUID, command: str) -> CommandRow | None:
    c.execute(_COMMAND, (game.hex, command))
    row = c.fetchone()
    if row is None:
        return None
    body_hash, first, last = row
    c.execute(_POSITIONS, (game.hex, first, last))
    return CommandRow(command, body_hash, first, last, tuple(r[0] for r in c.fetchall()))

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

from domain.errors import GameDamaged, StaleVersion, StoreUnavailable
from domain.ledger import store
from domain.ledger.group_commit import GroupCommit
from domain.ledger.sqlite_files import PATIENCE, TRIES, list_integrity_errors, make_file, scrub_marker, truncate_wal
from domain.ledger.sqlite_schema import GUARDS, LIFTED, SETTINGS, TABLES, WAL
from domain.ledger.store import EVENTS, UNKNOWN_GAME, CommandRow, Receipt
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey

_REPAIRED = "INSERT INTO repairs (at, who, what, why) VALUES (?, ?, ?, ?)"

_INSERT = "INSERT INTO records (originator_id, originator_version, topic, state) VALUES (?,?,?,?)"

_HEAD = "SELECT max(originator_version) FROM records WHERE originator_id = ?"

_HEAD_AND_DAMAGE = f"SELECT ({_HEAD}), (SELECT min(version) FROM damages WHERE game = ?)"  # noqa: S608 - our names

_BEFORE = f"{_HEAD_AND_DAMAGE}, EXISTS (SELECT 1 FROM commands WHERE game = ? AND id = ?)"  # noqa: S608 - likewise

_COMMAND = "SELECT body_hash, first_version, last_version FROM commands WHERE game = ? AND id = ?"

_POSITIONS = """
SELECT rowid FROM records WHERE originator_id = ? AND originator_version BETWEEN ? AND ? ORDER BY originator_version"""

_OVERWRITE = "UPDATE records SET topic = ?, state = ? WHERE originator_id = ? AND originator_version = ? RETURNING 1"

_TAKE = "DELETE FROM records WHERE originator_id = ? AND originator_version = ? AND state = ? RETURNING rowid, topic"

_NAME = "UPDATE records SET originator_id = ?, originator_version = ?, topic = ?, state = ? WHERE rowid = ?"

_OWN_TRIGGERS = {name: " ".join(sql.replace("IF NOT EXISTS ", "").split()) for name, sql in GUARDS.items()}
"""Triggers as SQLite stores their statements."""

_PUT_BACK = "INSERT INTO records (rowid, originator_id, originator_version, topic, state) VALUES (?,?,?,?,?)"


def _decode_text(stored: bytes) -> str:
    return stored.decode(errors="replace")


_uuid = functools.lru_cache(4096)(UUID)
"""Return the UUID of a text, cached: records of one game are read together."""


class _ConnectionPool(SQLiteConnectionPool):
    def _create_connection(self) -> SQLiteConnection:
        """Open a connection. The library's version leaks unusable ones, and caches one prepared statement only."""
        try:
            connection = sqlite3.connect(
                self.db_name, uri=True, check_same_thread=False, isolation_level=None, timeout=PATIENCE
            )
        except sqlite3.Error as error:
            raise InterfaceError(error) from error
        try:
            for setting in SETTINGS if self.is_sqlite_memory_mode else (WAL, *SETTINGS):
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        connection.row_factory = sqlite3.Row
        # Bytes that are not text must not prevent reading of other rows.
        connection.text_factory = _decode_text
        return SQLiteConnection(connection, self.max_age)

    # The library closes connections in use by other threads, which crashes the process.

    def put_connection(self, conn: SQLiteConnection) -> None:
        with self._put_condition:
            if self._closed:
                conn.close()
            else:
                super().put_connection(conn)

    def close(self) -> None:
        """Close the pool; connections in use are closed on their return."""
        with self._put_condition:
            self._in_use.clear()
            super().close()


class _SqliteDatastore(SQLiteDatastore):
    """The library's datastore, with transactions that take the write lock at once and always end."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.pool = _ConnectionPool(
            db_name=name, lock_timeout=PATIENCE, pool_size=8, max_overflow=24, pool_timeout=PATIENCE
        )
        # The pool's own write lock stays locked forever after a failed connection.
        self._writing = threading.Lock()

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        # An in-memory database has no concurrent reads and writes.
        with self._exclusive(commit or self.pool.is_sqlite_memory_mode), self.connection() as connection:
            cursor = connection.cursor()
            try:
                # A deferred transaction that reads first can be refused the write lock without waiting. A killed thread
                # that waited for that lock may have got it.
                cursor.execute("BEGIN IMMEDIATE" if commit else "BEGIN")
                yield cursor
                if commit:
                    connection.commit()
            finally:
                # No effect after a commit; after a failed one (disk full) the connection is usable again.
                connection.rollback()

    @contextmanager
    def read_cursor(self) -> Iterator[sqlite3.Cursor]:
        """Open a cursor for queries without a common transaction: each may see another snapshot.

        Closing the cursor ends the last snapshot, before the connection returns to the pool.
        """
        with (
            self._exclusive(self.pool.is_sqlite_memory_mode),
            self.connection() as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    @contextmanager
    def _exclusive(self, needed: bool) -> Iterator[None]:
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
    """The library's recorder, with the rows of commands in the same transaction.

    Without a path the database is in memory, for tests in one process.
    """

    datastore: _SqliteDatastore
    replication_query = "SELECT 0, 0, 0"

    def __init__(self, path: str = "") -> None:
        self._path = Path(path).absolute() if path else None
        # mode=rw: opening a ledger never creates one.
        name = f"{self._path.as_uri()}?mode=rw" if self._path else f"file:{uuid4()}?mode=memory&cache=shared"
        super().__init__(_SqliteDatastore(name), EVENTS)
        self.insert_events_statement = _INSERT
        self._group_commit: GroupCommit[SQLiteCursor, Receipt] = GroupCommit(
            lambda _: self.datastore.transaction(commit=True), store.REFUSALS, PATIENCE
        )

    def construct_create_table_statements(self) -> list[str]:
        return [*TABLES.split(";"), *GUARDS.values()]

    def convert_originator_id(self, originator_id: str) -> UUID:
        """Return the game of a row, or UNKNOWN_GAME if its bytes are no UUID."""
        try:
            return _uuid(originator_id)
        except (ValueError, AttributeError, TypeError):  # other text, or none
            return UNKNOWN_GAME

    def migrate(self) -> None:
        if self._path:
            make_file(self._path)
        self.create_table()
        if self._path and scrub_marker(self._path).exists():
            self.scrub_deleted_pages()

    log_id = ""

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        idempotency_key: IdempotencyKey | None,
        extra_statements: Sequence[Statement] = (),
        log_id: str | None = None,
    ) -> Receipt:
        del log_id  # a file stays the same while it is open

        def work(c: SQLiteCursor) -> Receipt:
            command, damaged, head = _read_append_state(c, game, idempotency_key)
            if idempotency_key and command:
                idempotency_key.check_hash(command.body_hash)
                return Receipt(command.first, command.last, command.positions, replayed=True)
            if damaged is not None:
                raise GameDamaged(str(game), damaged)
            if head != expected:
                raise StaleVersion(expected, head)
            last = expected + len(events)
            if idempotency_key:
                if idempotency_key.claim:
                    idempotency_key.claim.bind(_make_execute(c))
                row_of = (game.hex, idempotency_key.id, idempotency_key.fingerprint, expected + 1, last)
                c.execute("INSERT INTO commands VALUES (?,?,?,?,?)", row_of)
            positions = tuple(self._insert_events(c, events) or ())
            if extra_statements:
                store.write_extra_statements(c.execute, extra_statements)
            return Receipt(expected + 1, last, positions)

        return self._group_commit.run(work)

    def find_command(self, game: UUID, command: str) -> CommandRow | None:
        with self.datastore.read_cursor() as c:  # its rows never change
            return _find_command(c, game, command)

    def version(self, game: UUID) -> int:
        with self.datastore.read_cursor() as c:
            return _newest_version(c, game)

    def head(self, game: UUID) -> tuple[int, int | None]:
        with self.datastore.read_cursor() as c:
            c.execute(_HEAD_AND_DAMAGE, (game.hex, str(game)))
            version, damaged = c.fetchone()
            return version or 0, damaged

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        reads = statement.startswith("SELECT")
        with self.datastore.read_cursor() if reads else self.datastore.transaction(commit=True) as c:
            c.execute(statement, params)
            return [tuple(row) for row in c.fetchall()]

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> Sequence[StoredEvent]:
        return self.select_events(game, gt=after, lte=upto)

    def notifications(self, after: int, limit: int) -> Sequence[Notification]:
        return self.select_notifications(after, limit, inclusive_of_start=False)

    def position(self, game: UUID, version: int) -> int | None:
        rows = self.run(_POSITIONS.strip(), (game.hex, version, version))
        return rows[0][0] if rows else None

    def restore_records(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        for event, position, misnamed in events:
            key = (cast("UUID", event.originator_id).hex, event.originator_version)
            if misnamed:
                execute("REINDEX records", ())  # the index may hold its old name
                execute(_NAME, (*key, event.topic, event.state, position))
            elif not execute(_OVERWRITE, (event.topic, event.state, *key)):
                execute(_PUT_BACK, (position, *key, event.topic, event.state))

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        for event, state in events:
            key = (cast("UUID", event.originator_id).hex, event.originator_version)
            # Shorter values leave half-empty pages; pages with deleted rows are merged.
            rows = execute(_TAKE, (*key, event.state))
            if not rows:
                return False
            ((position, topic),) = rows
            execute(_PUT_BACK, (position, *key, topic, state))
        return True

    def list_integrity_errors(self, patience: float) -> list[str]:
        return list_integrity_errors(self._path, patience) if self._path else []

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        with self.datastore.transaction(commit=True) as c:
            work(_make_execute(c))

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        with self.datastore.transaction(commit=True) as c:
            c.execute(_REPAIRED, (time.time_ns() // 1_000_000, f"uid {os.getuid()}", what, why))
            for name in LIFTED:
                c.execute(f"DROP TRIGGER IF EXISTS {name}")
            try:
                yield _make_execute(c)
            except sqlite3.IntegrityError as error:
                raise IntegrityError(str(error)) from error
            for guard in LIFTED.values():
                c.execute(guard)

    def scrub_deleted_pages(self) -> None:
        """Empty the write-ahead log, since it holds old pages.

        Waiting for readers here would block all writers, so it does not wait: during a long read, as by the running
        backup, a marker file records that the work is still to be done.
        """
        with self.datastore.connection() as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA busy_timeout=0")
            try:
                if not any(truncate_wal(cursor.execute, cursor.fetchone) for _ in range(TRIES)):
                    self._mark_unscrubbed(True)
                    return
            finally:
                cursor.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")
        self._mark_unscrubbed(False)

    def _mark_unscrubbed(self, is_so: bool) -> None:
        if self._path is None:
            return
        if is_so:
            scrub_marker(self._path).touch(0o600)
        else:
            scrub_marker(self._path).unlink(missing_ok=True)

    def find_pooler(self) -> str:
        return ""

    def has_append_triggers(self) -> bool:
        return set(GUARDS) <= self._read_triggers().keys() - self.list_foreign_triggers()

    def list_foreign_triggers(self) -> list[str]:
        return sorted(name for name, sql in self._read_triggers().items() if sql != _OWN_TRIGGERS.get(name))

    def _read_triggers(self) -> dict[str, str]:
        """Return the statement of each trigger by name, with single spaces."""
        rows = self.run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {str(name): " ".join(str(sql).split()) for name, sql in rows}

    def grant_service_role(self, service: str) -> None:
        """Do nothing: a file has an owner and no roles."""

    def close(self) -> None:
        self.datastore.close()


def _make_execute(c: SQLiteCursor) -> Execute:
    def execute(statement: str, params: Sequence[object]) -> list[Row]:
        c.execute(statement, params)
        return [tuple(row) for row in c.fetchall()]

    return execute


def _newest_version(c: SQLiteCursor | sqlite3.Cursor, game: UUID) -> int:
    c.execute(_HEAD, (game.hex,))
    return c.fetchone()[0] or 0


def _read_append_state(
    c: SQLiteCursor, game: UUID, idempotency_key: IdempotencyKey | None
) -> tuple[CommandRow | None, int | None, int]:
    """Return the accepted command if any, the first corrupt version and the newest version."""
    c.execute(_BEFORE, (game.hex, str(game), game.hex, idempotency_key.id if idempotency_key else None))
    head, damaged, is_known = c.fetchone()
    return _find_command(c, game, idempotency_key.id) if idempotency_key and is_known else None, damaged, head or 0


def _find_command(c: SQLiteCursor | sqlite3.Cursor, game: UUID, command: str) -> CommandRow | None:
    c.execute(_COMMAND, (game.hex, command))
    row = c.fetchone()
    if row is None:
        return None
    body_hash, first, last = row
    c.execute(_POSITIONS, (game.hex, first, last))
    return CommandRow(command, body_hash, first, last, tuple(r[0] for r in c.fetchall()))

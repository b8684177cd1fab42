"""The ledger on PostgreSQL: one function appends, in one round trip, under an advisory lock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import cast
from uuid import UUID

import psycopg
from eventsourcing.persistence import DatabaseError, InterfaceError, Notification, OperationalError, StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from eventsourcing.utils import retry
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row, tuple_row
from psycopg.sql import SQL, Identifier, Literal
from psycopg_pool import PoolTimeout

from domain.errors import GameDamaged, ServerReplaced, StaleVersion, StoreUnavailable
from domain.ledger import roles, store
from domain.ledger.group_commit import GroupCommit
from domain.ledger.postgres_schema import (
    APPEND,
    APPEND_LOCKS,
    CHECK_APPEND,
    FOREIGN_TRIGGERS,
    GUARD,
    GUARDED,
    GUARDS,
    LOCK,
    LOG_ID,
    REFUSE_CHANGES,
    REPLICATION,
    TABLES,
)
from domain.ledger.socket_timeouts import (
    CONNECT_OPTIONS,
    READ_ONLY,
    TimeoutConnection,
    is_pooled,
    set_session,
    set_transaction_timeout,
)
from domain.ledger.store import EVENTS, CommandRow, Receipt
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey

PATIENCE = 5
"""Seconds to wait for a connection, unless the address sets `connect_timeout`."""

GROUP_PATIENCE = 10
"""Seconds to wait for other appends of this process; the function waits as long for other processes."""

IDLE_TIMEOUT = 5.0
"""Seconds of silence within a transaction after which the server ends it: a frozen or lost client would block all
appends of all nodes. Shorter than their patience."""

TRANSACTION_TIMEOUT = 30
"""Seconds after which the server ends a transaction, since PostgreSQL 17: IDLE_TIMEOUT does not notice a client that
froze while sending a statement. Migrations may take longer."""

LOG_ID_LIFETIME = 1.0
"""Seconds for which a log id is trusted."""

LONGEST_COMMIT = 2.0
"""Seconds of a commit for which a waiting client still counts as answered."""


class NotAnsweredError(DatabaseError):
    """The server did not answer in time. Never retried: the caller has waited enough."""


_LOST = (InterfaceError, OperationalError, NotAnsweredError)
"""Errors after which the result of a commit is unknown."""

_UNDONE = ("40001", "40P01", "54")
"""Prefixes of error codes after which the server has certainly rolled back and goes on: serialization failures,
deadlocks, program limits. Lock timeouts are not among them: each single work would wait as long again."""

_CALL = SQL("SELECT * FROM public.annals_append(%s, %s, %s, %s, %s, %s, %s)")

_EVENTS = """
SELECT originator_id, originator_version, topic, state FROM public.records
WHERE originator_id = %s AND originator_version > %s AND originator_version <= %s
ORDER BY originator_version"""

_NOTIFICATIONS = """
SELECT originator_id, originator_version, topic, state, notification_id FROM public.records
WHERE notification_id > %s ORDER BY notification_id LIMIT %s"""

_LAST = 2**63 - 1

_HEAD = "SELECT coalesce(max(originator_version), 0) FROM public.records WHERE originator_id = ?"

_HEAD_AND_DAMAGE = f"SELECT ({_HEAD}), (SELECT min(version) FROM public.damages WHERE game = ?)"  # noqa: S608

_POSITION = "SELECT notification_id FROM public.records WHERE originator_id = ? AND originator_version = ?"

_OVERWRITE = """
UPDATE public.records SET topic = ?, state = ? WHERE originator_id = ? AND originator_version = ? RETURNING 1"""

_REPLACE = """
UPDATE public.records SET state = ? WHERE originator_id = ? AND originator_version = ? AND state = ? RETURNING 1"""

_NAME = """
UPDATE public.records SET originator_id = ?, originator_version = ?, topic = ?, state = ? WHERE notification_id = ?"""

_PUT_BACK = """
INSERT INTO public.records (notification_id, originator_id, originator_version, topic, state)
VALUES (?, ?, ?, ?, ?)"""

_CHECKSUMS = "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database WHERE datname = current_database()"

_COMMAND = """
SELECT c.body_hash, c.first_version, c.last_version, ARRAY(
  SELECT r.notification_id FROM public.records r WHERE r.originator_id = c.game
  AND r.originator_version BETWEEN c.first_version AND c.last_version ORDER BY r.originator_version)
FROM public.commands c WHERE c.game = ? AND c.id = ?"""


@dataclass
class _LogIdCache:
    """The id of the connected log: run of the server, database and table."""

    log_id: str = ""
    is_known: bool = False
    asked_at: float = 0.0
    """Time of the query by the monotonic clock; answers to earlier queries are ignored, however late they arrive."""

    def update(self, log_id: str, asked_at: float) -> None:
        if asked_at >= self.asked_at:
            self.log_id, self.is_known, self.asked_at = log_id, True, asked_at

    def forget(self) -> None:
        self.is_known = False
        self.asked_at = time.monotonic()


class _PostgresDatastore(PostgresDatastore):
    def __init__(self, url: str) -> None:
        self.log_id_cache = _LogIdCache()
        self._lost = 0.0
        """Time of the last lost connection by the monotonic clock."""
        try:
            address = conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # its message quotes the address with its password
            raise StoreUnavailable("the address of the database cannot be read") from None
        patience = float(address.get("connect_timeout") or PATIENCE)
        super().__init__(
            *5 * ("",),
            connect_timeout=patience,
            idle_in_transaction_session_timeout=IDLE_TIMEOUT,
            pool_size=1,
            max_overflow=15,
        )
        self.pool.connection_class = TimeoutConnection[DictRow]
        # The whole address: the library would keep five of its parts, and drop TLS options.
        self.pool.kwargs = {**CONNECT_OPTIONS, **address, "row_factory": dict_row}
        # The pause between attempts doubles; after an early failure the next request starts over.
        self.pool.reconnect_timeout = patience

    def after_connect_func(self) -> Callable[[psycopg.Connection[DictRow]], None]:
        configure, log_id_cache = super().after_connect_func(), self.log_id_cache  # no self: the pool would keep it

        def after_connect(connection: psycopg.Connection[DictRow]) -> None:
            cast("TimeoutConnection[DictRow]", connection).opened_at = time.monotonic()
            configure(connection)
            set_session(connection)
            set_transaction_timeout(connection, TRANSACTION_TIMEOUT)
            asked_at = time.monotonic()
            (server,) = next(connection.cursor(row_factory=tuple_row).execute(LOG_ID))
            log_id_cache.update(server, asked_at)

        return after_connect

    def register_type_adapters(self) -> None:
        """Register nothing: the function takes arrays, no composite types."""

    @contextmanager
    def get_connection(self) -> Iterator[TimeoutConnection[DictRow]]:
        connection: TimeoutConnection[DictRow] | None = None
        try:
            with super().get_connection() as lent:
                connection = cast("TimeoutConnection[DictRow]", lent)
                yield connection
        except (InterfaceError, OperationalError) as e:
            if isinstance(e.__cause__, PoolTimeout):
                # The library would retry ten times, with the same wait each time.
                raise StoreUnavailable("no connection to the server") from e
            self._drain_if_lost(connection)
            if connection is not None and connection.timed_out:
                raise NotAnsweredError(str(e)) from e
            raise
        except DatabaseError as e:
            if connection is None or getattr(e.__cause__, "sqlstate", "") != READ_ONLY:
                raise
            connection.close()  # the pool would lend it for ever: a demoted server goes on answering
            self._drain_if_lost(connection)
            raise StoreUnavailable("the server takes no writes: another one may have taken its place") from e

    def _drain_if_lost(self, connection: TimeoutConnection[DictRow] | None) -> None:
        """Discard the pool after a lost connection: the others are likely lost too, and each would time out."""
        if connection is not None and connection.closed and connection.opened_at > self._lost:
            self._lost = time.monotonic()
            self.pool.drain()

    @contextmanager
    def without_timeout(self) -> Iterator[TimeoutConnection[DictRow]]:
        """Open a connection without timeouts, for long operations."""
        with self.get_connection() as connection:
            before, connection.patience = connection.patience, None
            set_transaction_timeout(connection, 0)
            try:
                yield connection
            finally:
                connection.patience = before
                if not connection.closed:
                    set_transaction_timeout(connection, TRANSACTION_TIMEOUT)


class PostgresStore(PostgresApplicationRecorder):
    """The library's recorder for reading; the function appends."""

    datastore: _PostgresDatastore
    replication_query = REPLICATION

    def __init__(self, url: str) -> None:
        super().__init__(_PostgresDatastore(url), events_table_name=EVENTS)
        guards = [GUARD.format(table=Identifier("public", t), name=Literal(f"public.{t}")) for t in GUARDED]
        self._group_commit: GroupCommit[TimeoutConnection[DictRow], DictRow] = GroupCommit(
            self._append_transaction, (), GROUP_PATIENCE, _LOST
        )
        self.sql_create_statements = [TABLES, APPEND, REFUSE_CHANGES, *guards]

    def migrate(self) -> None:
        # IF NOT EXISTS and OR REPLACE do not separate concurrent callers; the lock does.
        with self.datastore.without_timeout() as connection, connection.transaction(), connection.cursor() as curs:
            curs.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            self._create_table(curs)
        self.datastore.log_id_cache.forget()

    @property
    def log_id(self) -> str:
        cache = self.datastore.log_id_cache
        believed = cache.is_known and time.monotonic() < cache.asked_at + LOG_ID_LIFETIME
        while not believed:  # once, unless tables were created meanwhile
            asked_at = time.monotonic()
            ((server,),) = self._query(LOG_ID, ())
            cache.update(server, asked_at)
            believed = cache.is_known
        return cache.log_id

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        idempotency_key: IdempotencyKey | None,
        extra_statements: Sequence[Statement] = (),
        log_id: str | None = None,
    ) -> Receipt:
        topics, states = [e.topic for e in events], [e.state for e in events]
        key_and_hash = (idempotency_key.id, idempotency_key.fingerprint) if idempotency_key else (None, None)

        row = self._group_commit.run(
            partial(
                _call_append,
                (game, expected, topics, states, *key_and_hash, log_id),
                extra_statements,
                idempotency_key.claim if idempotency_key else None,
            )
        )
        if row["outcome"] == "replaced":
            self.datastore.log_id_cache.update(row["hash"], time.monotonic())
            raise ServerReplaced("the database has been replaced meanwhile")
        if row["outcome"] == "damaged":
            raise GameDamaged(str(game), row["high"])
        if row["outcome"] == "stale":
            raise StaleVersion(expected, row["high"])
        if idempotency_key and row["outcome"] == "known":
            idempotency_key.check_hash(row["hash"])
        return Receipt(row["low"], row["high"], tuple(row["positions"]), replayed=row["outcome"] == "known")

    @contextmanager
    def _append_transaction(self, count: int) -> Iterator[TimeoutConnection[DictRow]]:
        """Open a connection for appends, never retried: after a broken connection the records may be stored.

        A single call is its own transaction, in one round trip.
        """
        try:
            with self.datastore.get_connection() as c, c.transaction() if count > 1 else nullcontext():
                yield c
        except _LOST as error:
            if str(getattr(error.__cause__, "sqlstate", None)).startswith(_UNDONE):
                raise DatabaseError(str(error)) from error
            raise

    def find_command(self, game: UUID, command: str) -> CommandRow | None:
        rows = self.run(_COMMAND, (game, command))
        return next((CommandRow(command, h, first, last, tuple(p)) for h, first, last, p in rows), None)

    def version(self, game: UUID) -> int:
        version: int = self.run(_HEAD, (game,))[0][0]
        return version

    def head(self, game: UUID) -> tuple[int, int | None]:
        ((version, damaged),) = self.run(_HEAD_AND_DAMAGE, (game, str(game)))
        return version, damaged

    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def _query(self, statement: str, params: Sequence[object]) -> list[Row]:
        with self.datastore.get_connection() as connection:
            # Tuples, not dicts: two columns may have the same name.
            cursor = connection.cursor(row_factory=tuple_row)
            cursor.execute(_translate(statement), params, prepare=True)
            return cursor.fetchall() if cursor.description else []

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = self._query(statement, params)
        return rows

    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def _query_binary(self, statement: str, params: Sequence[object]) -> list[Row]:
        """Return rows in binary form: as text a state has twice the size and takes twice as long to read."""
        with self.datastore.get_connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row, binary=True)
            return cursor.execute(statement, params, prepare=True).fetchall()

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> list[StoredEvent]:
        last = _LAST if upto is None else upto
        return [StoredEvent(*row) for row in self._query_binary(_EVENTS, (game, after, last))]

    def notifications(self, after: int, limit: int) -> list[Notification]:
        return [Notification(*row) for row in self._query_binary(_NOTIFICATIONS, (after, limit))]

    def position(self, game: UUID, version: int) -> int | None:
        rows = self.run(_POSITION, (game, version))
        return int(rows[0][0]) if rows else None

    def restore_records(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        for event, position, misnamed in events:
            key = (event.originator_id, event.originator_version)
            if misnamed:
                execute(_NAME, (*key, event.topic, event.state, position))
            elif not execute(_OVERWRITE, (event.topic, event.state, *key)):
                execute(_PUT_BACK, (position, *key, event.topic, event.state))

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        return all(execute(_REPLACE, (s, e.originator_id, e.originator_version, e.state)) for e, s in events)

    def list_integrity_errors(self, patience: float) -> list[str]:
        """Return pages with a wrong checksum, counted by the server since its last reset of statistics."""
        del patience  # no page is read
        ((failed,),) = self.run(_CHECKSUMS)
        return [f"{failed} pages with a wrong checksum"] if failed else []

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        if (
            self._group_commit.seconds_busy() > LONGEST_COMMIT
        ):  # on its own connection it would bypass the wait of all appends
            raise StoreUnavailable("the writers before this one take too long")
        with self.datastore.get_connection() as connection, connection.transaction():
            cursor = connection.cursor(row_factory=tuple_row)
            for statement in APPEND_LOCKS:
                cursor.execute(statement)
            if cursor.execute(CHECK_APPEND, prepare=True).fetchone() != (True,):
                raise StoreUnavailable("the role may not append, or not as this version does: `annals migrate`")
            work(_make_execute(cursor))

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        with self.datastore.without_timeout() as connection, connection.transaction():
            cursor = connection.cursor(row_factory=tuple_row)
            set_transaction_timeout(connection, TRANSACTION_TIMEOUT, "LOCAL")
            for statement in APPEND_LOCKS:
                cursor.execute(statement)
            cursor.execute("INSERT INTO public.repairs (what, why) VALUES (%s, %s)", (what, why))
            yield _make_execute(cursor)

    def scrub_deleted_pages(self) -> None:
        """Do nothing: deleted rows stay in files until the server's VACUUM, scheduled by its owner."""

    def find_pooler(self) -> str:
        with self.datastore.get_connection() as connection:
            row = connection.cursor(row_factory=tuple_row).execute("SELECT pg_backend_pid()").fetchone()
            if row is None or not is_pooled(connection, row[0]):
                return ""
            try:
                with connection.transaction():
                    connection.execute("SELECT 1")
            except psycopg.Error:
                return "statement"
        return "transaction"

    def has_append_triggers(self) -> bool:
        return bool(self.run(GUARDS, (list(GUARDED),))[0][0] == 2 * len(GUARDED))

    def list_foreign_triggers(self) -> list[str]:
        return [str(name) for (name,) in self.run(FOREIGN_TRIGGERS)]

    def grant_service_role(self, service: str) -> None:
        with self.datastore.without_timeout() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            roles.grant(connection, service)

    def close(self) -> None:
        self.datastore.close()


def _call_append(
    params: Sequence[object],
    extra_statements: Sequence[Statement],
    claim: IdempotencyKey | None,
    connection: TimeoutConnection[DictRow],
) -> DictRow:
    """Call the append function, bind the caller's key and run the extra statements; return its row."""
    if not extra_statements and claim is None:
        return next(connection.execute(_CALL, params, prepare=True))
    with connection.transaction():
        row = next(connection.execute(_CALL, params, prepare=True))
        if row["outcome"] == "stored":
            if claim:
                claim.bind(_make_execute(connection.cursor(row_factory=tuple_row)))
            store.write_extra_statements(lambda s, p: connection.execute(_translate(s), p), extra_statements)
    return row


def _make_execute(cursor: psycopg.Cursor[Row]) -> Execute:
    def execute(statement: str, params: Sequence[object]) -> list[Row]:
        cursor.execute(_translate(statement), params)
        return cursor.fetchall() if cursor.description else []

    return execute


def _translate(statement: str) -> str:
    return statement.replace("?", "%s")

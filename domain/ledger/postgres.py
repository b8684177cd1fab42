"""The ledger on PostgreSQL: one function appends, in one round trip and behind an advisory lock."""

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

from domain.errors import CommandReused, GameDamaged, ServerReplaced, StaleVersion, StoreUnavailable
from domain.ledger import roles, store
from domain.ledger.group_commit import Together
from domain.ledger.postgres_schema import (
    AMONG_APPENDS,
    APPEND,
    COULD_APPEND,
    GUARD,
    GUARDED,
    GUARDS,
    LOCK,
    REFUSE,
    SERVER,
    TABLES,
)
from domain.ledger.socket_timeouts import HEARING, IN_PUBLIC, Heard, limit
from domain.ledger.store import EVENTS, Command, CommandRow, Receipt
from domain.service.database import Execute, Row, Statement

PATIENCE = 5
"""Seconds to wait for a connection, unless the address gives `connect_timeout`."""

WAITING = 10
"""Seconds to wait for other appends of this process; the function waits as long for those of others."""

SILENCE = 5.0
"""Seconds without a word within a transaction until the server ends it: who froze in it, or is gone with its machine,
holds what every append of every node waits for. Shorter than they wait."""

LONGEST = 30
"""Seconds of a transaction until the server ends it, from PostgreSQL 17 on: who froze while a statement was on its way
counts as one who speaks. To make tables may take longer."""

ASKED = 1.0
"""Seconds for which it is believed that the log is still the one that it was said to be."""

LATE = 2.0
"""Seconds that a commit may take while who waits for it counts as one who is answered."""


class NotAnsweredError(DatabaseError):
    """An answer was not waited for any longer. Nothing that is tried again by itself: who asks has waited enough."""


_LOST = (InterfaceError, OperationalError, NotAnsweredError)
"""After such an error nobody knows whether a commit has been made."""

_UNDONE = ("40001", "40P01", "54")
"""How the codes of those begin after which it is known: the server has rolled back and goes on. It could not put
transactions in an order, has ended a dead-lock, or something was too large for it. What has waited too long for a lock
is not among them: each alone would wait as long again."""

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
class _There:
    """Which log is there: the run of the server, the database and the table."""

    server: str = ""
    known: bool = False
    asked: float = 0.0
    """When, by the monotonic clock; what was asked before counts no more, however late it is answered."""

    def told(self, server: str, asked: float) -> None:
        if asked >= self.asked:
            self.server, self.known, self.asked = server, True, asked

    def forget(self) -> None:
        self.known, self.asked = False, time.monotonic()


class _Datastore(PostgresDatastore):
    def __init__(self, url: str) -> None:
        self.there = _There()
        self._lost = 0.0
        """When it was found out last, by the monotonic clock, that a connection is lost."""
        try:
            address = conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # its message quotes the address, in which a password stands
            raise StoreUnavailable("the address of the database cannot be read") from None
        patience = float(address.get("connect_timeout") or PATIENCE)
        super().__init__(
            *5 * ("",),
            connect_timeout=patience,
            idle_in_transaction_session_timeout=SILENCE,
            pool_size=1,
            max_overflow=15,
        )
        self.pool.connection_class = Heard[DictRow]
        # The address as it is: the library would keep five of its parts, and drop TLS and the like.
        self.pool.kwargs = {**HEARING, **address, "row_factory": dict_row}
        # The pause between attempts doubles; giving up early lets the next request start anew.
        self.pool.reconnect_timeout = patience

    def after_connect_func(self) -> Callable[[psycopg.Connection[DictRow]], None]:
        connected, there = super().after_connect_func(), self.there  # not itself: the pool would hold it

        def after_connect(connection: psycopg.Connection[DictRow]) -> None:
            cast("Heard[DictRow]", connection).born = time.monotonic()
            connected(connection)
            connection.execute(IN_PUBLIC)
            limit(connection, LONGEST)
            asked = time.monotonic()
            (server,) = next(connection.cursor(row_factory=tuple_row).execute(SERVER))
            there.told(server, asked)

        return after_connect

    def register_type_adapters(self) -> None:
        """Nothing to register: the function takes arrays, no composite types."""

    @contextmanager
    def get_connection(self) -> Iterator[Heard[DictRow]]:
        connection: Heard[DictRow] | None = None
        try:
            with super().get_connection() as found:
                connection = cast("Heard[DictRow]", found)
                yield connection
        except (InterfaceError, OperationalError) as e:
            if isinstance(e.__cause__, PoolTimeout):
                # The library would try ten times more, and each time wait as long.
                raise StoreUnavailable("no connection to the server") from e
            self._replace(connection)
            if connection is not None and connection.silent:
                raise NotAnsweredError(str(e)) from e
            raise

    def _replace(self, connection: Heard[DictRow] | None) -> None:
        """The others of the pool are likely lost as well: none is lent again, or each would be waited for in turn."""
        if connection is not None and connection.closed and connection.born > self._lost:
            self._lost = time.monotonic()
            self.pool.drain()

    @contextmanager
    def patient(self) -> Iterator[Heard[DictRow]]:
        """For what may take long: a connection that waits for ever."""
        with self.get_connection() as connection:
            before, connection.patience = connection.patience, None
            limit(connection, 0)
            try:
                yield connection
            finally:
                connection.patience = before
                if not connection.closed:
                    limit(connection, LONGEST)


class PostgresStore(PostgresApplicationRecorder):
    """The library's recorder for reading; appends go through the function."""

    datastore: _Datastore

    def __init__(self, url: str) -> None:
        super().__init__(_Datastore(url), events_table_name=EVENTS)
        guards = [GUARD.format(table=Identifier("public", t), name=Literal(f"public.{t}")) for t in GUARDED]
        self._together: Together[Heard[DictRow], DictRow] = Together(self._appending, (), WAITING, _LOST)
        self.sql_create_statements = [TABLES, APPEND, REFUSE, *guards]

    def migrate(self) -> None:
        # IF NOT EXISTS and OR REPLACE do not keep concurrent callers apart; the lock does.
        with self.datastore.patient() as connection, connection.transaction(), connection.cursor() as curs:
            curs.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            self._create_table(curs)
        self.datastore.there.forget()

    @property
    def server(self) -> str:
        there = self.datastore.there
        believed = there.known and time.monotonic() < there.asked + ASKED
        while not believed:  # once, unless the tables were made meanwhile
            asked = time.monotonic()
            ((server,),) = self._rows(SERVER, ())
            there.told(server, asked)
            believed = there.known
        return there.server

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        command: Command | None,
        beside: Sequence[Statement] = (),
        server: str | None = None,
    ) -> Receipt:
        topics, states = [e.topic for e in events], [e.state for e in events]
        named = (command.id, command.body_hash) if command else (None, None)

        row = self._together.do(partial(_call, (game, expected, topics, states, *named, server), beside))
        if row["outcome"] == "replaced":
            self.datastore.there.told(row["hash"], time.monotonic())
            raise ServerReplaced("the database has been replaced meanwhile")
        if row["outcome"] == "damaged":
            raise GameDamaged(str(game), row["high"])
        if row["outcome"] == "stale":
            raise StaleVersion(expected, row["high"])
        if command and row["outcome"] == "known" and row["hash"] != command.body_hash:
            raise CommandReused(command.id)
        return Receipt(row["low"], row["high"], tuple(row["positions"]), replayed=row["outcome"] == "known")

    @contextmanager
    def _appending(self, count: int) -> Iterator[Heard[DictRow]]:
        """Not tried again: if the connection broke on the way back, the records may be stored.

        One call is a transaction of its own, in one round trip.
        """
        try:
            with self.datastore.get_connection() as c, c.transaction() if count > 1 else nullcontext():
                yield c
        except _LOST as error:
            if str(getattr(error.__cause__, "sqlstate", None)).startswith(_UNDONE):
                raise DatabaseError(str(error)) from error
            raise

    def command(self, game: UUID, command: str) -> CommandRow | None:
        rows = self.run(_COMMAND, (game, command))
        return next((CommandRow(command, h, first, last, tuple(p)) for h, first, last, p in rows), None)

    def version(self, game: UUID) -> int:
        version: int = self.run(_HEAD, (game,))[0][0]
        return version

    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def _rows(self, statement: str, params: Sequence[object]) -> list[Row]:
        with self.datastore.get_connection() as connection:
            # Tuples, not dicts: two columns may have the same name.
            cursor = connection.cursor(row_factory=tuple_row)
            cursor.execute(_translated(statement), params, prepare=True)
            return cursor.fetchall() if cursor.description else []

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = self._rows(statement, params)
        return rows

    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def _stored(self, statement: str, params: Sequence[object]) -> list[Row]:
        """Rows as the server holds them: as text a state is twice as long, and takes twice as long to read."""
        with self.datastore.get_connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row, binary=True)
            return cursor.execute(statement, params, prepare=True).fetchall()

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> list[StoredEvent]:
        last = _LAST if upto is None else upto
        return [StoredEvent(*row) for row in self._stored(_EVENTS, (game, after, last))]

    def notifications(self, after: int, limit: int) -> list[Notification]:
        return [Notification(*row) for row in self._stored(_NOTIFICATIONS, (after, limit))]

    def position(self, game: UUID, version: int) -> int | None:
        rows = self.run(_POSITION, (game, version))
        return int(rows[0][0]) if rows else None

    def put_right(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        for event, position, misnamed in events:
            key = (event.originator_id, event.originator_version)
            if misnamed:
                execute(_NAME, (*key, event.topic, event.state, position))
            elif not execute(_OVERWRITE, (event.topic, event.state, *key)):
                execute(_PUT_BACK, (position, *key, event.topic, event.state))

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        return all(execute(_REPLACE, (s, e.originator_id, e.originator_version, e.state)) for e, s in events)

    def complaints(self, patience: float) -> list[str]:
        """Pages whose checksum was wrong when the server read them, since its figures were reset."""
        del patience  # nothing is read
        ((failed,),) = self.run(_CHECKSUMS)
        return [f"{failed} pages with a wrong checksum"] if failed else []

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        if self._together.held() > LATE:  # on a connection of its own it would pass by what all appends wait for
            raise StoreUnavailable("the writers before this one take too long")
        with self.datastore.get_connection() as connection, connection.transaction():
            cursor = connection.cursor(row_factory=tuple_row)
            for statement in AMONG_APPENDS:
                cursor.execute(statement)
            if cursor.execute(COULD_APPEND, prepare=True).fetchone() != (True,):
                raise StoreUnavailable("the role may not append, or not as this version does: `annals migrate`")
            work(_executing(cursor))

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        with self.datastore.patient() as connection, connection.transaction():
            cursor = connection.cursor(row_factory=tuple_row)
            limit(connection, LONGEST, "LOCAL")
            for statement in AMONG_APPENDS:
                cursor.execute(statement)
            cursor.execute("INSERT INTO public.repairs (what, why) VALUES (%s, %s)", (what, why))
            yield _executing(cursor)

    def wipe(self) -> None:
        """Rows that were deleted lie in the files until the server's VACUUM, which is its owner's to plan."""

    def guarded(self) -> bool:
        return bool(self.run(GUARDS, (list(GUARDED),))[0][0] == 2 * len(GUARDED))

    def grant(self, service: str) -> None:
        with self.datastore.patient() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            roles.grant(connection, service)

    def close(self) -> None:
        self.datastore.close()


def _call(params: Sequence[object], beside: Sequence[Statement], connection: Heard[DictRow]) -> DictRow:
    """What the function says of one append, and what stands beside it."""
    if not beside:
        return next(connection.execute(_CALL, params, prepare=True))
    with connection.transaction():
        row = next(connection.execute(_CALL, params, prepare=True))
        if row["outcome"] == "stored":
            store.write_beside(lambda s, p: connection.execute(_translated(s), p), beside)
    return row


def _executing(cursor: psycopg.Cursor[Row]) -> Execute:
    def execute(statement: str, params: Sequence[object]) -> list[Row]:
        cursor.execute(_translated(statement), params)
        return cursor.fetchall() if cursor.description else []

    return execute


def _translated(statement: str) -> str:
    return statement.replace("?", "%s")

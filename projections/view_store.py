"""The database of the views: SQLite next to the ledger's file, or the ledger's PostgreSQL."""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from sqlalchemy import (
    URL,
    ClauseElement,
    Connection,
    Dialect,
    Engine,
    Table,
    create_engine,
    event,
    func,
    inspect,
    select,
)
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import DBAPIError, TimeoutError  # noqa: A004 - a pool without a free connection
from sqlalchemy.schema import CreateSchema, DropSchema, DropTable

from domain.errors import StoreUnavailable, ViewsDamaged
from domain.fork_safety import reset_after_fork
from domain.kernel.records.audience import ALL_KEY
from domain.ledger.sqlite_files import list_integrity_errors
from domain.ledger.store import VIEWS_PREFIX
from domain.service.keyring import Keyring
from domain.types import PUBLIC
from projections.schema import fingerprint, generations, insert_generation, metadata, parts, schema_name, shape

if TYPE_CHECKING:
    from psycopg.rows import TupleRow

    from domain.ledger.socket_timeouts import TimeoutConnection

UNSEALED_READERS = (PUBLIC, ALL_KEY)
"""Viewers and audiences with public documents, stored unencrypted."""


DEFAULT_PARTITIONS = 12
"""Default number of game partitions on PostgreSQL. Its many divisors give even shares."""


IDLE_SECONDS = 15
"""Seconds without a statement after which PostgreSQL ends a write transaction.

The client may be frozen or its machine gone, and others must take over its partitions. A live projector needs less, or
is restarted itself.
"""

_WRITE_SETTINGS = f"""SELECT set_config('synchronous_commit', 'off', true),
  set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', true)"""


TRANSACTION_SECONDS = 30
"""Longest write transaction in seconds, from PostgreSQL 17.

The idle limit does not apply to a client that freezes while rows are on their way. Equal to the time limit of a
projector's slice; creating tables may take longer.
"""

_TIME_LIMIT = f", set_config('transaction_timeout', '{TRANSACTION_SECONDS}s', true)"


_BAD_PAGES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class ViewStore:
    """Connections to the view database. Safe with threads and forks."""

    def __init__(self, url: str, keys: Keyring | None = None, parts: int = 0) -> None:
        """Open `sqlite:///path`, with special characters percent-encoded, or `postgresql://...`.

        With the ledger's `keys`, documents for single seats are encrypted. `parts` is the number of game partitions of
        new generations (0: the default of the database).
        """
        self._keys = keys
        self.parts = parts or (1 if url.startswith("sqlite:") else DEFAULT_PARTITIONS)
        self.url = url
        self._schema = "" if url.startswith("sqlite:") else schema_name()
        self._engine: Engine | None = None
        self._prepared: Engine | None = None
        """An engine that has never connected: forked processes can use it."""
        sqlite = url.startswith("sqlite:")
        self._file = Path(str(_sqlite_url(url).database)).absolute() if sqlite else None
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget the parent's connections without closing them."""
        if self._engine:
            self._engine.dispose(close=False)
            self._engine = None

    @property
    def engine(self) -> Engine:
        """The engine of this process; connections are never shared with a parent."""
        if self._engine is None:
            self._engine = self._prepared or _create_engine(self.url, self._schema)
            self._prepared = None
        return self._engine

    def prepare_forks(self) -> None:
        """Make what forked processes can share: an engine without a connection, and the text of statements."""
        self._prepared = _create_engine(self.url, self._schema)
        if self._file:
            _compile_statements(self._prepared.dialect)

    def migrate(self) -> None:
        """Create missing tables and the first generation; the projector fills them.

        On SQLite the tables of another code version are dropped with their rows. On PostgreSQL they stay if they are in
        use, since nodes of both versions may serve at once. Of the others those stay that have come farthest.
        """
        with self.transaction() as db:
            if self._schema:
                _lift_time_limits(db)
                db.exec_driver_sql("SELECT pg_advisory_xact_lock(20260101)")  # two nodes may start at once
                if not inspect(db).has_schema(self._schema):  # whoever may not create one may use one
                    db.execute(CreateSchema(self._schema))
                self._drop_unused(db)
            if not self._is_current_schema(db):
                metadata.drop_all(db)
            metadata.create_all(db)
            upsert(db, shape, [{"hash": fingerprint()}])
            if db.execute(select(generations.c.gen)).first() is None:
                for statement in insert_generation(1, self.parts, live=True):
                    db.execute(statement)

    def _drop_unused(self, db: Connection) -> None:
        """Drop the views of other code versions, except those in use and the most recent of the rest."""
        now = int(time.time() * 1000)
        unused = [views for views in _list_others(db, self._schema) if views.until < now]
        unused.sort(key=lambda views: views.position)
        for views in unused[:-1]:
            _drop_views(db, views.schema)

    def has_tables(self) -> bool:
        """Return whether this code version has made its tables."""
        with self.reading() as db:
            return self._has_table(db, parts)

    def _has_table(self, db: Connection, table: Table) -> bool:
        return inspect(db).has_table(table.name, self._schema or None)

    def is_current(self) -> bool:
        """Return whether the tables are those of this code version, or there are none."""
        with self.reading() as db:
            if self._schema and not self._has_table(db, shape):
                return not _list_others(db, self._schema)
            return self._is_current_schema(db)

    def count_other_versions(self) -> int:
        """Return how many other code versions use views of their own now."""
        with self.reading() as db:
            others = _list_others(db, self._schema) if self._schema else []
        return sum(views.until >= time.time() * 1000 for views in others)

    def _is_current_schema(self, db: Connection) -> bool:
        """Return True if the tables are those of this code version, or if there are none."""
        if self._has_table(db, shape):
            return fingerprint() in db.execute(select(shape.c.hash)).scalars().all()
        return not self._has_table(db, generations)

    def clear(self) -> None:
        """Drop all tables with their rows. Call `migrate` afterwards."""
        with self.transaction() as db:
            if db.dialect.name == "postgresql":
                _lift_time_limits(db)
            metadata.drop_all(db)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run the block in a write transaction. Raises StoreUnavailable if the database fails or cannot write."""
        with (
            self._translate_errors() as engine,
            engine.execution_options(writes=True).begin() as db,
            self._discard_lost(engine, db),
        ):
            yield db

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Run the block's reads in one snapshot; raises StoreUnavailable."""
        with self._translate_errors() as engine, engine.connect() as db, self._discard_lost(engine, db):
            yield db

    def fetch_all(self, query: PreparedStatement, **params: object) -> list[tuple[Any, ...]]:
        """Return the rows of a single query."""
        with self._translate_errors() as engine, _autocommit(engine).connect() as db, self._discard_lost(engine, db):
            return query.fetch_all(db, **params)

    @contextmanager
    def _translate_errors(self) -> Iterator[Engine]:
        """Lend the engine; raise database errors as StoreUnavailable or ViewsDamaged.

        If the engine was closed meanwhile, close its returned connection too.
        """
        engine = self.engine
        try:
            yield engine
        except (DBAPIError, TimeoutError, engine.dialect.loaded_dbapi.Error) as error:
            cause = getattr(error, "orig", error)
            if _is_corruption(cause):
                self._mark_damaged()
                raise ViewsDamaged(f"the views: {cause}") from error
            raise StoreUnavailable(f"the views: {cause}") from error
        finally:
            if engine is not self._engine:
                engine.pool.dispose()

    @contextmanager
    def _discard_lost(self, engine: Engine, db: Connection) -> Iterator[None]:
        """Close the whole pool after the loss of a connection, because the others are likely lost as well.

        A connection to a demoted server counts as lost: it takes no writes any more.
        """
        try:
            yield
        except Exception as error:
            if not db.invalidated and (_is_read_only(error) or getattr(_driver_connection(db), "closed", False)):
                db.invalidate()
            if db.invalidated and engine is self._engine:
                self.close()
            raise

    def seal_document(self, game: str, reader: str, doc: bytes) -> bytes:
        """Encrypt a document for storage, unless it is public."""
        if self._keys is None or reader in UNSEALED_READERS:
            return doc
        return self._keys.seal(game, f"view|{reader}", doc)

    def open_document(self, game: str, reader: str, sealed: bytes) -> bytes:
        """Decrypt a stored document; raises WrongKey, and ValueError for altered bytes."""
        if self._keys is None or reader in UNSEALED_READERS:
            return sealed
        return self._keys.open(game, f"view|{reader}", sealed)

    def yield_to_writers(self, worked_seconds: float = 0.0) -> None:
        """Sleep between two pieces of long work, so that other SQLite writers get the lock.

        `worked_seconds` is the duration of the last piece. SQLite has one writer and no queue: others try every tenth
        of a second and give up after five seconds.
        """
        if self.engine.dialect.name == "sqlite":
            time.sleep(max(worked_seconds / 3, 0.02))

    @property
    def is_damaged(self) -> bool:
        """True if bad pages were found since the file was created. Always False for PostgreSQL."""
        return self._file is not None and damage_marker(self._file).exists()

    def _mark_damaged(self) -> None:
        """Create the marker file, read by health checks and by the next start."""
        if self._file is not None:
            with suppress(OSError):
                damage_marker(self._file).touch(0o600)

    def check_pages(self, seconds: float) -> None:
        """Raise ViewsDamaged if SQLite finds bad pages within `seconds`. The ledger checks PostgreSQL."""
        if (path := self._file) is None:
            return
        if self.is_damaged:
            raise ViewsDamaged("the views: somebody has come upon pages that cannot be read")
        try:
            errors = list_integrity_errors(path, seconds) if path.exists() else []
        except sqlite3.Error as error:
            raise (ViewsDamaged if _is_corruption(error) else StoreUnavailable)(f"the views: {error}") from error
        if errors:
            raise ViewsDamaged(f"the views: {errors[0]}")

    def close(self) -> None:
        """Close this process' connections; later use opens new ones."""
        engine, self._engine = self._engine, None  # first, so that connections returned later are closed
        if engine:
            engine.pool.dispose()  # Engine.dispose would make a new pool, never closed


def damage_marker(views: Path) -> Path:
    """Return the path of the marker file for bad pages of a view file."""
    return views.with_name(f"{views.name}-damaged")


_OPEN_FILE_BYTE = 128
"""Byte of the shared-memory file that SQLite locks while it has the database open (UNIX_SHM_DMS)."""


def is_in_use(views: Path) -> bool:
    """Return True if another process has the view file open. Call before opening it here. Raises OSError."""
    try:
        memory = os.open(views.with_name(f"{views.name}-shm"), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.lockf(memory, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _OPEN_FILE_BYTE)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return True
    finally:
        os.close(memory)
    return False


@dataclass(frozen=True)
class _OtherViews:
    """Views of another code version."""

    schema: str
    position: int
    """How far they have come in the log."""
    until: int
    """End of the last lease on them, ms; 0 if every projector has ended properly."""


_FIRST_SCHEMA = "public"
"""Version 0.1.0 has its views next to the ledger's tables."""


def _list_others(db: Connection, own: str) -> list[_OtherViews]:
    """Return the views of other versions in this PostgreSQL database."""
    inspector = inspect(db)
    names = [name for name in inspector.get_schema_names() if name.startswith(VIEWS_PREFIX) and name != own]
    query = select(func.coalesce(func.max(parts.c.position), 0), func.coalesce(func.max(parts.c.until), 0))
    return [
        _OtherViews(name, *db.execute(query, execution_options=_options(name)).one())
        for name in (_FIRST_SCHEMA, *names)
        if inspector.has_table(parts.name, name)
    ]


def _drop_views(db: Connection, schema: str) -> None:
    if schema != _FIRST_SCHEMA:
        db.execute(DropSchema(schema, cascade=True))
        return
    for table in reversed(metadata.sorted_tables):
        db.execute(DropTable(table, if_exists=True), execution_options=_options(schema))


def _options(schema: str) -> dict[str, Mapping[None, str]]:
    """Options of connections or statements for views in a schema: none where it has no name."""
    return {"schema_translate_map": {None: schema}} if schema else {}


def _create_engine(url: str, schema: str) -> Engine:
    sqlite = url.startswith("sqlite:")
    engine = create_engine(
        _sqlite_url(url) if sqlite else URL.create("postgresql+psycopg"),
        pool_pre_ping=not sqlite,
        pool_reset_on_return="rollback" if sqlite else None,
        pool_size=8,
        max_overflow=24,
        pool_timeout=10,
        execution_options=_options(schema),
    )
    if sqlite:
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "do_connect", functools.partial(_connect_postgresql, url))
        event.listen(engine, "reset", _reset_postgresql)
        event.listen(engine, "begin", _begin_postgresql)
    return engine


def _autocommit(engine: Engine) -> Engine:
    """Return an engine for single queries: on PostgreSQL without a transaction around them."""
    if engine.dialect.name == "sqlite":
        return engine
    single: Engine = engine.execution_options(isolation_level="AUTOCOMMIT")
    return single


def _sqlite_url(url: str) -> URL:
    """Return the address parsed as the ledger does; SQLAlchemy would parse it differently."""
    return URL.create("sqlite", database=unquote(urlsplit(url).path)[1:])


def _is_corruption(error: object) -> bool:
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _BAD_PAGES


def _is_read_only(error: Exception) -> bool:
    """Return True for a write refused by a server that takes none."""
    from domain.ledger.socket_timeouts import READ_ONLY  # noqa: PLC0415 - SQLite's users need no driver

    return getattr(getattr(error, "orig", error), "sqlstate", "") == READ_ONLY


def _set_pragmas(connection: Any, _: Any) -> None:
    """Set the pragmas. Views are rebuildable: a power cut may lose the last changes, but keeps consistency."""
    connection.isolation_level = None  # the driver must not begin transactions by itself
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(db: Connection) -> None:
    """Begin a transaction; a write transaction takes the lock at once.

    If it read first, SQLite could refuse the lock without waiting.
    """
    begin = "BEGIN IMMEDIATE" if db.get_execution_options().get("writes") else "BEGIN"
    db.connection.cursor().execute(begin)


def _connect_postgresql(url: str, *_: object) -> object:
    """Return a new connection to the address, parsed by the driver as for the ledger: SQLAlchemy knows one host."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - SQLite's users need no driver
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    from domain.ledger.socket_timeouts import CONNECT_OPTIONS, TimeoutConnection, set_session  # noqa: PLC0415

    try:
        address = conninfo_to_dict(url)
    except ProgrammingError:  # its message quotes the address with its password
        raise StoreUnavailable("the address of the database cannot be read") from None
    options: dict[str, Any] = {**CONNECT_OPTIONS, **address, "autocommit": True}
    connection = TimeoutConnection.connect(**options)
    set_session(connection)
    connection.set_autocommit(False)
    return connection


def _reset_postgresql(connection: TimeoutConnection[TupleRow], _: object, __: object) -> None:
    """Roll back silently. SQLAlchemy's own reset logs lost connections; the next user finds this one closed."""
    connection.patience = type(connection).patience
    with suppress(connection.Error):
        connection.rollback()


def _driver_connection(db: Connection) -> TimeoutConnection[TupleRow]:
    """Return the connection of PostgreSQL's driver."""
    return cast("TimeoutConnection[TupleRow]", db.connection.driver_connection)


def _lift_time_limits(db: Connection) -> None:
    """Lift PostgreSQL's time limits for this transaction, which creates tables."""
    from domain.ledger.socket_timeouts import set_transaction_timeout  # noqa: PLC0415 - SQLite's users need no driver

    _driver_connection(db).patience = None
    set_transaction_timeout(_driver_connection(db), 0, "LOCAL")


def _begin_postgresql(db: Connection) -> None:
    """Write without waiting for the disk, as on SQLite; the ledger's next commit flushes these writes too.

    All settings are local to the transaction, because a pooler may hand the connection to the ledger next.
    """
    if db.get_execution_options().get("writes"):
        from domain.ledger.socket_timeouts import supports_transaction_timeout  # noqa: PLC0415 - SQLite's users need no driver

        _driver_connection(db).patience = IDLE_SECONDS + 5  # longer than PostgreSQL's own limit for frozen clients
        db.exec_driver_sql(
            _WRITE_SETTINGS + _TIME_LIMIT if supports_transaction_timeout(_driver_connection(db)) else _WRITE_SETTINGS
        ).close()


class PreparedStatement:
    """A statement of the hot path, compiled once and run on the driver's own cursor.

    SQLAlchemy's cursor costs ten times the database's work. Parameters and results must be of the columns' own types:
    text, integers, bytes.
    """

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._sql: dict[str, str] = {}
        _STATEMENTS.append(self)

    def fetch_all(self, db: Connection, **params: object) -> list[tuple[Any, ...]]:
        """Return the rows of the query."""
        cursor = self._cursor(db)
        try:
            cursor.execute(self._compile_for(db), params)
            return list(cursor.fetchall())
        finally:
            cursor.close()

    def execute_many(self, db: Connection, rows: Sequence[Mapping[str, object]]) -> None:
        """Run the statement once for each row of parameters."""
        if rows:
            cursor = self._cursor(db)
            try:
                cursor.executemany(self._compile_for(db), rows)
            finally:
                cursor.close()

    def _cursor(self, db: Connection) -> Any:
        return db.connection.cursor()

    def _compile_for(self, db: Connection) -> str:
        return self.compile(db.dialect, db.get_execution_options().get("schema_translate_map"))

    def compile(self, dialect: Dialect, schemas: Mapping[None, str] | None = None) -> str:
        """Return the statement's text for the only schema of `schemas`, compiled at the first use."""
        name = schemas[None] if schemas else ""
        if name not in self._sql:
            dialect = sqlite_dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
            compiled = self._statement.compile(
                dialect=dialect, schema_translate_map=schemas, render_schema_translate=bool(schemas)
            )
            self._sql[name] = str(compiled)
        return self._sql[name]


_STATEMENTS: list[PreparedStatement] = []
"""All statements of the program: they belong to modules and tables."""


def _compile_statements(dialect: Dialect) -> None:
    for table in metadata.tables.values():
        _upsert(table, dialect.name)
    for statement in _STATEMENTS:
        statement.compile(dialect)


@functools.cache
def _upsert(table: Table, dialect: str) -> PreparedStatement:
    # Users of SQLite do not load the other dialect.
    insert = import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
    keys = [c.name for c in table.primary_key.columns]
    if len(keys) == len(table.columns):
        return PreparedStatement(insert.on_conflict_do_nothing(index_elements=keys))
    changed = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    return PreparedStatement(insert.on_conflict_do_update(index_elements=keys, set_=changed))


def upsert(db: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    """Write whole rows by primary key. Repeating it changes nothing."""
    _upsert(table, db.dialect.name).execute_many(db, rows)

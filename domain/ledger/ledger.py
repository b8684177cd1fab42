"""Appending to and reading from the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import unquote, urlsplit

from eventsourcing.persistence import IntegrityError, Notification, StoredEvent

from domain.errors import CommandReused, ServerReplaced, StaleVersion, WrongKey
from domain.fork_safety import reset_after_fork
from domain.kernel.records.record import Record
from domain.ledger.admin import LedgerAdmin
from domain.ledger.archive import Archive, is_stub
from domain.ledger.connection import StoreConnection
from domain.ledger.imported_games import ImportedGames
from domain.ledger.mapper import RecordMapper, StoredRecord, game_name
from domain.ledger.repair import LedgerRepair
from domain.ledger.row_keys import check_place, find_key, key_of, valid_version
from domain.ledger.sqlite import SqliteStore
from domain.ledger.store import CommandRow, LogEntry, Receipt, Store
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.keyring import Keyring
from domain.types import is_import_id


class _KeyringDatabase:
    """The ledger's tables for its own key ring: transactions do not load the ring first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def log_id(self) -> str:
        return self._ledger.log_id

    @property
    def replication_query(self) -> str:
        return self._ledger.replication_query

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        return self._ledger.execute(statement, params)

    def scrub_deleted_pages(self) -> None:
        self._ledger.scrub_deleted_pages()

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        self._ledger.run_without_keys(work)


class Ledger:
    """The log of all games. Safe with threads, processes and forks: each process opens its own connections.

    `repair` holds the operations that change stored records, `admin` those of operators.
    """

    refusing = False
    """Whether the store refused this process's last append."""

    def __init__(self, make: Callable[[], Store], key: bytes | None = None) -> None:
        self._connection = StoreConnection(make)
        self._keys = Keyring(_KeyringDatabase(self), key) if key is not None else None
        self._mapper = RecordMapper(keys=self._keys)
        self._archive = Archive(self._keys, self.execute)
        self.imports = ImportedGames(self.execute)
        self.repair = LedgerRepair(self._connection, self._mapper, self._archive, self._load_keys)
        self.admin = LedgerAdmin(self._connection)
        reset_after_fork(self)

    @classmethod
    def open(cls, url: str, key: bytes | None = None) -> Ledger:
        """Return a ledger that connects on first use and creates nothing.

        `url` is `sqlite:///relative/path`, `sqlite:////absolute/path`, `postgresql://...`, or `sqlite://` for a ledger
        in memory, for tests. With the master key packs are stored sealed; without it they are stored in plain form, and
        sealed packs cannot be read. Raises ValueError for any other address.
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
        """The key ring; raises WrongKey for a ledger that was opened without a key."""
        if self._keys is None:
            raise WrongKey("no master key is given")
        return self._keys

    # --- writing

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat, and to run in several processes at once."""
        with self._connection.use() as store:
            store.migrate()

    def append(
        self,
        game: str,
        records: Sequence[Record],
        expected: int,
        idempotency_key: IdempotencyKey | None = None,
        extra_statements: Sequence[Statement] = (),
        log_id: str | None = None,
    ) -> Receipt:
        """Store the records, their command and rows of other tables in one transaction; return their positions.

        A known command stores nothing and returns its first receipt, marked `replayed`. `log_id` is the id of the log
        from which the records' predecessors were read. Raises CommandReused, GameDamaged, ServerReplaced if another
        database would store the records, StaleVersion, and StoreUnavailable; after a connection broke midway only the
        command's id shows whether it was stored.
        """
        key = key_of(game)
        if [r.version for r in records] != list(range(expected + 1, expected + 1 + len(records))) or not records:
            raise ValueError("the records must follow the expected version")
        events = [self._mapper.to_stored_event(StoredRecord(key, r)) for r in records]
        self.refusing, before = True, self.refusing
        try:
            with self._connection.use() as store:
                try:
                    receipt = store.append(key, events, expected, idempotency_key, extra_statements, log_id)
                except IntegrityError as e:
                    raise StaleVersion(expected, store.version(key)) from e
        except (StaleVersion, CommandReused, ServerReplaced):
            self.refusing = before
            raise
        self.refusing = False
        return receipt

    @property
    def replication_query(self) -> str:
        """Query for the state of the server."""
        with self._connection.use() as store:
            return store.replication_query

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """Run one statement on another table of the same database, `?` for each parameter; return its rows.

        A broken connection may cause a second execution, so the statement must be safe to repeat.
        """
        with self._connection.use() as store:
            return store.run(statement, params)

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        """Run `work` in one transaction that takes the append lock."""
        self._load_keys()
        self.run_without_keys(work)

    def run_without_keys(self, work: Callable[[Execute], None]) -> None:
        """Run `work` like `run_in_append_order`, without loading the key ring first: the ring itself is made so."""
        with self._connection.use() as store:
            store.run_in_append_order(work)

    def _load_keys(self) -> None:
        # Read or made within the transaction, the ring would wait for that transaction's own lock.
        if self._keys is not None:
            self._keys.request_key()

    def scrub_deleted_pages(self) -> None:
        """Remove deleted rows from SQLite's files too, at once or after the last long reader has finished."""
        with self._connection.use() as store:
            store.scrub_deleted_pages()

    # --- reading

    def read(self, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        """Return the records of a game from version `after` + 1 to `upto` or the newest; none for an unknown game.

        An imported game is read as `localize_records` gives it. Raises UnknownKind, and VerificationError if a record
        cannot be read, or is missing before a later one.
        """
        if is_import_id(game):
            return self.imports.read_records(game, after, upto)
        if (key := find_key(game)) is None:
            return []
        with self._connection.use() as store:
            rows = store.events(key, after, upto)
        return [self._record(check_place(key, version, row)) for version, row in enumerate(rows, after + 1)]

    def read_original(self, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        """Return records like `read`; those of an imported game as its file has them, for proofs."""
        if is_import_id(game):
            return self.imports.read_records(game, after, upto, original=True)
        return self.read(game, after, upto)

    @property
    def log_id(self) -> str:
        """The id of the connected log, read within the last second.

        On PostgreSQL it changes if the database is replaced by one with fewer records: a standby that lagged, or a
        database or tables that were restored.
        """
        with self._connection.use() as store:
            return store.log_id

    def version(self, game: str) -> int:
        """Return the newest version of a game, 0 for an unknown game."""
        if is_import_id(game):
            return self.imports.version(game)
        if (key := find_key(game)) is None:
            return 0
        with self._connection.use() as store:
            return store.version(key)

    def head(self, game: str) -> tuple[int, int | None]:
        """Return the newest version of a game, 0 for an unknown game, and its first corrupt one, None if it is sound.

        Version 0 is the seed.
        """
        if is_import_id(game):
            return self.imports.version(game), None
        if (key := find_key(game)) is None:
            return 0, None
        with self._connection.use() as store:
            return store.head(key)

    def position(self, game: str, version: int) -> int | None:
        """Return the position of a record in the log, or None if it is missing."""
        with self._connection.use() as store:
            return store.position(key_of(game), version)

    def log(self, after: int, limit: int) -> list[LogEntry]:
        """Return up to `limit` entries of all games past position `after`, positions rising."""
        with self._connection.use() as store:
            rows = store.notifications(after, limit)
        return [self._entry(row) for row in rows]

    def _entry(self, row: Notification) -> LogEntry:
        read_record, read_hash = partial(self._record, row), partial(self._hash, row)
        game, version = game_name(row.originator_id), valid_version(row.originator_version)
        return LogEntry(row.id, game, version, read_record, read_hash, archived=is_stub(row.state))

    def _record(self, row: StoredEvent) -> Record:
        return self._mapper.record(self._archive.restore_row(row))

    def _hash(self, row: StoredEvent) -> str:
        return self._mapper.hash(self._archive.restore_row(row))

    def is_archived(self, game: str) -> bool:
        """Return whether the contents of a game's records are in the archive, or in an imported file."""
        return is_import_id(game) or self._archive.has_game(game)

    def find_command(self, game: str, id: str) -> CommandRow | None:  # noqa: A002 - the word of the table and of the API
        """Return the row of an accepted command, or None; rows are kept forever."""
        if (key := find_key(game)) is None:
            return None
        with self._connection.use() as store:
            return store.find_command(key, id)

    # --- connections

    def close(self) -> None:
        """Close this process's connections; a later use opens new ones."""
        self._connection.close()

    def reset(self) -> None:
        """Forget connections without closing them, and cached archive chunks and files."""
        self._connection.reset()
        self._archive.reset()
        self.imports.reset()

    def after_fork(self) -> None:
        """Neither use nor close the parent's connections."""
        self._connection.after_fork()
        self._archive.reset()
        self.imports.reset()

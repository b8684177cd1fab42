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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from urllib.parse import unquote, urlsplit
from uuid import UUID

from eventsourcing.persistence import (
    ConnectionPoolClosedError,
    IntegrityError,
    Notification,
    PersistenceError,
    StoredEvent,
)

from domain.beside.keys import Keyring
from domain.beside.tables import Execute, Row, Statement
from domain.errors import (
    CommandReused,
    ServerReplaced,
    StaleVersion,
    StoreDamaged,
    StoreUnavailable,
    UnknownGame,
    UnknownKind,
    VerificationError,
    WrongKey,
)
from domain.forks import heed
from domain.kernel.record import Record
from domain.ledger.archive import INSERT, Archive, Line, is_stub, prove, stub
from domain.ledger.mapper import Filed, RecordMapper, name_of
from domain.ledger.sqlite import SqliteStore
from domain.ledger.store import Command, CommandRow, LogEntry, Receipt, Store

__all__ = ["MOST", "Command", "CommandRow", "Ledger", "LogEntry", "Receipt"]

log = logging.getLogger("annals.security")

MOST = 2**31 - 1
"""Versions that a game may have."""

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, "XX001", "XX002")
"""Codes of SQLite and of PostgreSQL."""


class _Tables:
    """The ledger's tables for its own ring of keys: a transaction of theirs does not ask for the ring first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def server(self) -> str:
        return self._ledger.server

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        return self._ledger.execute(statement, params)

    def wipe(self) -> None:
        self._ledger.wipe()

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        self._ledger.transact(work)


class Ledger:
    """Safe with threads, processes and forks: each process has connections of its own, made when first needed."""

    _made: Store | None
    refusing = False
    """Whether the store has not taken the last records that this process had for it."""

    def __init__(self, make: Callable[[], Store], key: bytes | None = None) -> None:
        self._make = make
        self._keys = Keyring(_Tables(self), key) if key is not None else None
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
        server: str | None = None,
    ) -> Receipt:
        """Store the records with their command and with rows beside the log, all or nothing; gives the positions.

        A known command stores nothing and gives the first receipt again, marked `replayed`. `server`: that from which
        stems what the records follow. Raises CommandReused, GameDamaged, ServerReplaced where the records would be
        stored by another one, StaleVersion, and StoreUnavailable (after a connection that broke midway only the command
        id tells what has become of it).
        """
        key = _key(game)
        if [r.version for r in records] != list(range(expected + 1, expected + 1 + len(records))) or not records:
            raise ValueError("the records must follow the expected version")
        events = [self._mapper.to_stored_event(Filed(key, r)) for r in records]
        self.refusing, before = True, self.refusing
        try:
            with self._store() as store:
                try:
                    receipt = store.append(key, events, expected, command, beside, server)
                except IntegrityError as e:
                    raise StaleVersion(expected, store.version(key)) from e
        except (StaleVersion, CommandReused, ServerReplaced):
            self.refusing = before
            raise
        self.refusing = False
        return receipt

    def put_right(self, game: str, records: Sequence[tuple[Record, str, int]], why: str) -> None:
        """Overwrite damaged records: the only way in which a stored record is ever replaced. A repair.

        Each comes with the hash that it must have, from elsewhere, and the position at which one that is gone is put
        back. All or none. Raises VerificationError for one that is another than the hash says, or whose packs are not
        those that its public part has sealed, and StaleVersion where the place of one is taken, unless by the same
        record whose name has changed. A record of the archive stays one, with its bytes behind the stub.
        """
        with self._store() as store:
            events, archived = [], self._archive.holds(game)
            for record, hashed, position in records:
                event = self._same(Filed(_key(game), record), hashed)
                event = replace(event, state=stub(hashed) + event.state) if archived else event
                events.append((event, position, self._misnamed(store, event, hashed, position)))
            try:
                what = f"versions {', '.join(str(r.version) for r, *_ in records)} of {game}"
                with self._repair(store, what, why) as execute:
                    store.put_right(events, execute)
            except IntegrityError as e:
                raise StaleVersion(0, store.version(_key(game))) from e

    def _same(self, filed: Filed, hashed: str) -> StoredEvent:
        """What to store of a record, as it will be read again."""
        event = self._mapper.to_stored_event(filed)
        read = self._mapper.record(event)
        if read.hash != hashed:
            raise VerificationError("record_mismatch", read.version, "the tree has another")
        if not read.sealed:
            raise VerificationError("pack_changed", read.version, "its packs are not those that were sealed")
        return event

    def _misnamed(self, store: Store, event: StoredEvent, hashed: str, position: int) -> bool:
        """Whether the row at that position holds the record, and names another game or version."""
        for row in store.notifications(position - 1, 1):
            if row.id != position or _named(row) == _named(event):
                return False
            try:
                read = self._mapper.record(self._archive.whole(replace(event, state=row.state)))
            except (VerificationError, UnknownKind):
                return False
            return read.hash == hashed and read.sealed
        return False

    def archive(self, game: str, leaves: Mapping[int, str], why: str) -> int:
        """Move what the records of a closed game say to the archive, all or none; gives how many. A repair.

        `leaves`: the hashes that they must have, from elsewhere. 0 for a game that is archived. Raises ValueError for
        one that is not closed, VerificationError for a record that is not the one whose hash stands there, does not
        follow the one before, or has packs that its public part has not sealed, and StaleVersion if one has changed
        meanwhile, or somebody else has archived them.
        """
        key = _key(game)
        if self._archive.holds(game):
            return 0
        with self._store() as store:
            events = store.events(key)
            whole = [self._archive.whole(_own(key, version, event)) for version, event in enumerate(events, 1)]
            records = list(map(self._mapper.record, whole))
            prove(records, leaves)
            stubs = [(event, stub(record.hash)) for event, record in zip(events, records, strict=True)]
            pieces = list(self._archive.pieces(game, [Line(*self._mapper.written(event)) for event in whole]))
            try:
                with self._repair(store, f"{len(events)} records of {game} are archived", why) as execute:
                    for piece in pieces:
                        execute(INSERT, (game, piece.first, piece.last, piece.data))
                    if not store.replace_states(stubs, execute):
                        raise StaleVersion(len(events), store.version(key))
            except IntegrityError as e:  # its pieces are there
                raise StaleVersion(len(events), store.version(key)) from e
        return len(events)

    def archived(self, game: str) -> bool:
        """Whether what the records of a game say is in the archive."""
        return self._archive.holds(game)

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """One statement on an ordinary table of the same database, `?` for each parameter; its rows.

        After a broken connection it may be sent again, so it must not matter how often it is done.
        """
        with self._store() as store:
            return store.run(statement, params)

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        """Statements on ordinary tables in one transaction that waits where an append would wait."""
        self._ready()
        self.transact(work)

    def transact(self, work: Callable[[Execute], None]) -> None:
        """The same, for the ring of keys: what makes it cannot ask for it first."""
        with self._store() as store:
            store.among_appends(work)

    def _ready(self) -> None:
        # Read or made within the transaction, the ring would wait for that transaction's own lock.
        if self._keys is not None:
            self._keys.requests()

    @contextmanager
    def repair(self, what: str, why: str) -> Iterator[Execute]:
        """One transaction in which the log may be changed: for restoring and archiving, never for playing.

        Gives what does a statement, `?` for each parameter. What is done and why stands in the table `repairs` from
        the same moment on; after an error nothing of it has happened. On PostgreSQL the role must own the tables or be
        a member of `annals_repair`.
        """
        with self._store() as store, self._repair(store, what, why) as execute:
            yield execute

    @contextmanager
    def _repair(self, store: Store, what: str, why: str) -> Iterator[Execute]:
        if not (what and why):
            raise ValueError("a repair says what it does, and why")
        self._ready()
        with store.repair(what, why) as execute:
            yield execute
        log.warning("log_repaired: %s, because %s", what, why)

    def wipe(self) -> None:
        """Let what was deleted be gone from SQLite's files too: at once, or once nobody reads without end."""
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
        """The records of a game from version `after` + 1 to `upto` (or the newest); none for an unknown game.

        Raises UnknownKind, and VerificationError if one of them cannot be read, or is gone and a later one is there.
        """
        if (key := _known(game)) is None:
            return []
        with self._store() as store:
            found = store.events(key, after, upto)
        return [self._record(_own(key, version, e)) for version, e in enumerate(found, after + 1)]

    @property
    def server(self) -> str:
        """Names the log that is there, as it was told within the last second.

        On PostgreSQL it may be another one than before, which knows less: a standby that lagged, a database or tables
        that were put back.
        """
        with self._store() as store:
            return store.server

    def version(self, game: str) -> int:
        """The newest version of a game; 0 if it is unknown."""
        if (key := _known(game)) is None:
            return 0
        with self._store() as store:
            return store.version(key)

    def position(self, game: str, version: int) -> int | None:
        """Where a record stands in the log; None for one that is not there."""
        with self._store() as store:
            return store.position(_key(game), version)

    def log(self, after: int, limit: int) -> list[LogEntry]:
        """Up to `limit` entries past position `after`, of all games, positions rising."""
        with self._store() as store:
            found = store.notifications(after, limit)
        return [self._entry(row) for row in found]

    def _entry(self, row: Notification) -> LogEntry:
        read, hashed = partial(self._record, row), partial(self._hash, row)
        game, version = name_of(row.originator_id), _version(row.originator_version)
        return LogEntry(row.id, game, version, read, hashed, archived=is_stub(row.state))

    def _record(self, row: StoredEvent) -> Record:
        return self._mapper.record(self._archive.whole(row))

    def _hash(self, row: StoredEvent) -> str:
        return self._mapper.hash(self._archive.whole(row))

    def command(self, game: str, id: str) -> CommandRow | None:  # noqa: A002 - the word of the table and of the API
        """The command if it was accepted; kept for ever."""
        if (key := _known(game)) is None:
            return None
        with self._store() as store:
            return store.command(key, id)

    def complaints(self, patience: float) -> list[str]:
        """What the database says is wrong with its own pages; it looks for so many seconds at most."""
        try:
            with self._store() as store:
                return store.complaints(patience)
        except StoreDamaged as error:
            return [str(error)]

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
            raise (StoreDamaged if _on_bad_pages(e) else StoreUnavailable)(str(e)) from e

    def _connect(self) -> Store:
        with self._lock:
            made = self._made = self._made or self._make()
            return made

    def _begin(self) -> None:
        self._made = None
        self._lock = threading.Lock()
        self._archive = Archive(self._keys, self.execute)

    def after_fork(self) -> None:
        """What the parent has open is neither used nor closed here.

        SQLite's files are corrupted by closing an inherited connection, and closing is what a collected one does, also
        in a child that never uses a ledger: one reference too many keeps it until the process ends.
        """
        if self._made:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._made))
        self._begin()


def _on_bad_pages(error: BaseException | None) -> bool:
    """Whether the driver has said, under whatever the library made of it, that pages are damaged."""
    while error is not None:
        if isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _CORRUPT:
            return True
        if getattr(error, "sqlstate", None) in _CORRUPT:
            return True
        error = error.__cause__
    return False


def _named(row: StoredEvent) -> tuple[object, int]:
    return row.originator_id, row.originator_version


def _version(stored: object) -> int:
    """0 for what can be none: bytes that have changed, and that the views could not hold."""
    return stored if isinstance(stored, int) and 0 < stored <= MOST else 0


def _own(key: UUID, version: int, event: StoredEvent) -> StoredEvent:
    """The row that is asked for: an index may be sound where its rows are not, or one of them is gone."""
    if (event.originator_id, event.originator_version) != (key, version):
        raise VerificationError("unreadable", version, "it is not in its place")
    return event


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

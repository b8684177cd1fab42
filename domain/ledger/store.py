"""The interface of a store, and its row types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from eventsourcing.persistence import Notification, StoredEvent

from domain.compat import cached_property
from domain.errors import CommandReused, GameDamaged, StaleVersion
from domain.kernel.records.record import Record
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey

VIEWS_PREFIX = "views_"
"""Begins the name of each schema with views on PostgreSQL."""

EVENTS = "records"
"""The table of records; the others are `archive`, `commands`, `seeds` and `damages`."""

UNKNOWN_GAME = UUID(int=0)
"""The game of a row with a damaged name."""

REFUSALS = (CommandReused, GameDamaged, StaleVersion)
"""Errors that an append raises before it has written anything."""

APPEND_ONLY = "the log is append-only"
"""The database's error message for changes of the log."""


@dataclass(frozen=True)
class CommandRow:
    """An accepted command: its stored versions, and their positions in the log."""

    id: str
    body_hash: str
    first: int
    last: int
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Receipt:
    """The versions and positions stored by an append, or (`replayed`) by the same command before."""

    first: int
    last: int
    positions: tuple[int, ...]
    replayed: bool = False


@dataclass(frozen=True)
class LogEntry:
    """One record in the log, read on first use, so that one bad record does not spoil a page."""

    position: int
    game: str
    version: int
    read: Callable[[], Record] = field(repr=False, compare=False)
    hashed: Callable[[], str] = field(repr=False, compare=False)
    archived: bool = field(default=False, compare=False)
    """True if the contents are in the archive."""

    @cached_property
    def hash(self) -> str:
        """The record's hash, computed without opening its packs; raises like `record`."""
        return self.record.hash if "record" in self.__dict__ else self.hashed()

    @cached_property
    def record(self) -> Record:
        """The record; raises UnknownKind or VerificationError if it cannot be read."""
        return self.read()


def write_extra_statements(
    execute: Callable[[str, Sequence[object]], object], extra_statements: Sequence[Statement]
) -> None:
    """Run the statements that belong to new records, in their transaction."""
    for statement, params in extra_statements:
        execute(statement, params)


class Store(Protocol):
    """One database. Every member may raise StoreUnavailable or an error of the driver or the library."""

    replication_query: str
    """Returns one row: timeline, whether commits wait for a standby, whether there are standbys."""

    @property
    def log_id(self) -> str:
        """The id of the connected log, read within the last second; constant on SQLite."""

    def migrate(self) -> None:
        """Create missing tables."""

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        idempotency_key: IdempotencyKey | None,
        extra_statements: Sequence[Statement] = (),
        log_id: str | None = None,
    ) -> Receipt:
        """Store all events and extra statements, or none; store nothing for a known command.

        Raises CommandReused, GameDamaged, StaleVersion, and ServerReplaced if `log_id` is not the connected log's, all
        before anything is stored.
        """

    def find_command(self, game: UUID, command: str) -> CommandRow | None:
        """Return the row of an accepted command, or None."""

    def version(self, game: UUID) -> int:
        """Return the newest version, 0 for none."""

    def head(self, game: UUID) -> tuple[int, int | None]:
        """Return the newest version, 0 for none, and the first corrupt one, 0 for the seed; None for a sound game."""

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """Run one statement, `?` for each parameter, in its own transaction; return its rows."""

    def position(self, game: UUID, version: int) -> int | None:
        """Return the position of a record in the log, or None if it is missing."""

    def restore_records(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        """Overwrite these records within a repair, each with its position, at which a missing one is inserted.

        With True the row at that position becomes the record, whatever its name.
        """

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        """Replace the states of these rows within a repair; return whether all were unchanged since they were read."""

    def list_integrity_errors(self, patience: float) -> list[str]:
        """Return the database's own reports of corrupt pages, searched for at most `patience` seconds."""

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        """Run `work` in one transaction that takes the locks of an append."""

    def repair(self, what: str, why: str) -> AbstractContextManager[Execute]:
        """Open a transaction in which the log may be changed, and note `what` and `why` in it.

        Raises the library's IntegrityError if another row has the place of a written one.
        """

    def scrub_deleted_pages(self) -> None:
        """Remove deleted rows from the files too, where that is the service's task.

        Raises StoreUnavailable while readers need the old pages; call it again later.
        """

    def find_pooler(self) -> str:
        """Return what a pooler before the server keeps together, `transaction` or `statement`; empty without one."""

    def has_append_triggers(self) -> bool:
        """Return whether the database itself refuses changes of the log."""

    def list_foreign_triggers(self) -> list[str]:
        """Return the names of triggers that the service does not make, or makes otherwise."""

    def grant_service_role(self, service: str) -> None:
        """Grant the role in that address, created if missing, the rights of the service and no more."""

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> Sequence[StoredEvent]:
        """Return the rows of a game past version `after` up to `upto` (or the newest), versions rising."""

    def notifications(self, after: int, limit: int) -> Sequence[Notification]:
        """Return up to `limit` rows of all games past position `after`, positions rising."""

    def close(self) -> None:
        """Close all connections."""

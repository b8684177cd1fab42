"""What the ledger asks of a store, and the rows they exchange."""

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

EVENTS = "records"
"""The table of records; the others are `archive`, `commands`, `seeds` and `damages`."""

NOBODY = UUID(int=0)
"""The game of a row whose name is damaged."""

REFUSALS = (CommandReused, GameDamaged, StaleVersion)
"""What an append raises before it has written anything."""

APPEND_ONLY = "the log is append-only"
"""What the database says to whoever changes what was written."""


@dataclass(frozen=True)
class Command:
    """What makes an append repeatable: an id of the caller's, and the hash of what it asked for."""

    id: str
    body_hash: str


@dataclass(frozen=True)
class CommandRow:
    """An accepted command: the versions that it stored, and their positions in the log."""

    id: str
    body_hash: str
    first: int
    last: int
    positions: tuple[int, ...]


@dataclass(frozen=True)
class Receipt:
    """What an append stored, or (`replayed`) what the same command stored before."""

    first: int
    last: int
    positions: tuple[int, ...]
    replayed: bool = False


@dataclass(frozen=True)
class LogEntry:
    """One record in the log. Each is read when asked for, so that a page never fails for one bad record."""

    position: int
    game: str
    version: int
    read: Callable[[], Record] = field(repr=False, compare=False)
    hashed: Callable[[], str] = field(repr=False, compare=False)
    archived: bool = field(default=False, compare=False)
    """Whether what it says is in the archive."""

    @cached_property
    def hash(self) -> str:
        """That of the record, whose packs nobody needs to open for it; raises as `record`."""
        return self.record.hash if "record" in self.__dict__ else self.hashed()

    @cached_property
    def record(self) -> Record:
        """Raises UnknownKind or VerificationError if this record cannot be read."""
        return self.read()


def write_beside(execute: Callable[[str, Sequence[object]], object], beside: Sequence[Statement]) -> None:
    """What belongs to records that were just stored, in their transaction."""
    for statement, params in beside:
        execute(statement, params)


class Store(Protocol):
    """One database. Every member may raise StoreUnavailable or an error of the driver or the library."""

    @property
    def server(self) -> str:
        """Names the log that is there, as it was told within the last second; the same for ever on SQLite."""

    def migrate(self) -> None:
        """Create the tables that are missing."""

    def append(
        self,
        game: UUID,
        events: Sequence[StoredEvent],
        expected: int,
        command: Command | None,
        beside: Sequence[Statement] = (),
        server: str | None = None,
    ) -> Receipt:
        """All or nothing, with what stands beside the log; nothing at all if the command is known.

        Raises CommandReused, GameDamaged, StaleVersion and, if another `server` is named than is there at that moment,
        ServerReplaced, all before anything is stored.
        """

    def command(self, game: UUID, command: str) -> CommandRow | None:
        """The row of an accepted command."""

    def version(self, game: UUID) -> int:
        """The newest version, 0 for none."""

    def run(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """One statement with `?` for each parameter, in a transaction of its own; the rows it gives."""

    def position(self, game: UUID, version: int) -> int | None:
        """Where a record stands in the log; None for one that is not there."""

    def put_right(self, events: Sequence[tuple[StoredEvent, int, bool]], execute: Execute) -> None:
        """Overwrite these records within a repair; one that is gone is put back at the position that is given.

        With True the row at that position becomes the record, whatever it names.
        """

    def replace_states(self, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        """Give these rows other bytes within a repair; whether all were still as they were read."""

    def complaints(self, patience: float) -> list[str]:
        """What the database says is wrong with its own pages; it looks for so many seconds at most."""

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        """Statements in one transaction, behind the locks that an append takes."""

    def repair(self, what: str, why: str) -> AbstractContextManager[Execute]:
        """A transaction of its own in which the log may be changed; what and why are written down with it.

        Raises the library's IntegrityError where something else stands in the place of what is written.
        """

    def wipe(self) -> None:
        """Let what was deleted be gone from the files too, where that is the service's to do.

        Raises StoreUnavailable while others read what was there before; to be repeated.
        """

    def guarded(self) -> bool:
        """Whether the database itself refuses to change the log."""

    def grant(self, service: str) -> None:
        """Give the role in that address, which is made if it is missing, what the service needs and no more."""

    def events(self, game: UUID, after: int = 0, upto: int | None = None) -> Sequence[StoredEvent]:
        """The rows of a game past version `after` up to `upto` (or the newest), versions rising."""

    def notifications(self, after: int, limit: int) -> Sequence[Notification]:
        """Up to `limit` rows past position `after`, of all games, positions rising."""

    def close(self) -> None:
        """Close all connections."""

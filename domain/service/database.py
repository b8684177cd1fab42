"""Access to ordinary tables in the ledger's database.

Rows that belong to a record are written in the transaction of its append (`Ledger.append`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from domain.errors import StoreUnavailable

_ATTEMPTS = 20

Row = tuple[Any, ...]
"""One row of a result."""

Statement = tuple[str, Sequence[object]]
"""A statement on an ordinary table and its parameters, `?` for each."""


Execute = Callable[[str, Sequence[object]], list[Row]]
"""Runs a statement in an open transaction and returns its rows."""


def placeholders(values: Sequence[object]) -> str:
    """Return a question mark for each value, for a list in a statement."""
    return ", ".join("?" * len(values))


class Database(Protocol):
    """The database of the tables: the ledger."""

    @property
    def log_id(self) -> str:
        """The id of the connected log, read within the last second: a replaced database may hold fewer records."""

    @property
    def replication_query(self) -> str:
        """Query of `replication.read_replication`: a row with timeline, confirmed, and whether there are standbys."""

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """Run one statement, `?` for each parameter; return its rows."""

    def scrub_deleted_pages(self) -> None:
        """Remove deleted rows from the files too."""

    def run_in_append_order(self, work: Callable[[Execute], None]) -> None:
        """Run `work` in one transaction that takes the append lock, so it fails where an append would fail."""


def create_tables(database: Database, statements: Iterable[str]) -> None:
    """Create missing tables and indexes with `IF NOT EXISTS` statements. Safe to repeat, also in parallel."""
    for statement in statements:
        _create_with_retries(database, statement)


def _create_with_retries(database: Database, statement: str) -> None:
    # On PostgreSQL `IF NOT EXISTS` does not separate concurrent callers: the loser gets an error, and succeeds when it
    # tries again.
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            database.execute(statement)
            return
        except StoreUnavailable:
            if not attempts_left:
                raise
            time.sleep(0.05)

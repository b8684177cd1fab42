"""Ordinary tables beside the log: in the ledger's database, reached by one statement at a time.

What belongs to a record is written with it, in the transaction of its append (`Ledger.append`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from domain.errors import StoreUnavailable

_ATTEMPTS = 20

Row = tuple[Any, ...]
"""What a statement gives, member by member."""

Statement = tuple[str, Sequence[object]]
"""A statement on an ordinary table, and its parameters: `?` for each."""


Execute = Callable[[str, Sequence[object]], list[Row]]
"""Does a statement in a transaction that is going on; its rows."""


class Database(Protocol):
    """Where the tables are: the ledger."""

    @property
    def server(self) -> str:
        """Names the log that is there, as it was told within the last second: another one may know less."""

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[Row]:
        """One statement, `?` for each parameter; its rows."""

    def wipe(self) -> None:
        """Let what was deleted be gone from the files too."""

    def among_appends(self, work: Callable[[Execute], None]) -> None:
        """Several statements in one transaction that waits where an append would wait: if it can be, so can that."""


def create(database: Database, statements: Iterable[str]) -> None:
    """Make what is missing (`IF NOT EXISTS`). May be run any number of times, also by several at once."""
    for statement in statements:
        _create(database, statement)


def _create(database: Database, statement: str) -> None:
    # On PostgreSQL `IF NOT EXISTS` does not keep concurrent callers apart: the loser is told so, and finds the table
    # there when it asks again.
    for left in reversed(range(_ATTEMPTS)):
        try:
            database.execute(statement)
            return
        except StoreUnavailable:
            if not left:
                raise
            time.sleep(0.05)

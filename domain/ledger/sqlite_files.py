"""The files of an SQLite ledger: creation, WAL mode, integrity, and deleted pages."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from domain.service.database import Row

_COMPLAINTS = 5
"""So many of them are enough to know that a backup is needed."""

_STEPS = 100_000
"""Instructions of the database's machine between two looks at the time."""

PATIENCE = 10
"""Seconds to wait for another writer."""

TRIES, PAUSE = 10, 0.05
"""How often it is tried to empty the log of last writes, and the seconds after each time."""


def unwiped(path: Path) -> Path:
    """The file that says that the log of last writes of a ledger holds what was erased."""
    return path.with_name(f"{path.name}-unwiped")


def ended(path: Path) -> None:
    """To be called once nobody has the file open: from then on all is in it, for whoever copies it alone.

    With the log of last writes goes what was erased.
    """
    written = path.with_name(f"{path.name}-wal")
    if written.exists():  # of two that close at once, each takes the other for one who reads
        name = f"{path.absolute().as_uri()}?mode=rw"  # one that is gone is not made anew: its last writes would end
        with suppress(sqlite3.Error), closing(sqlite3.connect(name, uri=True, timeout=0)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not written.exists():  # the database removes it once all of it is in the file
        unwiped(path).unlink(missing_ok=True)


def emptied(execute: Callable[[str], object], fetchone: Callable[[], Row]) -> bool:
    """Whether the log of last writes is empty now, for which nobody may be reading from it."""
    execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not fetchone()[0]:
        return True
    time.sleep(PAUSE)
    return False


def complaints(path: Path, patience: float) -> list[str]:
    """`quick_check`, which reads every page but compares no index with its table; nothing if time ran out."""
    end = time.monotonic() + patience
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as own:
        own.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        try:
            found = [str(row[0]) for row in own.execute(f"PRAGMA quick_check({_COMPLAINTS})")]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return []
    return [] if found == ["ok"] else found


def make_file(path: Path) -> None:
    # It holds what players keep secret from each other: its owner alone may read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        switch_to_wal(connection)
    finally:
        connection.close()


def switch_to_wal(connection: sqlite3.Connection) -> None:
    """The switch is kept in the file. It needs the file alone, and SQLite does not wait for that by itself."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)

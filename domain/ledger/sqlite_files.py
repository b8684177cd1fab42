"""The files of an SQLite ledger: creation, WAL mode, integrity and deleted pages."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from domain.service.database import Row

_COMPLAINTS = 5
"""Errors to list at most: they suffice to know that a backup is needed."""

_STEPS = 100_000
"""Instructions of the virtual machine between two checks of the time."""

PATIENCE = 10
"""Seconds to wait for another writer."""

TRIES, PAUSE = 10, 0.05
"""Attempts to empty the write-ahead log, and seconds after each."""


def scrub_marker(path: Path) -> Path:
    """Return the path of the file that marks erased rows in a ledger's write-ahead log."""
    return path.with_name(f"{path.name}-unwiped")


def checkpoint_closed_file(path: Path) -> None:
    """Move the write-ahead log into the file after its last user closed it, so the file can be copied alone.

    Erased rows disappear with the write-ahead log.
    """
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists():  # two processes closing at once mistake each other for readers
        name = f"{path.absolute().as_uri()}?mode=rw"  # never recreate a missing file: its last writes would be lost
        with suppress(sqlite3.Error), closing(sqlite3.connect(name, uri=True, timeout=0)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not wal.exists():  # SQLite removes it once all of it is in the file
        scrub_marker(path).unlink(missing_ok=True)


def truncate_wal(execute: Callable[[str], object], fetchone: Callable[[], Row]) -> bool:
    """Try to empty the write-ahead log, possible without readers only; return whether it is empty."""
    execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not fetchone()[0]:
        return True
    time.sleep(PAUSE)
    return False


def list_integrity_errors(path: Path, patience: float) -> list[str]:
    """Return the errors of `quick_check`, of all pages but not of indexes; none if time ran out."""
    end = time.monotonic() + patience
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as connection:
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        try:
            errors = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_COMPLAINTS})")]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return []
    return [] if errors == ["ok"] else errors


def make_file(path: Path) -> None:
    # It holds secrets of players: only its owner may read it.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        switch_to_wal(connection)
    finally:
        connection.close()


def switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL mode, for good. It needs exclusive access; SQLite does not wait for that itself."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)

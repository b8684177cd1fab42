"""Comparison of a ledger file with the tables, indexes, triggers and views that the service itself makes.

A foreign trigger or view runs when the service reads or writes, so it must not come with a backup.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from deploy.backup.source_files import BackupError
from deploy.runtime.wiring import migrate_ledger
from domain.ledger import Ledger

SCHEMA_SECONDS = 10.0
"""Longest time for reading the schema."""

MAX_STATEMENT = 100_000
"""Bytes of a statement in the schema."""

PAGE_SIZE = 4096
"""Bytes of a page of a ledger."""

_STEPS = 10_000
"""Instructions of the virtual machine between two checks of the time."""

_ESSENTIAL = ("records", "commands", "seeds")
"""Tables that every ledger has had. Later versions added others, which the next start makes."""

_MAX_NAME = 80
"""Characters of a foreign name in a message."""

_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"

_STATISTICS = {
    ("table", "sqlite_stat1"): "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    ("table", "sqlite_stat4"): "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
"""Tables that SQLite makes for ANALYZE."""

Schema = Mapping[tuple[str, str], tuple[str, str]]
"""Kind and name -> table and statement, with single spaces."""


def check_ledger_file(path: Path, source: Path) -> None:
    """Check the schema and every page of the copy of an untrusted file; make it one file, without a write-ahead log.

    The schema is checked first: nothing of it is executed before. The next start makes what an earlier version did not
    have: tables other than the essential ones, indexes, triggers. Raises BackupError with the source and the fault.
    """
    with _open_untrusted(path, source) as db:
        _check_objects(db, source, complete=True)
        finding = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if finding != "ok":
            raise BackupError(f"{source} is damaged: {finding}")
        db.execute("PRAGMA journal_mode=DELETE")  # one file


def check_schema(path: Path, source: Path) -> None:
    """Check the schema of the copy of an untrusted file. Tables may be missing, pages damaged. Raises BackupError."""
    with _open_untrusted(path, source) as db:
        _check_objects(db, source, complete=False)


@contextmanager
def _open_untrusted(path: Path, source: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA cell_size_check=ON")
            yield db
    except (sqlite3.Error, UnicodeError) as error:
        raise BackupError(f"{source} is not a ledger: {error}") from error


def _check_objects(db: sqlite3.Connection, source: Path, *, complete: bool) -> None:
    if fault := next(_find_faults(_read_schema(db), complete=complete), ""):
        raise BackupError(f"{source} is not a ledger of this service: {fault}")
    size = db.execute("PRAGMA page_size").fetchone()[0]
    if size != PAGE_SIZE:
        raise BackupError(f"{source} has pages of {size} bytes, and a ledger has pages of {PAGE_SIZE}")


def _read_schema(db: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_STATEMENT)
    end = time.monotonic() + SCHEMA_SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    most = len(make_schema()) + len(_STATISTICS) + 1  # one more than there may be is a fault
    rows = db.execute(_SCHEMA).fetchmany(most)
    db.set_progress_handler(None, 0)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**30)
    return [(str(kind), str(name), str(table), _normalize(sql)) for kind, name, table, sql in rows]


def _find_faults(rows: list[tuple[str, str, str, str]], *, complete: bool) -> Iterator[str]:
    """Yield foreign objects, differing ones, and with `complete` missing essential tables."""
    own, seen = make_schema(), set[tuple[str, str]]()
    for kind, name, table, sql in rows:
        key, shown = (kind, name), f"the {kind[:_MAX_NAME]} {name[:_MAX_NAME]}"
        if key in seen or (key not in own and _STATISTICS.get(key) != sql):
            yield f"{shown} is foreign"
        elif key in own and own[key] != (table, sql):
            yield f"{shown} is not the one that the service makes"
        seen.add(key)
    if complete:
        yield from (f"the table {name} is missing" for name in _ESSENTIAL if ("table", name) not in seen)


@functools.cache
def make_schema() -> Schema:
    """Return the schema of a new ledger."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{quote(folder)}/ledger.sqlite"
        with closing(Ledger.open(url, os.urandom(32))) as ledger:
            migrate_ledger(ledger)
            rows = ledger.execute(_SCHEMA)
    return {(kind, name): (table, _normalize(sql)) for kind, name, table, sql in rows}


def _normalize(statement: object) -> str:
    """Return a statement with single spaces; empty for an index that SQLite makes for a key."""
    return "" if statement is None else " ".join(str(statement).split())

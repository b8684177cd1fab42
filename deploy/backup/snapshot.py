"""Backups of a data folder with SQLite: the ledger with all its tables, and the key of its seeds.

Views are not copied, since they are rebuilt from the ledger.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from deploy.backup import point_in_time
from deploy.backup.point_in_time import RestoredSnapshot
from deploy.backup.schema_check import check_ledger_file
from deploy.backup.source_files import MAX_DOCUMENT, BackupError, copy_source, parse_document, read_source
from deploy.backup.wal_files import sync, write_file
from deploy.config.key_files import read_key
from deploy.config.settings import Settings, SettingsError
from deploy.runtime.supervisor import hold_lock
from domain.service.keyring import fingerprint
from domain.transparency.checkpoint_store import RESTORED

LEDGER, KEY, MANIFEST = "ledger.sqlite", "key", "backup.json"
FORMAT = 1


def take_snapshot(settings: Settings, to: Path) -> None:
    """Copy ledger and key into a new or empty folder, also while the service runs. Raises SettingsError."""
    _require_sqlite(settings)
    if not settings.ledger_file.exists():
        raise SettingsError(f"{settings.ledger_file} does not exist: there is nothing to copy")
    to.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(to.iterdir()):
        raise SettingsError(f"{to} is not empty")
    try:
        _write_snapshot(settings, to)
    except (OSError, sqlite3.Error, SettingsError) as error:  # half a copy takes space and contains the key
        for path in (to / KEY, *_database_files(to / LEDGER)):
            path.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise SettingsError(f"{settings.ledger_file} cannot be copied to {to}: {error}") from error
        raise


def _write_snapshot(settings: Settings, to: Path) -> None:
    write_file(to / KEY, settings.load_key().hex().encode() + b"\n")
    _copy_database(settings.ledger_file, to / LEDGER)
    key = fingerprint(settings.load_key())
    if not _opens_with(to / LEDGER, key):
        raise SettingsError("the master key does not open the copy: it is another ledger's, or was changed meanwhile")
    about = {"annals": FORMAT, "records": _count_records(to / LEDGER), "sha256": _hash_file(to / LEDGER), "key": key}
    write_file(to / MANIFEST, json.dumps(about).encode() + b"\n")  # last: a copy without it is incomplete


def restore_snapshot(settings: Settings, source: Path, until: int | None = None) -> RestoredSnapshot | None:
    """Make a data folder from a backup, never over a ledger or another key. Raises SettingsError.

    A running backup is restored as of its last commit, or up to the time `until`, ms; its restored state is returned.
    A backup that is refused leaves nothing behind.
    """
    _require_sqlite(settings)
    with _make_data_folder(settings), hold_lock(settings.data / "lock"):  # a service started now would lose its ledger
        try:
            return _restore_snapshot(settings, source, until)
        finally:
            _remove_database(_draft_path(settings))  # of a failed restore


@contextmanager
def _make_data_folder(settings: Settings) -> Iterator[None]:
    """Make the data folder if it is missing. If the block fails, remove what was made."""
    lock = settings.data / "lock"
    had_folder, had_lock = settings.data.exists(), lock.exists()
    settings.make_data_folder()
    try:
        yield
    except Exception:
        if not had_lock:
            lock.unlink(missing_ok=True)
        if not had_folder:
            with suppress(OSError):
                settings.data.rmdir()
        raise


def _restore_snapshot(settings: Settings, source: Path, until: int | None) -> RestoredSnapshot | None:
    running = point_in_time.is_running_backup(source)
    if until is not None and not running:
        raise SettingsError(f"{source} is one moment: --at is for a running backup")
    draft = _draft_path(settings)
    _remove_database(draft)  # of a killed restore
    for path in (*_database_files(settings.ledger_file), *_database_files(settings.views_file)):
        if path.exists():
            raise _occupied_error(path)
    restored = point_in_time.restore_ledger(source, until, draft) if running else None
    if restored is None:
        _copy_snapshot(source, draft)
    check_ledger_file(draft, restored.base.folder if restored else source / LEDGER)
    place = (restored.base.folder if restored else source) / KEY
    read_source(place, MAX_DOCUMENT)  # refuses a pipe or a link
    key = read_key(place)
    if not _opens_with(draft, fingerprint(key)):
        raise SettingsError(f"{place} does not open the ledger beside it: bring the key with which the copy was made")
    if settings.key_file.exists() and read_key(settings.key_file) != key:
        raise _occupied_error(settings.key_file)
    write_file(settings.key_file, key.hex().encode() + b"\n")
    _halt_signing(draft)
    sync(draft)
    draft.rename(settings.ledger_file)
    sync(settings.data)
    return restored


def _halt_signing(ledger: Path) -> None:
    """Let nothing be signed until an operator has compared: larger checkpoints may have been signed since the copy.

    The key as a witness ends: the service may have cosigned larger checkpoints of others with it.
    """
    now = int(time.time() * 1000)
    with closing(sqlite3.connect(ledger)) as db, db, suppress(sqlite3.OperationalError):  # an older ledger has no table
        db.execute("INSERT OR IGNORE INTO signing_halts VALUES (?, ?)", (RESTORED, now))
        db.execute("UPDATE witness_keys SET until = ? WHERE until = 0", (now,))


def _draft_path(settings: Settings) -> Path:
    return settings.ledger_file.with_suffix(".restoring")


def _database_files(database: Path) -> list[Path]:
    """Return the files of an SQLite database: a leftover WAL would be applied to the next database."""
    return [database, *(database.with_name(f"{database.name}-{end}") for end in ("wal", "shm", "journal"))]


def _remove_database(database: Path) -> None:
    for path in _database_files(database):
        path.unlink(missing_ok=True)


def _occupied_error(path: Path) -> SettingsError:
    return SettingsError(f"{path} exists: a backup is put back into an empty folder")


def _require_sqlite(settings: Settings) -> None:
    if not settings.sqlite:
        raise SettingsError("with PostgreSQL use its own tools (pg_dump, base backups), and keep a copy of the key")


def _copy_snapshot(source: Path, draft: Path) -> None:
    """Copy the ledger of a backup of one moment. Raises BackupError unless it is whole."""
    try:
        about = parse_document(read_source(source / MANIFEST, MAX_DOCUMENT))
        is_whole = about.get("annals") == FORMAT and copy_source(source / LEDGER, draft) == about.get("sha256")
    except (FileNotFoundError, NotADirectoryError, ValueError):
        is_whole = False
    if not is_whole:
        raise BackupError(f"{source} is not a whole backup")


def _copy_database(path: Path, to: Path) -> None:
    """Copy a database by SQLite's backup API: a consistent snapshot, also during writes. Raises SettingsError."""
    write_file(to, b"")
    with closing(sqlite3.connect(path, timeout=10)) as live, closing(sqlite3.connect(to)) as copy:
        live.backup(copy)  # in one step: readers do not block writers, and a copy in steps restarts after each write
        finding = copy.execute("PRAGMA integrity_check").fetchone()[0]
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a WAL
    if finding != "ok":
        raise SettingsError(f"the copy of {path} is damaged: {finding}")


def _count_records(path: Path) -> int:
    with closing(sqlite3.connect(path)) as copy:
        return int(copy.execute("SELECT count(*) FROM records").fetchone()[0])


def _opens_with(path: Path, mark: str) -> bool:
    """Return whether the key with this fingerprint opens the copy; without a keyring any key counts."""
    with closing(sqlite3.connect(path)) as copy:
        if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'keyring'").fetchone():
            return True
        marks = {found for (found,) in copy.execute("SELECT mark FROM keyring")}
    return not marks or mark in marks


def _hash_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""

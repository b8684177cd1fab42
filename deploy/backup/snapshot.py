"""Backups of a data folder with SQLite: the ledger with its ordinary tables, and the key that opens its seeds.

The views are not copied: they are made from the ledger.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from deploy.backup import point_in_time
from deploy.backup.point_in_time import Moment
from deploy.backup.wal_files import synced, write
from deploy.config.key_files import key_in
from deploy.config.settings import Settings, SettingsError
from deploy.runtime.supervisor import alone
from domain.service.keyring import fingerprint
from domain.types import Json

LEDGER, KEY, ABOUT = "ledger.sqlite", "key", "backup.json"
FORMAT = 1


def take(settings: Settings, to: Path) -> None:
    """Copy into a new or empty folder, also while the service runs; raises SettingsError."""
    _only_sqlite(settings)
    if not settings.ledger_file.exists():
        raise SettingsError(f"{settings.ledger_file} does not exist: there is nothing to copy")
    to.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(to.iterdir()):
        raise SettingsError(f"{to} is not empty")
    try:
        _take(settings, to)
    except (OSError, sqlite3.Error, SettingsError) as error:  # half a copy takes room, and holds the key
        for path in (to / KEY, *_files(to / LEDGER)):
            path.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise SettingsError(f"{settings.ledger_file} cannot be copied to {to}: {error}") from error
        raise


def _take(settings: Settings, to: Path) -> None:
    write(to / KEY, settings.key().hex().encode() + b"\n")
    _copy(settings.ledger_file, to / LEDGER)
    key = fingerprint(settings.key())
    if not _opened_by(to / LEDGER, key):
        raise SettingsError("the master key does not open the copy: it is another ledger's, or was changed meanwhile")
    about = {"annals": FORMAT, "records": _records(to / LEDGER), "sha256": _hash(to / LEDGER), "key": key}
    write(to / ABOUT, json.dumps(about).encode() + b"\n")  # last: a copy without it was cut short


def put_back(settings: Settings, source: Path, until: int | None = None) -> Moment | None:
    """Make the data folder of a backup; never over one that has a ledger or a key. Raises SettingsError.

    Of a running backup as it was last, or at the last moment up to that time (ms); gives that moment.
    """
    _only_sqlite(settings)
    settings.prepare()
    with alone(settings.data / "lock"):  # a service that was started meanwhile would lose its ledger
        try:
            return _put_back(settings, source, until)
        finally:
            _remove(_draft(settings))  # of one that failed


def _put_back(settings: Settings, source: Path, until: int | None) -> Moment | None:
    running = point_in_time.is_running_backup(source)
    if until is not None and not running:
        raise SettingsError(f"{source} is one moment: --at is for a running backup")
    about = {} if running else _about(source)
    if not running and (about.get("annals") != FORMAT or _hash(source / LEDGER) != about.get("sha256")):
        raise SettingsError(f"{source} is not a whole backup")
    draft = _draft(settings)
    _remove(draft)  # of one that was killed
    for path in (*_files(settings.ledger_file), *_files(settings.views_file)):
        if path.exists():
            raise _occupied(path)
    made = point_in_time.make(source, until, draft) if running else None
    if made is None:
        shutil.copyfile(source / LEDGER, draft)
        draft.chmod(0o600)
    place = (made.generation.folder if made else source) / KEY
    key = key_in(place)
    if not _opened_by(draft, fingerprint(key)):
        raise SettingsError(f"{place} does not open the ledger beside it: bring the key with which the copy was made")
    if settings.key_file.exists() and key_in(settings.key_file) != key:
        raise _occupied(settings.key_file)
    write(settings.key_file, key.hex().encode() + b"\n")
    synced(draft)
    draft.rename(settings.ledger_file)
    synced(settings.data)
    return made


def _draft(settings: Settings) -> Path:
    return settings.ledger_file.with_suffix(".restoring")


def _files(database: Path) -> list[Path]:
    """A database of SQLite, and what stands beside it: a log that was left would be put into the next one."""
    return [database, *(database.with_name(f"{database.name}-{end}") for end in ("wal", "shm", "journal"))]


def _remove(database: Path) -> None:
    for path in _files(database):
        path.unlink(missing_ok=True)


def _occupied(path: Path) -> SettingsError:
    return SettingsError(f"{path} exists: a backup is put back into an empty folder")


def _only_sqlite(settings: Settings) -> None:
    if not settings.sqlite:
        raise SettingsError("with PostgreSQL use its own tools (pg_dump, base backups), and keep a copy of the key")


def _about(source: Path) -> dict[str, Json]:
    try:
        return dict(json.loads((source / ABOUT).read_text()))
    except (OSError, ValueError, TypeError):
        raise SettingsError(f"{source} is not a whole backup") from None


def _copy(path: Path, to: Path) -> None:
    """SQLite's own copy: one moment of the database, whatever is written meanwhile."""
    write(to, b"")
    with closing(sqlite3.connect(path, timeout=10)) as live, closing(sqlite3.connect(to)) as copy:
        live.backup(copy)  # in one go: readers do not hold up writers, and a copy in parts begins anew with each write
        found = copy.execute("PRAGMA integrity_check").fetchone()[0]
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    if found != "ok":
        raise SettingsError(f"the copy of {path} is damaged: {found}")


def _records(path: Path) -> int:
    with closing(sqlite3.connect(path)) as copy:
        return int(copy.execute("SELECT count(*) FROM records").fetchone()[0])


def _opened_by(path: Path, mark: str) -> bool:
    """Whether the key of that mark opens the copy; one without a ring opens with the key that made it."""
    with closing(sqlite3.connect(path)) as copy:
        if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'keyring'").fetchone():
            return True
        marks = {found for (found,) in copy.execute("SELECT mark FROM keyring")}
    return not marks or mark in marks


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""

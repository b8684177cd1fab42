"""The running backup of SQLite: a base backup each day, and all commits after it within seconds.

Each base backup has a folder: `base.sqlite`, the key, `base.json`, and segments of the write-ahead log (WAL), each a
line of JSON and compressed frames. A backup contains all tables. Deleted data are gone from it after the earlier base
backups have expired.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from deploy.backup.source_files import MAX_DOCUMENT
from deploy.backup.wal_files import (
    BASE,
    FOLDER_NAME,
    FORMAT,
    KEY,
    MANIFEST,
    MAX_SEGMENT,
    BaseBackup,
    WalSegment,
    hash_file,
    lock_folder,
    sync,
    write_file,
)
from deploy.backup.wal_reader import GapError, Result, UnsettledError, WalPosition, WalReader
from deploy.config.settings import Settings, SettingsError
from domain.errors import StoreUnavailable
from domain.ledger.sqlite_files import scrub_marker, truncate_wal
from domain.service.service_clock import sum_jumps
from domain.types import Doc
from projections.leases import load_progress, save_progress
from projections.view_store import ViewStore

DAY, HOUR = 24 * 3600 * 1000, 3600 * 1000
"""ms between two base backups: normally, and after data were erased."""

CHECK_PERIOD = 1.0
"""Seconds between two checks of the WAL."""

ARCHIVE_PERIOD = 10.0
"""Seconds after which new frames are archived."""

MAX_WAL_FRAMES = 1000
"""Frames of the WAL after which it is archived at once, then checkpointed."""

PAGES_PER_STEP = 4096
"""Pages copied in one step, and frames of one segment unless a single commit has more."""

STUCK_SECONDS = 120.0
"""Seconds without progress after which the backup counts as stuck."""

RETRY_PAUSES = (5.0, 600.0)
"""Seconds before a retry: after the first failure, and at most."""

PROGRESS_NAME = "backup"
"""Name of the progress document: `upto`, all commits before it are archived, or `since`, none is yet; ms."""

log = logging.getLogger("annals.backup")


class WalArchiver:
    """Archives the WAL step by step; `clock` gives ms. Steps raise OSError, sqlite3.Error and GapError."""

    def __init__(self, settings: Settings, folder: Path, clock: Callable[[], int]) -> None:
        self._settings, self._folder, self._clock = settings, folder, clock
        self._reader: WalReader | None = None
        self._lock: int | None = None
        self._base: BaseBackup | None = None
        self._position = WalPosition()
        self._epoch = 0
        self.alive = time.monotonic()

    def begin(self) -> None:
        """Continue after the last segment if no commit is missing, else make a base backup."""
        self.release()
        self._lock = lock_folder(self._folder)
        self._reader = WalReader(self._settings.ledger_file)
        known = BaseBackup.list_all(self._folder)
        if known and self._has_current_key(known[-1]) and self._resume(known[-1], self._reader):
            return
        self._make_base_backup()

    def _resume(self, base: BaseBackup, reader: WalReader) -> bool:
        segments = base.list_segments()
        try:
            last = WalSegment.load(segments[-1]) if segments else None
        except (OSError, ValueError, KeyError, TypeError, zlib.error):  # a base backup needs no earlier segment
            return False
        if last is None or not reader.has_all_since(last.position):
            return False
        self._base, self._position, self._epoch = base, last.position, last.epoch
        return True

    def _has_current_key(self, base: BaseBackup) -> bool:
        """Return whether the base backup contains the current master key: an old key opens no later data."""
        with suppress(OSError):
            return (base.folder / KEY).read_text("utf-8").strip() == self._settings.load_key().hex()
        return False

    def release(self) -> None:
        """Release the WAL and the lock of the folder."""
        tail, self._reader, self._base = self._reader, None, None
        if tail:
            tail.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    @property
    def has_begun(self) -> bool:
        """Tells that archiving has begun: no commit can be missed."""
        return self._reader is not None and self._base is not None

    @property
    def _open_reader(self) -> WalReader:
        if self._reader is None:
            raise GapError("nothing is begun")
        return self._reader

    @property
    def _current_base(self) -> BaseBackup:
        if self._base is None:
            raise GapError("nothing is begun")
        return self._base

    def count_frames(self) -> int:
        """Return the number of frames of the WAL; 0 if unknown."""
        with suppress(UnsettledError):
            return self._open_reader.count_frames()
        return 0

    def step(self) -> int:
        """Archive all new commits; return the time, ms, up to which the backup is complete."""
        if not self._has_current_key(self._current_base):
            self._make_base_backup()
        at = self._archive_frames()
        if self._clock() - self._current_base.at > (HOUR if self._must_wipe() else DAY):
            self._wipe_wal()  # first archived above, in case this base backup fails
            self._make_base_backup()
            at = self._archive_frames()
        self._open_reader.advance()
        if self.count_frames() >= MAX_WAL_FRAMES:
            # Stored after the lock is released: writers do not wait for the backup's disk.
            self._store_segment(self._open_reader.restart_wal(self._read_segment))
        self.alive = time.monotonic()
        return at

    def _must_wipe(self) -> bool:
        return scrub_marker(self._settings.ledger_file).exists()

    def _wipe_wal(self) -> None:
        """Truncate the WAL to remove erased data; a base backup must follow."""
        if not self._must_wipe():
            return
        self._open_reader.close()
        self._base = None  # some commits may be in no segment
        with closing(sqlite3.connect(self._settings.ledger_file, timeout=0)) as db:
            cursor = db.cursor()
            if any(truncate_wal(cursor.execute, cursor.fetchone) for _ in range(10)):
                scrub_marker(self._settings.ledger_file).unlink(missing_ok=True)
        self._reader = WalReader(self._settings.ledger_file)

    def _archive_frames(self) -> int:
        """Archive new frames in pieces, since they can exceed the memory. Return the time before the first, ms."""
        at, frames = self._clock(), self._read_settled(self._open_reader.count_frames)
        segment = self._read_segment(PAGES_PER_STEP)
        while segment.data and segment.position.frames < frames:
            self._store_segment(segment)
            self._note_progress()
            segment = self._read_segment(PAGES_PER_STEP)
        self._store_segment(segment)
        return at

    def _read_segment(self, most: int | None = None) -> WalSegment:
        """Return the frames of the WAL after the last segment, perhaps none; `most` as in `WalReader.read_since`."""
        at = self._clock()
        position, data = self._read_settled(lambda: self._open_reader.read_since(self._position, most))
        is_new = position.salt != self._position.salt
        return WalSegment(self._epoch + is_new, 0 if is_new else self._position.frames, position, at, data)

    def _read_settled(self, read: Callable[[], Result]) -> Result:
        """Return the result of `read`, repeated while a commit is being written. Raises GapError."""
        for _ in range(100):
            with suppress(UnsettledError):
                return read()
            time.sleep(0.01)
        raise GapError("the log does not come to rest")

    def _store_segment(self, segment: WalSegment | None) -> None:
        if segment and len(segment.data) > MAX_SEGMENT - MAX_DOCUMENT:
            raise GapError("a commit is too large for a segment")
        if segment and segment.data:
            segment.write(self._current_base.folder)
            self._position, self._epoch = segment.position, segment.epoch

    def _make_base_backup(self) -> None:
        """Make a base backup; the WAL is then archived from its beginning, since replaying older frames is harmless."""
        self._remove_unfinished()
        at = self._clock()
        self._open_reader.advance()
        self._remove_expired()  # first, to free space for the new one
        folder = self._folder / datetime.fromtimestamp(at / 1000, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        folder.mkdir(mode=0o700)
        try:
            self._write_base_backup(folder, at)
        except (OSError, sqlite3.Error):  # on a full disk, half a copy would take the space of others
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _write_base_backup(self, folder: Path, at: int) -> None:
        sync(self._folder)
        with closing(sqlite3.connect(folder / BASE)) as copy:
            (folder / BASE).chmod(0o600)
            # Piece by piece: one sync of the whole file may take longer than `STUCK_SECONDS`.
            with (folder / BASE).open("rb") as file:
                self._open_reader.connection.backup(
                    copy, pages=PAGES_PER_STEP, progress=lambda *_: self._sync_file(file)
                )
            copy.set_progress_handler(self._note_progress, 1_000_000)
            sound = copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        if not sound:
            log.error("the whole copy is damaged, as the ledger is: older ones are kept")
        hashed = hash_file(folder / BASE, self._note_progress)
        write_file(folder / KEY, self._settings.load_key().hex().encode() + b"\n")
        number = max((g.number for g in BaseBackup.list_all(self._folder)), default=0) + 1
        about: Doc = {"annals": FORMAT, "number": number, "at": at, "sha256": hashed, "sound": sound}
        # Last: a base backup without it is incomplete.
        write_file(folder / MANIFEST, json.dumps(about).encode() + b"\n")
        self._base = BaseBackup(folder, number, at, sound, hashed)
        self._position = WalPosition()
        self._epoch = 0

    def _sync_file(self, file: BinaryIO) -> None:
        """Write the copied pages to disk."""
        os.fsync(file.fileno())
        self._note_progress()

    def _note_progress(self, *_: int) -> None:
        self.alive = time.monotonic()

    def _remove_unfinished(self) -> None:
        """Delete incomplete base backups."""
        for path in self._folder.iterdir():
            if FOLDER_NAME.fullmatch(path.name) and path.is_dir() and not (path / MANIFEST).exists():
                shutil.rmtree(path)

    def _remove_expired(self) -> None:
        """Delete base backups not needed for any time in the last `backup_days`."""
        known = BaseBackup.list_all(self._folder)
        enough = [
            n for n, g in enumerate(known) if g.sound and self._compute_age(g) >= self._settings.backup_days * DAY
        ]
        for generation in known[: enough[-1] if enough else 0]:
            (generation.folder / MANIFEST).unlink()  # first: a folder without it is no base backup
            shutil.rmtree(generation.folder)

    def _compute_age(self, base: BaseBackup) -> int:
        """Return the age of a base backup, ms, without forward jumps of the clock."""
        reader = self._open_reader.connection
        ahead = sum_jumps(lambda statement, params: reader.execute(statement, params).fetchall(), base.at)
        return self._clock() - base.at - ahead


class RunningBackup:
    """The thread of the running backup. A full, missing or frozen folder affects only the backup."""

    def __init__(self, settings: Settings, views: ViewStore, clock: Callable[[], int]) -> None:
        if settings.backup is None:
            raise SettingsError("ANNALS_BACKUP is not set")
        self._views, self._clock, self._folder = views, clock, settings.backup
        self._archiver = WalArchiver(settings, settings.backup, clock)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backup", daemon=True)
        self._last_error = ""

    def start(self) -> None:
        """Start the thread; call once."""
        if not load_progress(self._views, PROGRESS_NAME):
            self._save_progress({"since": self._clock()})
        with suppress(OSError):  # reported by the first step
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread.start()

    def is_stuck(self) -> bool:
        """Return whether there was no progress for STUCK_SECONDS, as on a frozen file system."""
        return self._thread.is_alive() and time.monotonic() > self._archiver.alive + STUCK_SECONDS

    def stop(self) -> None:
        """Archive the rest and stop the thread; give up after 5 s."""
        self._stopping.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        pause, shipped = RETRY_PAUSES[0], 0.0
        while True:
            over = self._stopping.is_set()
            due = over or time.monotonic() > shipped + ARCHIVE_PERIOD
            if self.step(due=due):
                shipped = time.monotonic() if due else shipped
                self._archiver.alive = time.monotonic()
                wait = CHECK_PERIOD
                pause = RETRY_PAUSES[0]
            else:
                wait, pause = pause, min(pause * 2, RETRY_PAUSES[1])
            if over:
                self._archiver.release()
                return
            self._wait(wait)

    def step(self, *, due: bool = True) -> bool:
        """Archive new commits if `due` or if there are many; return whether that succeeded."""
        try:
            if not self._archiver.has_begun:
                self._archiver.begin()
            if due or self._archiver.count_frames() >= MAX_WAL_FRAMES:
                self._note_success(self._archiver.step())
        except (OSError, sqlite3.Error, GapError, SettingsError) as error:
            self._handle_failure(error)
            return False
        return True

    def _wait(self, seconds: float) -> None:
        """Wait, and count the time as progress: a pause is not a frozen folder."""
        end = time.monotonic() + seconds
        while not self._stopping.wait(min(max(end - time.monotonic(), 0), CHECK_PERIOD)) and time.monotonic() < end:
            self._archiver.alive = time.monotonic()

    def _note_success(self, upto: int) -> None:
        self._last_error = ""
        self._save_progress({"upto": upto})

    def _save_progress(self, doc: Doc) -> None:
        try:
            with self._views.transaction() as db:
                save_progress(db, PROGRESS_NAME, doc)
        except StoreUnavailable as error:
            log.warning("how far the backup is cannot be written down: %s", error)

    def _handle_failure(self, error: Exception) -> None:
        """Log a new error and release the WAL: otherwise it would grow while the folder is unavailable."""
        self._archiver.release()
        self._archiver.alive = time.monotonic()
        if str(error) != self._last_error:
            self._last_error = str(error)
            log.error("the running backup stands still: %s", error)

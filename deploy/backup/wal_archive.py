"""The running backup of SQLite: a whole copy each day, and between two of them all commits, seconds after each.

A folder for each copy: `base.sqlite`, the key, `base.json`, and segments of the write-ahead log, each a line of JSON
and compressed frames. Whatever the database holds is in it, whichever table; what is deleted there is gone from here
once the copies are that were made before.
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

from deploy.backup.wal_files import (
    ABOUT,
    BASE,
    FOLDER,
    FORMAT,
    KEY,
    Generation,
    Segment,
    hash_of,
    synced,
    taken,
    write,
)
from deploy.backup.wal_reader import GapError, Mark, Read, Tail, UnsettledError
from deploy.config.settings import Settings, SettingsError
from domain.errors import StoreUnavailable
from domain.ledger.sqlite_files import scrub_marker, truncate_wal
from domain.service.service_clock import sum_jumps
from domain.types import Doc
from projections.leases import load_progress, save_progress
from projections.view_store import ViewStore

DAY, HOUR = 24 * 3600 * 1000, 3600 * 1000
"""ms between two whole copies: as a rule, and where something was erased."""

LOOK = 1.0
"""Seconds between two looks at the log."""

SHIP = 10.0
"""Seconds after which what there is is copied."""

FULL = 1000
"""Frames of the log after which it is copied at once, and then put into the database."""

PAGES = 4096
"""Pages of the whole copy in one step, and frames of one segment unless a single commit has more."""

STUCK = 120.0
"""Seconds without any progress after which the folder hangs."""

PAUSES = (5.0, 600.0)
"""Seconds before it is tried again after a failure: the first time, and at most."""

WORK = "backup"
"""What its progress is called: `upto`, before which nothing is missing, or `since` when nothing was copied, ms."""

log = logging.getLogger("annals.backup")


class Copier:
    """Copies, one step after the other; `clock` gives ms. Steps raise OSError, sqlite3.Error and GapError."""

    def __init__(self, settings: Settings, folder: Path, clock: Callable[[], int]) -> None:
        self._settings, self._folder, self._clock = settings, folder, clock
        self._tail: Tail | None = None
        self._lock: int | None = None
        self._generation: Generation | None = None
        self._mark, self._epoch = Mark(), 0
        self.alive = time.monotonic()

    def begin(self) -> None:
        """Go on where the last segment ended if nothing is missing since, else with a whole copy."""
        self.let_go()
        self._lock = taken(self._folder)
        self._tail = Tail(self._settings.ledger_file)
        known = Generation.all(self._folder)
        if known and self._keyed(known[-1]) and self._continued(known[-1], self._tail):
            return
        self._copy()

    def _continued(self, generation: Generation, tail: Tail) -> bool:
        segments = generation.segments()
        try:
            last = Segment.read(segments[-1]) if segments else None
        except (OSError, ValueError, KeyError, TypeError, zlib.error):  # a whole copy asks for none of it
            return False
        if last is None or not tail.follows(last.mark):
            return False
        self._generation, self._mark, self._epoch = generation, last.mark, last.epoch
        return True

    def _keyed(self, generation: Generation) -> bool:
        """Whether it has the master key of now: one that was changed opens nothing of what is written later."""
        with suppress(OSError):
            return (generation.folder / KEY).read_text().strip() == self._settings.key().hex()
        return False

    def let_go(self) -> None:
        """The log may end without us, and another may have the folder."""
        tail, self._tail, self._generation = self._tail, None, None
        if tail:
            tail.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    @property
    def begun(self) -> bool:
        """Whether nothing can be lost now."""
        return self._tail is not None and self._generation is not None

    @property
    def _open(self) -> Tail:
        if self._tail is None:
            raise GapError("nothing is begun")
        return self._tail

    @property
    def _whole(self) -> Generation:
        if self._generation is None:
            raise GapError("nothing is begun")
        return self._generation

    def waiting(self) -> int:
        """Frames of the log."""
        with suppress(UnsettledError):
            return self._open.frames()
        return 0

    def step(self) -> int:
        """Copy what was written since the last step; returns the time before which nothing is missing now, ms."""
        if not self._keyed(self._whole):
            self._copy()
        at = self._ship()
        if self._clock() - self._whole.at > (HOUR if self._unwiped() else DAY):
            self._wipe()  # what the copy before lacks is in it now, if this one fails
            self._copy()
            at = self._ship()
        self._open.renew()
        if self.waiting() >= FULL:
            self._kept(self._open.end(self._read))  # written later: nobody waits for the folder
        self.alive = time.monotonic()
        return at

    def _unwiped(self) -> bool:
        return scrub_marker(self._settings.ledger_file).exists()

    def _wipe(self) -> None:
        """What was erased leaves the log of last writes, which ends with it: a whole copy has to follow."""
        if not self._unwiped():
            return
        self._open.close()
        self._generation = None  # there may be commits that no segment will have
        with closing(sqlite3.connect(self._settings.ledger_file, timeout=0)) as db:
            found = db.cursor()
            if any(truncate_wal(found.execute, found.fetchone) for _ in range(10)):
                scrub_marker(self._settings.ledger_file).unlink(missing_ok=True)
        self._tail = Tail(self._settings.ledger_file)

    def _ship(self) -> int:
        """In pieces: what has piled up may be more than the memory, or a slow folder, takes at once."""
        at, frames = self._clock(), self._calm(self._open.frames)
        found = self._read(PAGES)
        while found.data and found.mark.frames < frames:
            self._kept(found)
            self._progress()
            found = self._read(PAGES)
        self._kept(found)
        return at

    def _read(self, most: int | None = None) -> Segment:
        """What the log holds that no segment has; it may be nothing. At most so many frames, as `Tail.since`."""
        at = self._clock()
        mark, data = self._calm(lambda: self._open.since(self._mark, most))
        other = mark.salt != self._mark.salt
        return Segment(self._epoch + other, 0 if other else self._mark.frames, mark, at, data)

    def _calm(self, read: Callable[[], Read]) -> Read:
        """What is read once nobody writes for a moment."""
        for _ in range(100):
            with suppress(UnsettledError):
                return read()
            time.sleep(0.01)
        raise GapError("the log does not come to rest")

    def _kept(self, found: Segment | None) -> None:
        if found and found.data:
            found.write(self._whole.folder)
            self._mark, self._epoch = found.mark, found.epoch

    def _copy(self) -> None:
        """A whole copy, and then the log from its beginning: what it holds of before the copy changes nothing."""
        self._sweep()
        at = self._clock()
        self._open.renew()
        self._expire()  # first: what nobody needs any more may have the room of the next one
        folder = self._folder / datetime.fromtimestamp(at / 1000, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        folder.mkdir(mode=0o700)
        try:
            self._fill(folder, at)
        except (OSError, sqlite3.Error):  # on a full disk half a copy would take the room of others
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _fill(self, folder: Path, at: int) -> None:
        synced(self._folder)
        with closing(sqlite3.connect(folder / BASE)) as copy:
            (folder / BASE).chmod(0o600)
            with (folder / BASE).open("rb") as made:  # piece by piece: the whole at once may take longer than `STUCK`
                self._open.reader.backup(copy, pages=PAGES, progress=lambda *_: self._settle(made))
            copy.set_progress_handler(self._progress, 1_000_000)
            sound = copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        if not sound:
            log.error("the whole copy is damaged, as the ledger is: older ones are kept")
        hashed = hash_of(folder / BASE, self._progress)
        write(folder / KEY, self._settings.key().hex().encode() + b"\n")
        number = max((g.number for g in Generation.all(self._folder)), default=0) + 1
        about: Doc = {"annals": FORMAT, "number": number, "at": at, "sha256": hashed, "sound": sound}
        write(folder / ABOUT, json.dumps(about).encode() + b"\n")  # last: one without it was cut short
        self._generation, self._mark, self._epoch = Generation(folder, number, at, sound, hashed), Mark(), 0

    def _settle(self, made: BinaryIO) -> None:
        """What was written so far is on the disk."""
        os.fsync(made.fileno())
        self._progress()

    def _progress(self, *_: int) -> None:
        self.alive = time.monotonic()

    def _sweep(self) -> None:
        """What was cut short."""
        for path in self._folder.iterdir():
            if FOLDER.fullmatch(path.name) and path.is_dir() and not (path / ABOUT).exists():
                shutil.rmtree(path)

    def _expire(self) -> None:
        """Copies that are needed for no moment of the last days; the newest sound one is needed for all."""
        known = Generation.all(self._folder)
        enough = [n for n, g in enumerate(known) if g.sound and self._age(g) >= self._settings.backup_days * DAY]
        for generation in known[: enough[-1] if enough else 0]:
            (generation.folder / ABOUT).unlink()  # first: half of one is none
            shutil.rmtree(generation.folder)

    def _age(self, generation: Generation) -> int:
        """In ms. A clock that was set forward has made none older."""
        reader = self._open.reader
        ahead = sum_jumps(lambda statement, params: reader.execute(statement, params).fetchall(), generation.at)
        return self._clock() - generation.at - ahead


class RunningBackup:
    """The thread that copies. A folder that is full, away or frozen harms nobody but the backup."""

    def __init__(self, settings: Settings, views: ViewStore, clock: Callable[[], int]) -> None:
        if settings.backup is None:
            raise SettingsError("ANNALS_BACKUP is not set")
        self._views, self._clock, self._folder = views, clock, settings.backup
        self._copier = Copier(settings, settings.backup, clock)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backup", daemon=True)
        self._said = ""

    def start(self) -> None:
        """Once."""
        if not load_progress(self._views, WORK):
            self._note({"since": self._clock()})
        with suppress(OSError):  # told by the first step
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._thread.start()

    def is_stuck(self) -> bool:
        """Whether nothing has moved for long, as where a file system is frozen."""
        return self._thread.is_alive() and time.monotonic() > self._copier.alive + STUCK

    def stop(self) -> None:
        """Copy the rest, and end; what hangs is left behind."""
        self._over.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        pause, shipped = PAUSES[0], 0.0
        while True:
            over = self._over.is_set()
            due = over or time.monotonic() > shipped + SHIP
            if self.step(due=due):
                shipped = time.monotonic() if due else shipped
                self._copier.alive, wait, pause = time.monotonic(), LOOK, PAUSES[0]
            else:
                wait, pause = pause, min(pause * 2, PAUSES[1])
            if over:
                self._copier.let_go()
                return
            self._wait(wait)

    def step(self, *, due: bool = True) -> bool:
        """Copy what is new, if it is due or much; whether the folder took it."""
        try:
            if not self._copier.begun:
                self._copier.begin()
            if due or self._copier.waiting() >= FULL:
                self._told(self._copier.step())
        except (OSError, sqlite3.Error, GapError, SettingsError) as error:
            self._failed(error)
            return False
        return True

    def _wait(self, seconds: float) -> None:
        """A pause is no sign of a frozen folder."""
        end = time.monotonic() + seconds
        while not self._over.wait(min(max(end - time.monotonic(), 0), LOOK)) and time.monotonic() < end:
            self._copier.alive = time.monotonic()

    def _told(self, upto: int) -> None:
        self._said = ""
        self._note({"upto": upto})

    def _note(self, doc: Doc) -> None:
        try:
            with self._views.transaction() as db:
                save_progress(db, WORK, doc)
        except StoreUnavailable as error:
            log.warning("how far the backup is cannot be written down: %s", error)

    def _failed(self, error: Exception) -> None:
        """The log of the database is let go, or it would grow as long as the folder is away."""
        self._copier.let_go()
        self._copier.alive = time.monotonic()
        if str(error) != self._said:
            self._said = str(error)
            log.error("the running backup stands still: %s", error)

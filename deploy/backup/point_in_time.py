"""A ledger as it was at a moment, made from a running backup."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from deploy.backup.wal_files import ABOUT, BASE, Generation, Segment, hash_of
from deploy.config.settings import SettingsError


@dataclass(frozen=True)
class Moment:
    """What was made."""

    generation: Generation
    at: int
    """ms: every commit before is in it."""


def is_running_backup(folder: Path) -> bool:
    """Whether there is a whole copy in it."""
    return any(folder.glob(f"*/{ABOUT}"))


def time_of(text: str) -> int:
    """Ms since 1970 of an ISO 8601 time, in UTC unless it says otherwise; raises SettingsError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(f"{text}: a time such as 2026-11-22T18:30Z is expected") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def told(at: int) -> str:
    """A time as people and `time_of` read it."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def make(folder: Path, until: int | None, target: Path) -> Moment:
    """The ledger as it was at the last moment that was copied, or at the last one up to that time, in a new file.

    Raises SettingsError where no copy is as old, or one is damaged.
    """
    generation = _chosen(folder, until)
    if hash_of(generation.folder / BASE) != generation.sha256:
        before = told(generation.at - 1)
        raise SettingsError(f"{generation.folder / BASE} is damaged; an older one serves up to {before}")
    shutil.copyfile(generation.folder / BASE, target)
    target.chmod(0o600)
    at = generation.at
    try:
        for _, parts in groupby(_segments(generation, until), key=lambda s: s.epoch):
            at = _replayed(target, parts)
        _proved(target)
    except sqlite3.Error as error:
        raise SettingsError(f"no ledger can be made of {generation.folder} in {target.parent}: {error}") from error
    return Moment(generation, at)


def _chosen(folder: Path, until: int | None) -> Generation:
    known = Generation.all(folder)
    found = [g for g in known if until is None or g.at <= until]
    if not found:
        raise SettingsError(f"{folder} begins at {told(known[0].at)}" if known else f"{folder} holds no whole copy")
    return found[-1]


def _segments(generation: Generation, until: int | None) -> Iterator[Segment]:
    """Those that count, each after the one before. The last may be cut off: it was being written."""
    paths, before = generation.segments(), None
    for path in paths:
        if until is not None and Segment.time(path) > until:
            return
        try:
            found = Segment.read(path)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            if path != paths[-1]:
                reached = told(before.at if before else generation.at)
                raise SettingsError(f"{path} is damaged ({error}); put back with --at {reached}") from None
            print(f"annals: {path} is cut off, and left out", file=sys.stderr)
            return
        if not _fits(before, found):
            raise SettingsError(f"before {path} a piece is missing; put back with --at an earlier time")
        before = found
        yield found


def _fits(before: Segment | None, found: Segment) -> bool:
    if before is None or found.epoch != before.epoch:
        return found.first == 0 and found.epoch == (before.epoch if before else 0) + 1
    return found.first == before.mark.frames


def _replayed(target: Path, parts: Iterable[Segment]) -> int:
    """SQLite's own recovery checks every frame, and takes whole commits only; gives the time of the last, ms."""
    with target.with_name(f"{target.name}-wal").open("wb") as file:
        for part in parts:  # one at a time: those of a day may fill the memory
            file.write(part.data)
    with closing(sqlite3.connect(target)) as db:
        _, frames, done = db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
    if frames != part.mark.frames or done != frames:
        raise SettingsError(f"only {frames} of {part.mark.frames} pieces of the log fit together")
    return part.at


def _proved(target: Path) -> None:
    with closing(sqlite3.connect(target)) as db:
        found = db.execute("PRAGMA integrity_check").fetchone()[0]
        db.execute("PRAGMA journal_mode=DELETE")  # one file
    if found != "ok":
        raise SettingsError(f"the ledger was damaged already when it was copied: {found}")

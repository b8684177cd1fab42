"""Point-in-time recovery: restores a ledger from a running backup."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from deploy.backup.source_files import BackupError, copy_source
from deploy.backup.wal_files import BASE, MANIFEST, BaseBackup, WalSegment
from deploy.config.settings import SettingsError


@dataclass(frozen=True)
class RestoredSnapshot:
    """A restored ledger: its base backup and its time."""

    base: BaseBackup
    at: int
    """ms: it contains every earlier commit."""


def is_running_backup(folder: Path) -> bool:
    """Return whether the folder holds a base backup."""
    return any(folder.glob(f"*/{MANIFEST}"))


def parse_time(text: str) -> int:
    """Return an ISO 8601 time, UTC by default, as ms since 1970. Raises SettingsError."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(f"{text}: a time such as 2026-11-22T18:30Z is expected") from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def format_time(at: int) -> str:
    """Return a time, ms, in the form of `parse_time`."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def restore_ledger(folder: Path, until: int | None, target: Path) -> RestoredSnapshot:
    """Restore the ledger into the new file `target`, as of its last copied commit, or up to the time `until`, ms.

    The caller checks its contents. Raises BackupError if no base backup is as old, or a file is damaged.
    """
    base = _find_base_backup(folder, until)
    if copy_source(base.folder / BASE, target) != base.sha256:
        before = format_time(base.at - 1)
        raise BackupError(f"{base.folder / BASE} is damaged; an older one serves up to {before}")
    at = base.at
    try:
        for _, parts in groupby(_read_segments(base, until), key=lambda s: s.epoch):
            at = _replay_segments(target, parts)
    except sqlite3.Error as error:
        raise BackupError(f"no ledger can be made of {base.folder} in {target.parent}: {error}") from error
    return RestoredSnapshot(base, at)


def _find_base_backup(folder: Path, until: int | None) -> BaseBackup:
    if links := [path.parent for path in folder.glob(f"*/{MANIFEST}") if path.parent.is_symlink()]:
        raise BackupError(f"{links[0]} is a link; a backup holds none")
    known = BaseBackup.list_all(folder)
    early_enough = [g for g in known if until is None or g.at <= until]
    if not early_enough:
        raise SettingsError(
            f"{folder} begins at {format_time(known[0].at)}" if known else f"{folder} holds no whole copy"
        )
    return early_enough[-1]


def _read_segments(base: BaseBackup, until: int | None) -> Iterator[WalSegment]:
    """Yield the segments up to `until`, and check that none is missing. The last one may be cut off."""
    paths, before = base.list_segments(), None
    for path in paths:
        if until is not None and WalSegment.time_in_name(path) > until:
            return
        try:
            segment = WalSegment.load(path)
        except (ValueError, KeyError) as error:
            if path != paths[-1]:
                reached = format_time(before.at if before else base.at)
                raise SettingsError(f"{path} is damaged ({error}); put back with --at {reached}") from None
            print(f"annals: {path} is cut off, and left out", file=sys.stderr)
            return
        if not _is_next(before, segment):
            raise SettingsError(f"before {path} a piece is missing; put back with --at an earlier time")
        before = segment
        yield segment


def _is_next(before: WalSegment | None, segment: WalSegment) -> bool:
    if before is None or segment.epoch != before.epoch:
        return segment.first == 0 and segment.epoch == (before.epoch if before else 0) + 1
    return segment.first == before.position.frames


def _replay_segments(target: Path, parts: Iterable[WalSegment]) -> int:
    """Replay segments by SQLite's own recovery: it checks every frame. Return the time of the last segment, ms."""
    with target.with_name(f"{target.name}-wal").open("wb") as file:
        for part in parts:  # one at a time: the segments of a day can exceed the memory
            file.write(part.data)
    with closing(sqlite3.connect(target)) as db:
        _, frames, done = db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
    if frames != part.position.frames or done != frames:
        raise SettingsError(f"only {frames} of {part.position.frames} pieces of the log fit together")
    return part.at

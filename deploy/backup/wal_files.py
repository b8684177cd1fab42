"""Files of a running backup: base backups and WAL segments."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from deploy.backup.source_files import MAX_DOCUMENT, BackupError, parse_document, read_source, require_number
from deploy.backup.wal_reader import FRAME, HEADER, WalPosition
from domain.types import Doc

BASE, KEY, MANIFEST, SEGMENT, LOCK = "base.sqlite", "key", "base.json", ".wal", "lock"

log = logging.getLogger("annals.backup")

FORMAT = 1

MAX_SEGMENT = 2**29
"""Bytes of one segment. A larger commit begins a new base backup."""

MAX_PAGE = 65536
"""Bytes of a page of SQLite."""

MAX_COUNT = 2**32
"""Frames, and numbers of WALs and base backups."""

MAX_TIME = 253_370_764_800_000
"""ms since 1970: the year 9999."""

SEGMENT_NAME = re.compile(rf"[0-9]{{6,}}-[0-9]{{9,}}-([0-9]+){re.escape(SEGMENT)}")

FOLDER_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")


@dataclass
class BaseBackup:
    """A base backup and the segments after it."""

    folder: Path
    number: int
    """Rises with each base backup. Times can go back after the ledger was restored."""
    at: int
    """ms: it contains all earlier commits."""
    sound: bool
    sha256: str

    @classmethod
    def list_all(cls, folder: Path) -> list[BaseBackup]:
        """Return the complete base backups of a folder, oldest first."""
        backups = []
        for path in sorted(folder.glob(f"*/{MANIFEST}")):
            with suppress(OSError, ValueError, KeyError, BackupError):
                doc = parse_document(read_source(path, MAX_DOCUMENT))
                if doc["annals"] == FORMAT and not path.parent.is_symlink():
                    number = require_number({"number": 0} | doc, "number", MAX_COUNT)  # absent in older backups
                    at = require_number(doc, "at", MAX_TIME)
                    backups.append(cls(path.parent, number, at, bool(doc["sound"]), str(doc["sha256"])))
        return sorted(backups, key=lambda g: (g.number, g.at))

    def list_segments(self) -> list[Path]:
        """Return the paths of its segments in order."""
        return sorted(path for path in self.folder.glob(f"*{SEGMENT}") if SEGMENT_NAME.fullmatch(path.name))


@dataclass(frozen=True)
class WalSegment:
    """Frames of one WAL."""

    epoch: int
    """Number of the WAL since the base backup."""
    first: int
    position: WalPosition
    at: int
    """ms: all earlier commits are in this segment or in earlier ones."""
    data: bytes = field(repr=False)

    def write(self, folder: Path) -> None:
        """Write the segment as a whole or not at all."""
        packed = zlib.compress(self.data, 1)
        head: Doc = {"annals": FORMAT, "sha256": hashlib.sha256(packed).hexdigest(), "epoch": self.epoch}
        head |= {"first": self.first, "at": self.at, "mark": self.position.__dict__}
        path = folder / f"{self.epoch:06d}-{self.position.frames:09d}-{self.at}{SEGMENT}"
        write_file(path, json.dumps(head).encode() + b"\n" + packed)

    @staticmethod
    def time_in_name(path: Path) -> int:
        """Return `at` from the file name, also of a damaged segment."""
        named = SEGMENT_NAME.fullmatch(path.name)
        return int(named[1]) if named else 0

    @classmethod
    def load(cls, path: Path) -> WalSegment:
        """Read a segment. Raises ValueError and KeyError if it is damaged or cut off, and BackupError."""
        head, _, packed = read_source(path, MAX_SEGMENT).partition(b"\n")
        doc = parse_document(head)
        if hashlib.sha256(packed).hexdigest() != doc["sha256"]:
            raise ValueError("the hash is another")
        mark = doc["mark"]
        if not isinstance(mark, dict):
            raise ValueError("mark is no object")  # noqa: TRY004 - as for all bad data
        frames = require_number(mark, "frames", MAX_COUNT)
        epoch, first = require_number(doc, "epoch", MAX_COUNT), require_number(doc, "first", frames)
        data = _unpack(packed, min(HEADER + (frames - first) * (FRAME + MAX_PAGE), MAX_SEGMENT))
        position = WalPosition(str(mark["salt"]), frames, str(mark["check"]))
        return cls(epoch, first, position, require_number(doc, "at", MAX_TIME), data)


def _unpack(packed: bytes, most: int) -> bytes:
    """Return unpacked data of at most `most` bytes. Raises ValueError."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(data) > most:
        raise ValueError(f"it holds more than the {most} bytes of its frames")
    if not unpacker.eof:
        raise ValueError("it is cut off")
    return data


def write_file(path: Path, data: bytes) -> None:
    """Write a file for its owner only, as a whole or not at all, also in a power cut."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except OSError:  # on a full disk, half a file would take the space of others
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to disk, to survive a power cut."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def lock_folder(folder: Path) -> int:
    """Lock the folder and return the descriptor: two services would delete each other's backups.

    The system releases the lock when the process ends. Raises OSError if another process has it.
    """
    number = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        raise BlockingIOError(f"{folder} is in use by another service") from None
    except OSError as error:
        log.info("the file system of %s knows no locks: %s", folder, error)
    return number


def hash_file(path: Path, progress: Callable[[], None] = lambda: None) -> str:
    """Return the SHA-256 of a file and sync it to disk; call `progress` for each piece."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**22):
            digest.update(piece)
            progress()
        os.fsync(file.fileno())
    return digest.hexdigest()

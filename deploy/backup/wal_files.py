"""Files of a continuous backup: base backups and WAL segments."""

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

from deploy.backup.wal_reader import Mark
from domain.types import Doc

BASE, KEY, ABOUT, SEGMENT, LOCK = "base.sqlite", "key", "base.json", ".wal", "lock"

log = logging.getLogger("annals.backup")

FORMAT = 1

NAME = re.compile(rf"[0-9]{{6,}}-[0-9]{{9,}}-([0-9]+){re.escape(SEGMENT)}")

FOLDER = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")


@dataclass
class Generation:
    """A whole copy and what was written since."""

    folder: Path
    number: int
    """In the order in which they were made: time may be earlier again in a ledger that was put back."""
    at: int
    """ms: all commits before are in it."""
    sound: bool
    sha256: str

    @classmethod
    def all(cls, folder: Path) -> list[Generation]:
        """Those that are whole, in the order in which they were made."""
        found = []
        for path in sorted(folder.glob(f"*/{ABOUT}")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                doc = json.loads(path.read_text())
                if doc["annals"] == FORMAT:
                    number, at = int(doc.get("number", 0)), int(doc["at"])  # once they had none
                    found.append(cls(path.parent, number, at, bool(doc["sound"]), str(doc["sha256"])))
        return sorted(found, key=lambda g: (g.number, g.at))

    def segments(self) -> list[Path]:
        """In order; a name holds the time as well."""
        return sorted(path for path in self.folder.glob(f"*{SEGMENT}") if NAME.fullmatch(path.name))


@dataclass(frozen=True)
class Segment:
    """Frames of one log."""

    epoch: int
    """Number of the log since the whole copy."""
    first: int
    mark: Mark
    at: int
    """ms: all commits before are in it, or in those before it."""
    data: bytes = field(repr=False)

    def write(self, folder: Path) -> None:
        """Whole or not at all."""
        packed = zlib.compress(self.data, 1)
        head: Doc = {"annals": FORMAT, "sha256": hashlib.sha256(packed).hexdigest(), "epoch": self.epoch}
        head |= {"first": self.first, "at": self.at, "mark": self.mark.__dict__}
        path = folder / f"{self.epoch:06d}-{self.mark.frames:09d}-{self.at}{SEGMENT}"
        write(path, json.dumps(head).encode() + b"\n" + packed)

    @staticmethod
    def time(path: Path) -> int:
        """Its `at`, which the name tells also of one that is damaged."""
        named = NAME.fullmatch(path.name)
        return int(named[1]) if named else 0

    @classmethod
    def read(cls, path: Path) -> Segment:
        """Raises ValueError for one that is damaged or cut off."""
        head, _, packed = path.read_bytes().partition(b"\n")
        doc = json.loads(head)
        if hashlib.sha256(packed).hexdigest() != doc["sha256"]:
            raise ValueError("the hash is another")
        return cls(doc["epoch"], doc["first"], Mark(**doc["mark"]), doc["at"], zlib.decompress(packed))


def write(path: Path, data: bytes) -> None:
    """A file of ours, for its owner alone, that is there whole or not at all, also after a loss of power."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except OSError:  # on a full disk half a file would take the room of others
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    synced(path.parent)


def synced(path: Path) -> None:
    """What a file holds, or what is named in a folder, is so after a loss of power as well."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def taken(folder: Path) -> int:
    """The descriptor of a lock, which the system frees with us: two services would sweep away each other's copies.

    Raises OSError where another process has it.
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


def hash_of(path: Path, progress: Callable[[], None] = lambda: None) -> str:
    """SHA-256 of a file, of whatever size."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**22):
            made.update(piece)
            progress()
        os.fsync(file.fileno())
    return made.hexdigest()

"""What SQLite has written since: whole commits, read from its write-ahead log while others write.

A commit is appended to the log file as frames, each a page; the index beside it says how many of them count. A log is
begun anew, under another salt, once all of it stands in the database file and no reader needs it. So whoever keeps a
reader open, and opens the next before it closes the last, sees every commit: between the two at most one log can end,
and only one that was read to its end.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

HEADER, FRAME = 32, 24
"""Bytes before the first frame, and before the page of each."""

PATIENCE = 10.0
"""Seconds to wait for a lock."""

Read = TypeVar("Read")

_INDEX = struct.Struct("=3I2BH2I8s8s8s")
_DESCRIPTORS: dict[tuple[int, int], int] = {}
"""Of index files, by device and number. Closing one would end all locks that this process holds on the file."""


class GapError(Exception):
    """What was written cannot be told without a gap: a new copy is needed."""


class UnsettledError(Exception):
    """Somebody writes just now: look again."""


@dataclass(frozen=True)
class Mark:
    """How far a log has been read."""

    salt: str = ""
    """Hex; of another log it is another."""
    frames: int = 0
    check: str = ""
    """Hex: the checksum of the last of these frames, which covers all before it."""


class Tail:
    """Reads the log of one database. Not for several threads at once, but `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.reader = _reader(path)
        try:
            self._index = _descriptor(path.with_name(f"{path.name}-shm"))
        except OSError:  # it has no log of last writes
            self.close()
            raise
        self._log = path.with_name(f"{path.name}-wal")

    def close(self) -> None:
        """From now on what is written may be lost to this one."""
        with suppress(sqlite3.Error):
            self.reader.close()

    def renew(self) -> None:
        """Let go of what was read: the log may end up to here."""
        before, self.reader = self.reader, _reader(self._path)
        before.close()

    def frames(self) -> int:
        """How many frames the log has."""
        return self._counted()[1]

    def since(self, mark: Mark, most: int | None = None) -> tuple[Mark, bytes]:
        """What was written since, with the header of the log if it is another; raises UnsettledError and GapError.

        Of more frames than `most` only those of the commits that end within it, if any does.
        """
        salt, frames, check, size = self._counted()
        if frames == 0 or Mark(salt, frames, check) == mark:
            return mark, b""
        first = mark.frames if salt == mark.salt else 0
        if frames < first:
            raise GapError("the log has become shorter")
        with self._log.open("rb") as file:
            head = file.read(HEADER)
            if first:
                file.seek(HEADER + (first - 1) * (FRAME + size))
                if file.read(FRAME)[16:24].hex() != mark.check:
                    raise GapError("the log is not the one that was read")
                file.seek(size, os.SEEK_CUR)
            data = _commits(file, FRAME + size, frames - first, most)
        _settled(head, data, salt, FRAME + size)
        made = Mark(salt, first + len(data) // (FRAME + size), data[-FRAME - size :][16:24].hex())
        if made.frames == frames and made.check != check:
            raise UnsettledError("the last frame is another")
        return made, (data if first else head + data)

    def follows(self, mark: Mark) -> bool:
        """Whether the log is the one of the mark, and holds all that came after it."""
        try:
            return self.since(mark)[0].salt == mark.salt == self._counted()[0]
        except (GapError, UnsettledError, OSError):
            return False

    def end(self, read: Callable[[], Read]) -> Read | None:
        """Put the log into the database, so that it is begun anew; gives what `read` has read of its end.

        It is called once no further commit can come, and everybody waits for it: it must not touch another disk. Does
        nothing where another writer takes too long.
        """
        with closing(_connected(self._path, 1.0)) as writer, closing(_connected(self._path, 1.0)) as other:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")  # nearly all, before anybody waits
            try:
                writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return None
            found = read()
            self.renew()
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.renew()
            writer.execute("ROLLBACK")
        return found

    def _counted(self) -> tuple[str, int, str, int]:
        """Salt, frames, checksum of the last, bytes of a page; raises UnsettledError."""
        both = os.pread(self._index, 2 * _INDEX.size, 0)
        if len(both) < 2 * _INDEX.size or both[: _INDEX.size] != both[_INDEX.size :]:
            raise UnsettledError("the index is being written")
        _, _, _, _, _, size, frames, _, check, salt, _ = _INDEX.unpack_from(both)
        told = struct.pack(">2I", *struct.unpack("=2I", check)).hex()
        return salt.hex(), frames, told, 65536 if size == 1 else size


def _commits(file: BinaryIO, frame: int, count: int, most: int | None) -> bytes:
    """The next frames, or of more than `most` those up to the last commit among them."""
    if most is None or count <= most:
        return file.read(count * frame)
    data = file.read(most * frame)
    ends = (end for end in range(len(data) // frame * frame, 0, -frame) if _commit(data, end - frame))
    end = next(ends, 0)
    return data[:end] if end else data + file.read((count - most) * frame)


def _commit(data: bytes, at: int) -> bool:
    """Whether the frame there is the last of a commit: it names the size of the database."""
    return data[at + 4 : at + 8] != bytes(4)


def _settled(head: bytes, data: bytes, salt: str, frame: int) -> None:
    """Raises UnsettledError unless these are whole frames of that log, the last of them a commit."""
    if head[16:24].hex() != salt or not data or len(data) % frame:
        raise UnsettledError("the log is being written")
    for at in range(0, len(data), frame):
        if data[at + 8 : at + 16].hex() != salt:
            raise UnsettledError("a frame of another log")
    if not _commit(data, len(data) - frame):
        raise UnsettledError("the last frame ends no commit")


def _connected(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    made = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        made.execute("PRAGMA wal_autocheckpoint=0")
    except sqlite3.Error:
        made.close()
        raise
    return made


def _reader(path: Path) -> sqlite3.Connection:
    """A connection in a transaction that has read: what is written from now on stays in the log."""
    made = _connected(path)
    try:
        made.execute("BEGIN")
        made.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        made.close()
        raise
    return made


def _descriptor(path: Path) -> int:
    found = path.stat()
    key = (found.st_dev, found.st_ino)
    if key not in _DESCRIPTORS:
        _DESCRIPTORS[key] = os.open(path, os.O_RDONLY)
    return _DESCRIPTORS[key]

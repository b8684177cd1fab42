"""Reads whole commits from SQLite's write-ahead log (WAL) while other processes write.

A commit is appended to the WAL as frames, each a page; the index file tells how many are valid. SQLite restarts the
WAL under a new salt after all of it is in the database and no reader needs it. So a reader sees every commit if it
opens its next transaction before it closes the last: in between, at most one WAL can end, and it was read fully.
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
"""Bytes of the WAL's header, and of a frame's header."""

PATIENCE = 10.0
"""Seconds to wait for a lock."""

Result = TypeVar("Result")

_INDEX_FORMAT = struct.Struct("=3I2BH2I8s8s8s")
_DESCRIPTORS: dict[tuple[int, int], int] = {}
"""Descriptors of index files, by device and inode. Closing one would release all locks of this process on the file."""


class GapError(Exception):
    """Commits may be missing: a new base backup is needed."""


class UnsettledError(Exception):
    """A commit is being written: read again."""


@dataclass(frozen=True)
class WalPosition:
    """Position up to which a WAL was read."""

    salt: str = ""
    """Hex; differs for each WAL."""
    frames: int = 0
    check: str = ""
    """Hex: checksum of the last frame, which covers all frames before."""


class WalReader:
    """Reads the WAL of one database. Not thread-safe, except `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connection = _open_reader(path)
        try:
            self._index = _open_index(path.with_name(f"{path.name}-shm"))
        except OSError:  # the database has no WAL
            self.close()
            raise
        self._wal = path.with_name(f"{path.name}-wal")

    def close(self) -> None:
        """Close the transaction; later commits can be missed."""
        with suppress(sqlite3.Error):
            self.connection.close()

    def advance(self) -> None:
        """Open a newer transaction and close the last: SQLite may then restart the WAL."""
        before = self.connection
        self.connection = _open_reader(self._path)
        before.close()

    def count_frames(self) -> int:
        """Return the number of valid frames. Raises UnsettledError."""
        return self._read_index()[1]

    def read_since(self, position: WalPosition, most: int | None = None) -> tuple[WalPosition, bytes]:
        """Return the frames since a position, with the WAL's header if it is a new WAL, and the position after them.

        Of more than `most` frames, return only those of commits within `most`; if no commit ends there, all frames.
        Raises UnsettledError and GapError.
        """
        salt, frames, check, size = self._read_index()
        if frames == 0 or WalPosition(salt, frames, check) == position:
            return position, b""
        first = position.frames if salt == position.salt else 0
        if frames < first:
            raise GapError("the log has become shorter")
        with self._wal.open("rb") as file:
            head = file.read(HEADER)
            if first:
                file.seek(HEADER + (first - 1) * (FRAME + size))
                if file.read(FRAME)[16:24].hex() != position.check:
                    raise GapError("the log is not the one that was read")
                file.seek(size, os.SEEK_CUR)
            data = _read_commits(file, FRAME + size, frames - first, most)
        _check_settled(head, data, salt, FRAME + size)
        end = WalPosition(salt, first + len(data) // (FRAME + size), data[-FRAME - size :][16:24].hex())
        if end.frames == frames and end.check != check:
            raise UnsettledError("the last frame is another")
        return end, (data if first else head + data)

    def has_all_since(self, position: WalPosition) -> bool:
        """Return whether the WAL is the one of the position, and has all commits since."""
        try:
            return self.read_since(position)[0].salt == position.salt == self._read_index()[0]
        except (GapError, UnsettledError, OSError):
            return False

    def restart_wal(self, read: Callable[[], Result]) -> Result | None:
        """Checkpoint the WAL into the database, so that it restarts; return the result of `read`.

        `read` is called with writers blocked, to read the last commits; it must not access another disk. Do nothing
        and return None if another writer takes too long.
        """
        with closing(_connect(self._path, 1.0)) as writer, closing(_connect(self._path, 1.0)) as other:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")  # most frames, before writers are blocked
            try:
                writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return None
            result = read()
            self.advance()
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self.advance()
            writer.execute("ROLLBACK")
        return result

    def _read_index(self) -> tuple[str, int, str, int]:
        """Return salt, frames, checksum of the last frame and page size in bytes. Raises UnsettledError."""
        both = os.pread(self._index, 2 * _INDEX_FORMAT.size, 0)
        if len(both) < 2 * _INDEX_FORMAT.size or both[: _INDEX_FORMAT.size] != both[_INDEX_FORMAT.size :]:
            raise UnsettledError("the index is being written")
        _, _, _, _, _, size, frames, _, check, salt, _ = _INDEX_FORMAT.unpack_from(both)
        checksum = struct.pack(">2I", *struct.unpack("=2I", check)).hex()
        return salt.hex(), frames, checksum, 65536 if size == 1 else size


def _read_commits(file: BinaryIO, frame: int, count: int, most: int | None) -> bytes:
    """Read `count` frames, or of more than `most`, those up to the last commit within `most`."""
    if most is None or count <= most:
        return file.read(count * frame)
    data = file.read(most * frame)
    ends = (end for end in range(len(data) // frame * frame, 0, -frame) if _is_commit(data, end - frame))
    end = next(ends, 0)
    return data[:end] if end else data + file.read((count - most) * frame)


def _is_commit(data: bytes, at: int) -> bool:
    """Return whether the frame at `at` ends a commit: it then holds the size of the database."""
    return data[at + 4 : at + 8] != bytes(4)


def _check_settled(head: bytes, data: bytes, salt: str, frame: int) -> None:
    """Raise UnsettledError unless the data are whole frames of this WAL, the last of them a commit."""
    if head[16:24].hex() != salt or not data or len(data) % frame:
        raise UnsettledError("the log is being written")
    for at in range(0, len(data), frame):
        if data[at + 8 : at + 16].hex() != salt:
            raise UnsettledError("a frame of another log")
    if not _is_commit(data, len(data) - frame):
        raise UnsettledError("the last frame ends no commit")


def _connect(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA wal_autocheckpoint=0")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open_reader(path: Path) -> sqlite3.Connection:
    """Open a connection in a read transaction: later commits stay in the WAL."""
    connection = _connect(path)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open_index(path: Path) -> int:
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    if key not in _DESCRIPTORS:
        _DESCRIPTORS[key] = os.open(path, os.O_RDONLY)
    return _DESCRIPTORS[key]

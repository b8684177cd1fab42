"""Files of a backup that is restored. They are untrusted: regular files only, within limits, read without waiting."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

import msgspec

from deploy.config.settings import SettingsError
from domain.types import Doc

MAX_DOCUMENT = 64 * 1024
"""Bytes of a file with a key, a manifest, or the first line of a segment."""

_PIECE = 2**20


class BackupError(SettingsError):
    """A backup is refused; the message names the file and the fault."""


def open_source(path: Path, most: int | None = None) -> BinaryIO:
    """Open a regular file of at most `most` bytes. Raises BackupError, and FileNotFoundError."""
    try:
        # Without waiting for the other end of a pipe, and never through a link.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise BackupError(f"{path} is a link; a backup holds none") from None
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or (most is not None and status.st_size > most):
        os.close(descriptor)
        raise BackupError(
            f"{path} is larger than {most} bytes" if stat.S_ISREG(status.st_mode) else f"{path} is no ordinary file"
        )
    return os.fdopen(descriptor, "rb")


def read_source(path: Path, most: int) -> bytes:
    """Read a regular file of at most `most` bytes. Raises BackupError, and FileNotFoundError."""
    with open_source(path, most) as file:
        return file.read(most)


def copy_source(path: Path, target: Path) -> str:
    """Copy a regular file for its owner only, if there is space for it. Return its SHA-256.

    Raises BackupError, OSError, and FileNotFoundError for a missing source.
    """
    digest = hashlib.sha256()
    with open_source(path) as file:
        size, free = os.fstat(file.fileno()).st_size, shutil.disk_usage(target.parent).free
        if size > free:
            raise BackupError(f"{path} has {size} bytes, and {free} are free in {target.parent}")
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
            while piece := file.read(_PIECE):
                digest.update(piece)
                copy.write(piece)
    return digest.hexdigest()


def parse_document(data: bytes) -> Doc:
    """Return a JSON object. Raises ValueError for anything else, also if it is nested deeply."""
    try:
        found = msgspec.json.decode(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - one kind of error for all bad data
    return found


def require_number(doc: Doc, name: str, most: int) -> int:
    """Return a whole number from 0 to `most`. Raises ValueError, and KeyError if it is missing."""
    number = doc[name]
    if type(number) is not int or not 0 <= number <= most:
        raise ValueError(f"{name} is no number from 0 to {most}")
    return number

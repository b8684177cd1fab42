"""Signs of life: a process promises by when it will be heard of again, and who supervises it ends one that is not.

The promise is the time of a file, on the clock that all processes of a machine share and that no correction moves.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

VARIABLE = "ANNALS_PULSE"
"""Where the file is; nobody asks for signs of life where it is not set."""


def promise(seconds: float) -> None:
    """There will be another sign within so many seconds."""
    if path := os.environ.get(VARIABLE):
        with contextlib.suppress(FileNotFoundError):  # the supervisor has gone and taken it along
            _write(path, seconds)


def expect(path: Path, seconds: float) -> None:
    """A process is begun that is to give its first sign within so many seconds."""
    path.touch()
    _write(path, seconds)


def silent(path: Path) -> bool:
    """Whether the promise was broken."""
    return path.stat().st_mtime < time.monotonic()


def _write(path: str | Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    os.utime(path, (until, until))

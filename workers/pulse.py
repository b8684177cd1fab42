"""Signs of life: a process promises by when it will be heard of again, and who supervises it ends one that is not.

The promise is the time of a file, on the clock that all processes of a machine share and that no correction moves.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

VARIABLE = "ANNALS_PULSE"
"""Where the file is; nobody asks for signs of life where it is not set."""


def promise(seconds: float, path: Path | None = None) -> None:
    """There will be another sign of this process, or of the one with that file, within so many seconds."""
    if path := path or _own():
        with contextlib.suppress(FileNotFoundError):  # the supervisor has gone and taken it along
            _write(path, seconds)


def _own() -> Path | None:
    path = os.environ.get(VARIABLE)
    return Path(path) if path else None


def folder(data: Path, name: str) -> Path:
    """An empty folder for the signs of processes that are started together."""
    path = data / "pulse" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700, parents=True)
    return path


def begin(data: Path, name: str, seconds: float) -> None:
    """This process is to give signs, also if nobody here supervises it: the first within so many seconds."""
    if not os.environ.get(VARIABLE):
        path = folder(data, name) / name
        path.write_text(str(os.getpid()))
        _write(path, seconds)
        os.environ[VARIABLE] = str(path)


def signs(data: Path) -> dict[str, bool]:
    """The processes of a data folder, and whether each has broken its promise."""
    return {f"{path.parent.name}/{path.name}": silent(path) for path in sorted((data / "pulse").glob("*/*"))}


def end(data: Path, name: str) -> None:
    """End the process of that sign for good, which may take no other signal; unless a supervisor does that."""
    pid = (data / "pulse" / name).read_text()
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


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

"""Signs of life: a process promises by when it will be heard of again, and who supervises it ends one that is not.

The promise is the time of a file, on the clock that all processes of a machine share and that no correction moves.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ENV_VARIABLE = "ANNALS_PULSE"
"""Where the file is; nobody asks for signs of life where it is not set."""

_LOCKED_FILES: list[IO[str]] = []
"""Files whose locks say that this process lives: the system frees them with us."""


def set_deadline(seconds: float, path: Path | None = None) -> None:
    """There will be another sign of this process, or of the one with that file, within so many seconds."""
    if path := path or _own_file():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # somebody has taken it away: we are silent
            _set_file_time(path, seconds)


def _own_file() -> Path | None:
    path = os.environ.get(ENV_VARIABLE)
    return Path(path) if path else None


@contextmanager
def supervised_folder(data: Path, name: str) -> Iterator[Path]:
    """An empty folder for the signs of processes that this one supervises; whoever finds it knows if we still live."""
    lock = _lock_path(data / "pulse" / name)
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _LOCKED_FILES.append(file)
        try:
            yield (path := _make_empty_folder(data, name))
        finally:
            _LOCKED_FILES.remove(file)
            shutil.rmtree(path, ignore_errors=True)
            lock.unlink(missing_ok=True)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _make_empty_folder(data: Path, name: str) -> Path:
    path = data / "pulse" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700, parents=True)
    return path


def release_locks() -> None:
    """In a child that was forked: a lock lives as long as anybody has its file."""
    for file in _LOCKED_FILES:
        file.close()
    _LOCKED_FILES.clear()


def register_process(data: Path, name: str, seconds: float) -> None:
    """This process is to give signs, also if nobody here supervises it: the first within so many seconds."""
    if not os.environ.get(ENV_VARIABLE):
        path = _make_empty_folder(data, f"{name}-{os.getpid()}") / name
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX)  # before anybody can read whose it is
        file.write(str(os.getpid()))
        file.flush()
        _LOCKED_FILES.append(file)
        _set_file_time(path, seconds)
        os.environ[ENV_VARIABLE] = str(path)


def list_overdue(data: Path) -> dict[str, bool]:
    """The processes of a data folder, and whether each has broken its promise; without those that ended by themselves.

    Those of a supervisor are its to look after.
    """
    files = sorted((data / "pulse").glob("*/*"))
    return {f"{path.parent.name}/{path.name}": is_overdue(path) for path in files if not _remove_if_abandoned(path)}


def _remove_if_abandoned(path: Path) -> bool:
    """Whether its supervisor has gone, or the process itself if it has none; then it is removed as well."""
    try:
        holder = path if path.read_text() else _lock_path(path.parent)
        with holder.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not path.exists()
    shutil.rmtree(path.parent, ignore_errors=True)
    _lock_path(path.parent).unlink(missing_ok=True)
    return True


def kill_process(data: Path, name: str) -> None:
    """End the process of that sign for good, which may take no other signal; unless a supervisor does that."""
    pid = (data / "pulse" / name).read_text()
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def expect_first_sign(path: Path, seconds: float) -> None:
    """A process is begun that is to give its first sign within so many seconds."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch()
    _set_file_time(path, seconds)


def extend_deadline(path: Path, seconds: float) -> None:
    """Whoever could not be heard for so many seconds has them added to its promise."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # it is silent
        _set_file_time(path, path.stat().st_mtime - time.monotonic() + seconds)


def is_overdue(path: Path) -> bool:
    """Whether the promise was broken, or nothing is left of it: who should be heard cannot be."""
    try:
        return path.stat().st_mtime < time.monotonic()
    except (FileNotFoundError, NotADirectoryError):
        return True


def _set_file_time(path: str | Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    os.utime(path, (until, until))

"""Liveness deadlines: a process promises its next sign of life, and its supervisor kills it after a miss.

A deadline is the mtime of a file, on the machine's monotonic clock, which all its processes share.
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
"""Environment variable with the path of the process' own file. Without it, the process has no deadline."""

_LOCKED_FILES: list[IO[str]] = []
"""Files locked while this process lives; the system releases the locks at its end."""


def set_deadline(seconds: float, path: Path | None = None) -> None:
    """Promise the next sign of life of this process, or of the process with file `path`, within `seconds`."""
    if path := path or _own_file():
        # After a removal of the file this process counts as overdue.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            _set_file_time(path, seconds)


def _own_file() -> Path | None:
    path = os.environ.get(ENV_VARIABLE)
    return Path(path) if path else None


@contextmanager
def supervised_folder(data: Path, name: str) -> Iterator[Path]:
    """Make an empty folder for the files of supervised processes, with a lock that shows that we live."""
    lock = _lock_path(data / "pulse" / name)
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock.open("w", encoding="utf-8") as file:
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


def is_running(data: Path, name: str) -> bool:
    """Return whether a process holds the lock of a supervised folder."""
    with contextlib.suppress(OSError), _lock_path(data / "pulse" / name).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def release_locks() -> None:
    """Close inherited lock files in a forked child. A lock lasts as long as any process has its file open."""
    for file in _LOCKED_FILES:
        file.close()
    _LOCKED_FILES.clear()


def register_process(data: Path, name: str, seconds: float) -> None:
    """Give this process a deadline of its own if no supervisor did; the first one is in `seconds`."""
    if not os.environ.get(ENV_VARIABLE):
        path = _make_empty_folder(data, f"{name}-{os.getpid()}") / name
        file = path.open("w", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX)  # locked before the pid is readable
        file.write(str(os.getpid()))
        file.flush()
        _LOCKED_FILES.append(file)
        _set_file_time(path, seconds)
        os.environ[ENV_VARIABLE] = str(path)


def check_processes(data: Path) -> dict[str, bool]:
    """Return each process of a data folder and True if it missed its deadline.

    Leaves out processes that ended by themselves. Supervised processes are the supervisor's to restart.
    """
    files = sorted((data / "pulse").glob("*/*"))
    return {f"{path.parent.name}/{path.name}": is_overdue(path) for path in files if not _remove_if_abandoned(path)}


def _remove_if_abandoned(path: Path) -> bool:
    """Remove a file without a living supervisor or process; return True if it was one."""
    try:
        holder = path if path.read_text("utf-8") else _lock_path(path.parent)
        with holder.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not path.exists()
    shutil.rmtree(path.parent, ignore_errors=True)
    _lock_path(path.parent).unlink(missing_ok=True)
    return True


def kill_process(data: Path, name: str) -> None:
    """Kill an unsupervised process, which may not react to other signals."""
    pid = (data / "pulse" / name).read_text("utf-8")
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def expect_first_sign(path: Path, seconds: float) -> None:
    """Set the deadline for the first sign of life of a process to be started."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch()
    _set_file_time(path, seconds)


def extend_deadline(path: Path, seconds: float) -> None:
    """Extend a deadline by the seconds in which the process could not be heard."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # it counts as overdue
        _set_file_time(path, path.stat().st_mtime - time.monotonic() + seconds)


def is_overdue(path: Path) -> bool:
    """Return True if the deadline has passed or the file is gone."""
    try:
        return path.stat().st_mtime < time.monotonic()
    except (FileNotFoundError, NotADirectoryError):
        return True


def _set_file_time(path: str | Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    os.utime(path, (until, until))

"""Ends child processes with their parent, even if the parent was killed."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
import threading
import time
from typing import Any

CHECK_PERIOD = 0.25
"""Seconds between two checks of the parent process, on systems without a parent-death signal."""

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


@functools.cache
def _libc() -> Any:
    return ctypes.CDLL(None) if sys.platform == "linux" else None


def end_with_parent(parent: int, end_signal: signal.Signals = signal.SIGKILL) -> None:
    """End this process with its parent: by a signal of the system, else by a thread that checks the parent."""
    if libc := _libc():
        libc.prctl(_PR_SET_PDEATHSIG, int(end_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the line above
            os._exit(1)
    else:
        threading.Thread(target=_watch_parent, args=(parent,), name="lifeline", daemon=True).start()


def set_process_name(text: str) -> None:
    """Set the process name that `top` shows: the first 15 characters, on Linux only."""
    if libc := _libc():
        libc.prctl(_PR_SET_NAME, text.encode()[:15], 0, 0, 0)


def load_libc() -> None:
    """Load the C library in the parent: a child between fork and exec must not load one."""
    _libc()


def end_program_with_parent(parent: int) -> None:
    """Do as `end_with_parent`, between fork and exec. Without system support, the next start ends leftovers."""
    if _libc():
        end_with_parent(parent, signal.SIGTERM)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(CHECK_PERIOD)
    os._exit(1)  # no thread may delay the end, and all data are in the databases

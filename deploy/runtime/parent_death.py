"""Processes that end with the one that started them, also if that one was killed and could tell nobody."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
import threading
import time
from typing import Any

GLANCE = 0.25
"""Seconds between two looks at who the parent is, where the system does not tell."""

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


@functools.cache
def _libc() -> Any:
    return ctypes.CDLL(None) if sys.platform == "linux" else None


def tie(parent: int, last_word: signal.Signals = signal.SIGKILL) -> None:
    """End this process with its parent: the system sends the signal, or else a thread looks now and then."""
    if libc := _libc():
        libc.prctl(_PR_SET_PDEATHSIG, int(last_word), 0, 0, 0)
        if os.getppid() != parent:  # it went before the line above
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def name(text: str) -> None:
    """What `top` and the like call this process; at most 15 characters of it, and only on Linux."""
    if libc := _libc():
        libc.prctl(_PR_SET_NAME, text.encode()[:15], 0, 0, 0)


def prepare() -> None:
    """In the parent, before it makes children: a child that is no Python yet must not load a library."""
    _libc()


def tie_program(parent: int) -> None:
    """As `tie`, between fork and exec; where the system cannot, the next start finds and ends what was left behind."""
    if _libc():
        tie(parent, signal.SIGTERM)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(GLANCE)
    os._exit(1)  # no thread may hold it up, and there is nothing to save: what counts is in the databases

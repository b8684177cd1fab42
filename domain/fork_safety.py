"""What a process must not use of the one that it was forked from: connections, locks that an absent thread holds.

Whoever has such things is told in the child, before anything else runs there.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    """Something that begins anew in a child."""

    def after_fork(self) -> None:
        """Forget, without closing it, what is the parent's."""


_HEEDED: weakref.WeakSet[Forked] = weakref.WeakSet()


def heed(thing: Forked) -> None:
    """Tell it after every fork, for as long as it lives."""
    _HEEDED.add(thing)


def _tell() -> None:
    for thing in list(_HEEDED):
        thing.after_fork()


os.register_at_fork(after_in_child=_tell)

"""Resources of the parent process forbidden to a forked child: connections, locks held by absent threads.

Their owners are reset in the child before anything else runs there.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class ForkAware(Protocol):
    """Object with resources to drop in a forked child."""

    def after_fork(self) -> None:
        """Forget the parent's resources without closing them."""


_FORK_AWARE: weakref.WeakSet[ForkAware] = weakref.WeakSet()


def reset_after_fork(resource: ForkAware) -> None:
    """Call the object's `after_fork` in every child process, for as long as the object lives."""
    _FORK_AWARE.add(resource)


def _reset_all() -> None:
    for thing in list(_FORK_AWARE):
        thing.after_fork()


os.register_at_fork(after_in_child=_reset_all)

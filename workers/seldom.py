"""What would be said over and over is said now and then."""

from __future__ import annotations

import time

PAUSE = 10.0
"""Seconds between two lines of the log that say the same."""


class Seldom:
    """Tells whether it is time to say it again. Not safe with threads."""

    def __init__(self) -> None:
        self._said = -PAUSE

    def __call__(self) -> bool:
        """Whether so much time has passed since it was last said that it is; true the first time."""
        now = time.monotonic()
        if now - self._said < PAUSE:
            return False
        self._said = now
        return True

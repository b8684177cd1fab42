"""What would be said over and over is said now and then."""

from __future__ import annotations

import time

from cachetools import TTLCache

PAUSE = 10.0
"""Seconds between two lines of the log that say the same."""

MOST = 16
"""Sentences that are remembered."""


class Seldom:
    """Tells of each sentence whether it is time to say it again. Not safe with threads."""

    def __init__(self) -> None:
        self._said: TTLCache[str, bool] = TTLCache(MOST, PAUSE, timer=time.monotonic)

    def __call__(self, what: str) -> bool:
        """Whether so much time has passed since it was last said that it is; true the first time."""
        if what in self._said:
            return False
        self._said[what] = True
        return True

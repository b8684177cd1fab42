"""What would be said over and over is said now and then."""

from __future__ import annotations

import time

from cachetools import TTLCache

PAUSE_SECONDS = 10.0
"""Seconds between two lines of the log that say the same."""

MAX_SENTENCES = 16
"""Sentences that are remembered."""


class LogThrottle:
    """Tells of each sentence whether it is time to say it again. Not safe with threads."""

    def __init__(self) -> None:
        self._recent: TTLCache[str, bool] = TTLCache(MAX_SENTENCES, PAUSE_SECONDS, timer=time.monotonic)

    def __call__(self, sentence: str) -> bool:
        """Whether so much time has passed since it was last said that it is; true the first time."""
        if sentence in self._recent:
            return False
        self._recent[sentence] = True
        return True

"""Throttle for repeated log messages."""

from __future__ import annotations

import time

from cachetools import TTLCache

PAUSE_SECONDS = 10.0
"""Seconds between two equal log messages."""

MAX_SENTENCES = 16
"""Number of messages remembered."""


class LogThrottle:
    """Decides if a message is due again. Not thread-safe."""

    def __init__(self) -> None:
        self._recent: TTLCache[str, bool] = TTLCache(MAX_SENTENCES, PAUSE_SECONDS, timer=time.monotonic)

    def __call__(self, sentence: str) -> bool:
        """Return True for a new message, and again once PAUSE_SECONDS have passed."""
        if sentence in self._recent:
            return False
        self._recent[sentence] = True
        return True

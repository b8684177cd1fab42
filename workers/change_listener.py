"""For processes that serve streams: who listens is told which games have changed once the views have it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from workers.signals import Bell

SILENCE = 2.0
"""Seconds without any announcement after which everybody looks: the pump's last words may have been lost."""

DEAF = 0.5
"""The same while Redis is away."""

log = logging.getLogger("annals.changes")

Tell = Callable[[frozenset[str]], None]
"""Is told the games that may have changed; none: any may have."""


class Changes:
    """What the pump announces, heard by one thread for whoever listens."""

    def __init__(self, bell: Callable[[], Bell]) -> None:
        """`bell` makes a bell for the listening thread alone."""
        self._make = bell

    def listen(self, tell: Tell) -> None:
        """From now on, in a thread of its own that ends with the process, which must not fork any more."""
        threading.Thread(target=self._run, args=(tell,), name="changes", daemon=True).start()

    def _run(self, tell: Tell) -> None:
        while True:
            try:
                self._hear(tell)
            except Exception:
                log.exception("listening begins anew")
            time.sleep(DEAF)

    def _hear(self, tell: Tell) -> None:
        bell = self._make()
        told = time.monotonic()
        while True:
            news = bell.pumped(DEAF)
            if news is not None or time.monotonic() > told + (DEAF if bell.deaf else SILENCE):
                told = time.monotonic()
                tell(news.games if news else frozenset())

"""For processes that serve streams: who listens is told which games have changed once the views have it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from workers.signals import Signals

SILENCE_SECONDS = 2.0
"""Seconds without any announcement after which everybody looks: the pump's last words may have been lost."""

DEAF_SECONDS = 0.5
"""The same while Redis is away."""

log = logging.getLogger("annals.changes")

OnChange = Callable[[frozenset[str]], None]
"""Is told the games that may have changed; none: any may have."""


class ChangeListener:
    """What the pump announces, heard by one thread for whoever listens."""

    def __init__(self, make_signals: Callable[[], Signals]) -> None:
        """`bell` makes a bell for the listening thread alone."""
        self._make_signals = make_signals

    def listen(self, on_change: OnChange) -> None:
        """From now on, in a thread of its own that ends with the process, which must not fork any more."""
        threading.Thread(target=self._run, args=(on_change,), name="changes", daemon=True).start()

    def _run(self, on_change: OnChange) -> None:
        while True:
            try:
                self._receive(on_change)
            except Exception:
                log.exception("listening begins anew")
            time.sleep(DEAF_SECONDS)

    def _receive(self, on_change: OnChange) -> None:
        signals = self._make_signals()
        called_at = time.monotonic()
        while True:
            message = signals.wait_projected(DEAF_SECONDS)
            if message is not None or time.monotonic() > called_at + (
                DEAF_SECONDS if signals.is_deaf else SILENCE_SECONDS
            ):
                called_at = time.monotonic()
                on_change(message.games if message else frozenset())

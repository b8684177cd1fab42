"""Listener for changed games, used by processes that serve streams."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from workers.signal_channel import OnChange
from workers.signals import Signals

SILENCE_SECONDS = 2.0
"""Seconds without a message after which all games count as changed: a message may be lost."""

DEAF_SECONDS = 0.5
"""The same limit while Redis is away."""

log = logging.getLogger("annals.changes")


class ChangeListener:
    """One thread that receives the projectors' messages and calls back."""

    def __init__(self, make_signals: Callable[[], Signals]) -> None:
        """`make_signals` makes a connection for the listening thread alone."""
        self._make_signals = make_signals

    def listen(self, on_change: OnChange) -> None:
        """Start the listening thread, which ends with the process. The process must not fork afterwards."""
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

"""Signals between the parts of a service, over Redis or within one process. The data stays in the databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

OnChange = Callable[[frozenset[str]], None]
"""Callback with the games that may have changed; an empty set means any game."""


class SignalChannel(Protocol):
    """Sends signals, and waits for those of new records."""

    def notify_appended(self, position: int) -> None:
        """Signal new records up to a log position."""

    def notify_projected(self, position: int, games: Sequence[str]) -> None:
        """Signal that the views have reached a position, with the changed games."""

    def notify_changed(self, game: str) -> None:
        """Signal a change outside the log, such as a job request."""

    def wait_appended(self, seconds: float) -> bool:
        """Wait for a signal of new records, at most `seconds`; return True on a signal."""

    def is_up(self) -> bool:
        """Return True if signals arrive."""

    def close(self) -> None:
        """Close all connections."""

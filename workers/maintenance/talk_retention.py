"""The end of texts: the maintenance process destroys the keys of messages some time after the close of their game."""

from __future__ import annotations

import logging
import time

from domain.accounts.account_tables import DAY
from domain.errors import AnnalsError, StoreUnavailable
from workers.context import WorkerContext

TABLES_AT_ONCE = 50
"""Tables looked at in one step."""

REST_SECONDS = 600.0
"""Seconds between two passes over all tables."""

STEP_SECONDS = 1.0
"""Seconds between two steps of a pass."""

log = logging.getLogger("annals.keeper")


class TalkRetention:
    """Walks through the tables with talk, and erases the texts of those closed long ago."""

    def __init__(self, context: WorkerContext, days: int) -> None:
        self._context, self._days = context, days
        self._last, self._next_at = "", 0.0

    def step(self) -> int:
        """Look at the next tables if it is time; return the number of erased texts."""
        if time.monotonic() < self._next_at:
            return 0
        erased, wait = 0, REST_SECONDS
        try:
            games = self._context.talk.list_tables(self._last, TABLES_AT_ONCE)
            erased = self._context.talk.erase_expired([game for game in games if self._is_over(game)])
            self._last = games[-1] if len(games) == TABLES_AT_ONCE else ""
            wait = STEP_SECONDS if self._last else REST_SECONDS
        except StoreUnavailable as error:
            log.warning("no texts are erased now: %s", error)
        self._next_at = time.monotonic() + wait
        return erased

    def _is_over(self, game: str) -> bool:
        ledger = self._context.ledger
        try:
            version = ledger.version(game)
            (last,) = ledger.read(game, version - 1, version) or (None,)
        except StoreUnavailable:
            raise
        except AnnalsError:  # a damaged game waits for its repair
            return False
        limit = self._context.clock() - self._days * DAY
        return last is not None and last.kind == "closed" and last.time < limit

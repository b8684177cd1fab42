"""Tells the players of tables with hidden names, once spectators may know of the close."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from domain.errors import StoreUnavailable
from domain.service.hidden_players import HiddenPlayers
from projections.reader import Reader
from workers.context import WorkerContext

REST_SECONDS = 5.0
"""Seconds between two looks for closed games."""

MOST_AT_ONCE = 200
"""Games in one look."""

log = logging.getLogger("annals.names")


class HiddenNames:
    """Tells the names of closed games. Several processes may do so."""

    def __init__(self, context: WorkerContext, reader: Reader, notify_changed: Callable[[str], None]) -> None:
        """`notify_changed` is called with each game once its names are told."""
        self._players = HiddenPlayers(context.ledger)
        self._reader, self._notify_changed = reader, notify_changed
        self._next_at, self._after = 0.0, ""

    def step(self) -> int:
        """Tell due names if it is time; return the number of games. A failing store stops nothing else."""
        if time.monotonic() < self._next_at:
            return 0
        self._next_at = time.monotonic() + REST_SECONDS
        try:
            return self._tell_next()
        except StoreUnavailable as error:
            log.warning("no names are told now: %s", error)
            return 0

    def _tell_next(self) -> int:
        games = self._players.list_games(self._after, MOST_AT_ONCE)
        self._after = games[-1] if len(games) == MOST_AT_ONCE else ""
        closed = [doc["game"] for _, doc in self._reader.list_summaries(games, "closed", limit=MOST_AT_ONCE)]
        for game in closed:
            self._players.tell(game)
            self._notify_changed(game)
        return len(closed)

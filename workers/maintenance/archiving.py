"""Moves games to the archive some time after their close, oldest first, one at a time."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StaleVersion
from domain.ledger import Ledger
from projections.archived_views import ClosedGame, drop_game_everywhere, list_closed_before
from projections.delayed_views import is_transient
from projections.integrity import list_leaf_hashes
from workers.context import WorkerContext

DAY_MS = 86_400_000
"""Milliseconds of a day."""

PAGE_SIZE = 100
"""Games per query."""

START = (-1, "")
"""Key before all games, in the order of their closing times."""

log = logging.getLogger("annals.archive")


class GameArchiver:
    """Archives games closed `days` ago, one at a time. Safe to kill and to run several times in parallel.

    `ledger` is a connection with the right to repair the log.
    """

    def __init__(self, context: WorkerContext, days: int, ledger: Ledger | None = None) -> None:
        self._context, self._ledger, self._days = context, ledger or context.ledger, days
        self._after = START
        self._page: list[ClosedGame] = []

    def find_next(self) -> ClosedGame | None:
        """Return the next game to archive; None at the end, and then start again with the oldest."""
        if not self._page:
            before = self._context.clock() - self._days * DAY_MS
            self._page = list_closed_before(self._context.views, before, self._after, PAGE_SIZE)
        game = self._page.pop(0) if self._page else None
        self._after = (game.at, game.game) if game else START
        return game

    def archive(self, game: ClosedGame) -> int:
        """Move a game and return the number of its records; 0 if it cannot be proved or is not ready.

        A killed run leaves the game's rows in the views, so the next run finds it again. Raises StoreUnavailable and
        WrongKey.
        """
        leaves = list_leaf_hashes(self._context.views, game.game)
        if leaves.keys() != set(range(1, game.version + 1)):  # the tree is behind
            return 0
        try:
            moved = self._ledger.repair.archive_game(game.game, leaves, f"closed for {self._days} days")
        except StaleVersion:  # another process was faster
            return 0
        except (AnnalsError, ValueError) as error:
            if is_transient(error):
                raise
            log.error("%s cannot be archived: %s", game.game, error)  # noqa: TRY400 - the message is enough
            self._context.inspector.inspect(game.game)
            return 0
        drop_game_everywhere(self._context.views, game.game)
        return moved

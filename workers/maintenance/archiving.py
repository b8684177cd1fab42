"""Games that were closed long ago are moved to the archive, the oldest first, one at a time."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StaleVersion
from domain.ledger import Ledger
from projections.archived_views import ClosedGame, drop_game_everywhere, list_closed_before
from projections.delayed_views import is_transient
from projections.integrity import list_leaf_hashes
from workers.context import WorkerContext

DAY_MS = 86_400_000
"""ms."""

PAGE_SIZE = 100
"""Games that are looked up at once."""

START = (-1, "")
"""Before every game, in the order of their times."""

log = logging.getLogger("annals.archive")


class GameArchiver:
    """One game at a time, of those that were closed so many days ago; safe to kill, and beside others that do the same.

    `ledger`: opened by who may repair the log.
    """

    def __init__(self, context: WorkerContext, days: int, ledger: Ledger | None = None) -> None:
        self._context, self._ledger, self._days = context, ledger or context.ledger, days
        self._after = START
        self._page: list[ClosedGame] = []

    def find_next(self) -> ClosedGame | None:
        """The next game that is to be archived; None at the end, after which it begins anew with the oldest."""
        if not self._page:
            before = self._context.clock() - self._days * DAY_MS
            self._page = list_closed_before(self._context.views, before, self._after, PAGE_SIZE)
        game = self._page.pop(0) if self._page else None
        self._after = (game.at, game.game) if game else START
        return game

    def archive(self, game: ClosedGame) -> int:
        """Gives the number of records that were moved; 0 for a game that stays, since it cannot be proved.

        Killed in between it still has its rows in the views, so it is found again. Raises StoreUnavailable and
        WrongKey.
        """
        leaves = list_leaf_hashes(self._context.views, game.game)
        if leaves.keys() != set(range(1, game.version + 1)):  # the tree has not read as far
            return 0
        try:
            moved = self._ledger.repair.archive_game(game.game, leaves, f"closed for {self._days} days")
        except StaleVersion:  # somebody else was faster
            return 0
        except (AnnalsError, ValueError) as error:
            if is_transient(error):
                raise
            log.error("%s cannot be archived: %s", game.game, error)  # noqa: TRY400 - the error says all there is
            self._context.inspector.inspect(game.game)
            return 0
        drop_game_everywhere(self._context.views, game.game)
        return moved

"""Games that were closed long ago are moved to the archive, the oldest first, one at a time."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StaleVersion
from domain.ledger import Ledger
from projections.archived_views import Closed, closed_before, forget_everywhere
from projections.delayed_views import passes
from projections.integrity import leaves_of
from workers.context import Crew

DAY = 86_400_000
"""ms."""

PAGE = 100
"""Games that are looked up at once."""

FIRST = (-1, "")
"""Before every game, in the order of their times."""

log = logging.getLogger("annals.archive")


class Archiving:
    """One game at a time, of those that were closed so many days ago; safe to kill, and beside others that do the same.

    `ledger`: opened by who may repair the log.
    """

    def __init__(self, crew: Crew, days: int, ledger: Ledger | None = None) -> None:
        self._crew, self._ledger, self._days = crew, ledger or crew.ledger, days
        self._after = FIRST
        self._page: list[Closed] = []

    def next(self) -> Closed | None:
        """The next game that is to be archived; None at the end, after which it begins anew with the oldest."""
        if not self._page:
            before = self._crew.clock() - self._days * DAY
            self._page = closed_before(self._crew.views, before, self._after, PAGE)
        found = self._page.pop(0) if self._page else None
        self._after = (found.at, found.game) if found else FIRST
        return found

    def archive(self, game: Closed) -> int:
        """Gives the number of records that were moved; 0 for a game that stays, since it cannot be proved.

        Killed in between it still has its rows in the views, so it is found again. Raises StoreUnavailable and
        WrongKey.
        """
        leaves = leaves_of(self._crew.views, game.game)
        if leaves.keys() != set(range(1, game.version + 1)):  # the tree has not read as far
            return 0
        try:
            moved = self._ledger.archive(game.game, leaves, f"closed for {self._days} days")
        except StaleVersion:  # somebody else was faster
            return 0
        except (AnnalsError, ValueError) as error:
            if passes(error):
                raise
            log.error("%s cannot be archived: %s", game.game, error)  # noqa: TRY400 - the error says all there is
            self._crew.inspector.inspect(game.game)
            return 0
        forget_everywhere(self._crew.views, game.game)
        return moved

"""Corrupt games: checks suspects and keeps the views in line with the list of corrupt records."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StoreUnavailable
from domain.service.corruption import CorruptRecords
from projections.projector import DAMAGED_PREFIX, Projector
from projections.reader import Reader
from workers.context import WorkerContext

log = logging.getLogger("annals.damaged")


def check_suspect(context: WorkerContext, game: str) -> bool:
    """Inspect a game after a failure; return True if it is corrupt."""
    try:
        return context.inspector.inspect(game) is not None
    except StoreUnavailable:
        return False


class CorruptionHandler:
    """Moves this projector's games into quarantine and out again, as the rows of corrupt records say."""

    def __init__(self, context: WorkerContext, projector: Projector) -> None:
        self._context, self._projector = context, projector
        self._reader = Reader(context.views)
        self._checked: set[str] = set()

    def update_views(self) -> None:
        """Apply changes of the rows. The views must be at the end of the log."""
        if (lease := self._projector.lease) is None:
            return
        quarantined = {
            str(row["game"]): str(row["error"])
            for row in self._reader.list_quarantined()
            if lease.owns(str(row["game"]))
        }
        self._check_failed([game for game, error in quarantined.items() if not error.startswith(DAMAGED_PREFIX)])
        first: dict[str, int] = {}
        for damage in (d for d in CorruptRecords(self._context.ledger).list_all() if lease.owns(d.game)):
            first.setdefault(damage.game, damage.version)
        for game, version in first.items():
            if quarantined.get(game) != f"{DAMAGED_PREFIX}{version}":
                self._update_game(game, version)
        for game, error in quarantined.items():
            if error.startswith(DAMAGED_PREFIX) and game not in first:
                self._update_game(game, None)

    def _check_failed(self, games: list[str]) -> None:
        """Inspect each unprojectable game once. The cause is corruption or a fault of the rules."""
        for game in games:
            if game not in self._checked:
                check_suspect(self._context, game)
        self._checked = set(games)

    def _update_game(self, game: str, version: int | None) -> None:
        try:
            if version is None:
                self._projector.restore(game, self._context.clock())
            else:
                self._projector.quarantine(game, version, self._context.clock())
        except AnnalsError as error:  # the next check sees later changes
            log.warning("the views of %s stay as they are: %s", game, error)
            check_suspect(self._context, game)

"""Damaged games: what somebody has come upon is judged, and the views follow what was found."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StoreUnavailable
from domain.service.corruption import CorruptRecords
from projections.projector import DAMAGED_PREFIX, Projector
from projections.reader import Reader
from workers.context import WorkerContext

log = logging.getLogger("annals.damaged")


def check_suspect(context: WorkerContext, game: str) -> bool:
    """Something could not be done for a game: whether it is because the game is damaged, which is written down."""
    try:
        return context.inspector.inspect(game) is not None
    except StoreUnavailable:
        return False


class CorruptionHandler:
    """Sets games aside and brings them back, as the rows say: those that this pump shows."""

    def __init__(self, context: WorkerContext, projector: Projector) -> None:
        self._context, self._projector = context, projector
        self._reader = Reader(context.views)
        self._checked: set[str] = set()

    def update_views(self) -> None:
        """To be done with the views at the end of the log."""
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
        """Games whose records could not be shown, each once: it may be for damage, or for a fault of the rules."""
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
        except AnnalsError as error:  # what has changed since is seen at the next look
            log.warning("the views of %s stay as they are: %s", game, error)
            check_suspect(self._context, game)

"""Damaged games: what somebody has come upon is judged, and the views follow what was found."""

from __future__ import annotations

import logging

from domain.errors import AnnalsError, StoreUnavailable
from domain.service.corruption import Damages
from projections.projector import DAMAGED, Pump
from projections.reader import Reader
from workers.context import Crew

log = logging.getLogger("annals.damaged")


def suspected(hands: Crew, game: str) -> bool:
    """Something could not be done for a game: whether it is because the game is damaged, which is written down."""
    try:
        return hands.inspector.inspect(game) is not None
    except StoreUnavailable:
        return False


class DamagedGames:
    """Sets games aside and brings them back, as the rows say: those that this pump shows."""

    def __init__(self, crew: Crew, pump: Pump) -> None:
        self._crew, self._pump = crew, pump
        self._reader = Reader(crew.views)
        self._judged: set[str] = set()

    def look(self) -> None:
        """To be done with the views at the end of the log."""
        if (held := self._pump.held) is None:
            return
        shown = {str(row["game"]): str(row["error"]) for row in self._reader.aside() if held.has(str(row["game"]))}
        self._judge([game for game, error in shown.items() if not error.startswith(DAMAGED)])
        first: dict[str, int] = {}
        for damage in (d for d in Damages(self._crew.ledger).all() if held.has(d.game)):
            first.setdefault(damage.game, damage.version)
        for game, version in first.items():
            if shown.get(game) != f"{DAMAGED}{version}":
                self._follow(game, version)
        for game, error in shown.items():
            if error.startswith(DAMAGED) and game not in first:
                self._follow(game, None)

    def _judge(self, games: list[str]) -> None:
        """Games whose records could not be shown, each once: it may be for damage, or for a fault of the rules."""
        for game in games:
            if game not in self._judged:
                suspected(self._crew, game)
        self._judged = set(games)

    def _follow(self, game: str, version: int | None) -> None:
        try:
            if version is None:
                self._pump.bring_back(game, self._crew.clock())
            else:
                self._pump.set_aside(game, version, self._crew.clock())
        except AnnalsError as error:  # what has changed since is seen at the next look
            log.warning("the views of %s stay as they are: %s", game, error)
            suspected(self._crew, game)

"""AOR-13: phase 6, the end of a game turn."""

from __future__ import annotations

from domain.games.age_of_reason.facts.sequence import GameTurnEnded
from domain.games.age_of_reason.state import D


def end_game_turn(d: D) -> None:
    """AOR-13.1 to AOR-13.4: cards and tokens go back, unrest is halved and rounded up, coalitions are dissolved."""
    halved = [-(-empire.unrest // 2) for empire in d.state.empires]
    d.add(GameTurnEnded(d.state.game_turn, halved))

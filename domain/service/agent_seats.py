"""Seats played by agents: a program that declares itself marks the seat for all.

A row counts for one player. When another one has the seat, nobody sees it any more.
"""

from __future__ import annotations

from domain.service.database import Database, Statement
from domain.types import Seat

TABLES = (
    """CREATE TABLE IF NOT EXISTS agent_seats (
  game TEXT NOT NULL, seat INTEGER NOT NULL, player TEXT NOT NULL, PRIMARY KEY (game, seat))""",
)

_MARK = """
INSERT INTO agent_seats VALUES (?, ?, ?) ON CONFLICT (game, seat) DO UPDATE SET player = excluded.player"""


class AgentSeats:
    """The table of seats played by agents. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    def mark(game: str, seat: Seat, player: str) -> Statement:
        """Return a statement to mark a player's seat."""
        return _MARK, (game, seat, player)

    def list_players(self, game: str) -> dict[Seat, str]:
        """Return the marked seats of a game, and the player for whom each mark counts."""
        rows = self._database.execute("SELECT seat, player FROM agent_seats WHERE game = ?", (game,))
        return {int(seat): str(player) for seat, player in rows}

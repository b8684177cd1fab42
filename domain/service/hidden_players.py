"""Player ids of tables with hidden names: nobody is told the person behind one until the game is closed.

Each holder of a seat there plays under an id of the table alone. It belongs to the account like the id of a claimed
guest; a row here keeps name and account from everybody else.
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.service.database import Database, Statement, placeholders

TABLES = (
    "CREATE TABLE IF NOT EXISTS hidden_players (player TEXT PRIMARY KEY, game TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS hidden_players_game ON hidden_players (game)",
)


def is_shown(column: str) -> str:
    """Return an SQL condition: everybody may know the person behind a player id."""
    return f"NOT EXISTS (SELECT 1 FROM hidden_players hp WHERE hp.player = {column})"  # noqa: S608 - our own names


class HiddenPlayers:
    """The table of hidden player ids. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hide(self, game: str, player: str) -> Statement:
        """Return a statement to hide the person behind a player id until the game's names are told."""
        return "INSERT INTO hidden_players VALUES (?, ?) ON CONFLICT DO NOTHING", (player, game)

    def find_game(self, player: str) -> str:
        """Return the game with a hidden player of this id; empty for all other ids."""
        rows = self._database.execute("SELECT game FROM hidden_players WHERE player = ?", (player,))
        return str(rows[0][0]) if rows else ""

    def list_shown(self, players: Sequence[str]) -> list[str]:
        """Return these player ids without the hidden ones."""
        query = f"SELECT player FROM hidden_players WHERE player IN ({placeholders(players)})"  # noqa: S608 - question marks only
        hidden = {player for (player,) in self._database.execute(query, players)} if players else set()
        return [player for player in players if player not in hidden]

    def has_hidden(self, game: str) -> bool:
        """Return whether a game has hidden players."""
        return bool(self._database.execute("SELECT 1 FROM hidden_players WHERE game = ? LIMIT 1", (game,)))

    def list_games(self, after: str, limit: int) -> list[str]:
        """Return games with hidden players, by their id, after one of them."""
        query = "SELECT DISTINCT game FROM hidden_players WHERE game > ? ORDER BY game LIMIT ?"
        return [str(game) for (game,) in self._database.execute(query, (after, limit))]

    def tell(self, game: str) -> None:
        """Let everybody know the players of a game."""
        self._database.execute("DELETE FROM hidden_players WHERE game = ?", (game,))

"""Names of players, and their texts: reasons in records, titles and notes of tables.

Records hold opaque player ids and hashes of texts only. Names and texts are stored here alone, and can be erased.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from domain.service.database import Database, Statement, placeholders
from domain.service.hidden_players import is_shown
from domain.service.token_text import hash_secret

TABLES = (
    "CREATE TABLE IF NOT EXISTS people (player TEXT PRIMARY KEY, name TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS texts (
  hash TEXT PRIMARY KEY, player TEXT NOT NULL, salt TEXT NOT NULL, said TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS cards (
  game TEXT PRIMARY KEY, player TEXT NOT NULL, title TEXT NOT NULL, note TEXT NOT NULL)""",
)
_NAME = "INSERT INTO people (player, name) VALUES (?, ?) ON CONFLICT (player) DO UPDATE SET name = excluded.name"
_LABEL = """
INSERT INTO cards VALUES (?, ?, ?, ?)
ON CONFLICT (game) DO UPDATE SET player = excluded.player, title = excluded.title, note = excluded.note"""
_KEEP = "INSERT INTO texts (hash, player, salt, said) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


class PlayerTexts:
    """Tables of names, reasons and cards. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- names

    def set_name(self, player: str, name: str) -> list[Statement]:
        """Return statements that give a player a name."""
        return [(_NAME, (player, name))]

    def list_names(self, players: Iterable[str]) -> dict[str, str]:
        """Return the names of these players.

        Players without a name, with an erased one, or at a table that hides its names, are left out.
        """
        ids = sorted(set(players))
        if not ids:
            return {}
        rows = self._database.execute(
            f"SELECT player, name FROM people WHERE player IN ({placeholders(ids)}) AND {is_shown('people.player')}",  # noqa: S608 - question marks only
            ids,
        )
        return {player: name for player, name in rows}  # noqa: C416 - rows of two

    # --- reasons

    def insert_text(self, player: str, text: str) -> tuple[str, list[Statement]]:
        """Return the salted hash of a player's text, for a record, and the statements to store the text."""
        salt = secrets.token_hex(16)
        hashed = hash_secret(salt + text)
        return hashed, [(_KEEP, (hashed, player, salt, text))]

    def store_text(self, player: str, text: str) -> str:
        """Store a player's text; return the salted hash that represents it in a record."""
        hashed, statements = self.insert_text(player, text)
        for statement, params in statements:
            self._database.execute(statement, params)
        return hashed

    def find_text(self, hashed: str) -> str | None:
        """Return the text behind a hash, or None after its erasure."""
        rows = self._database.execute("SELECT said FROM texts WHERE hash = ?", (hashed,))
        return str(rows[0][0]) if rows else None

    def find_texts(self, hashes: Iterable[str]) -> dict[str, str]:
        """Return the texts behind these hashes; erased ones are left out."""
        wanted = sorted(set(hashes))
        if not wanted:
            return {}
        rows = self._database.execute(
            f"SELECT hash, said FROM texts WHERE hash IN ({placeholders(wanted)})",  # noqa: S608 - question marks only
            wanted,
        )
        return {hashed: said for hashed, said in rows}  # noqa: C416 - rows of two

    def list_texts(self, players: Sequence[str]) -> list[str]:
        """Return all texts of a person with these player ids, cards included."""
        condition = f"WHERE player IN ({placeholders(players)})"
        rows = self._database.execute(f"SELECT said FROM texts {condition}", players)  # noqa: S608 - question marks only
        rows += self._database.execute(f"SELECT title FROM cards {condition}", players)  # noqa: S608 - question marks only
        rows += self._database.execute(f"SELECT note FROM cards {condition}", players)  # noqa: S608 - question marks only
        return [str(said) for (said,) in rows if said]

    # --- cards of tables

    def set_card(self, game: str, player: str, title: str, note: str) -> None:
        """Store a table's title and note, written by that player; delete the card if both are empty."""
        if title or note:
            self._database.execute(_LABEL, (game, player, title, note))
        else:
            self._database.execute("DELETE FROM cards WHERE game = ?", (game,))

    def list_cards(self, games: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the title and note of each of these games with a card."""
        if not games:
            return {}
        rows = self._database.execute(
            f"SELECT game, title, note FROM cards WHERE game IN ({placeholders(games)})",  # noqa: S608 - question marks only
            games,
        )
        return {game: (title, note) for game, title, note in rows}

    # --- erasure

    def erase(self, player: str) -> list[Statement]:
        """Return statements that delete a player's name, texts and cards."""
        tables = ("people", "texts", "cards")
        return [(f"DELETE FROM {table} WHERE player = ?", (player,)) for table in tables]  # noqa: S608 - our own names

    def erase_now(self, player: str) -> None:
        """Delete a player's name, texts and cards, also from files. Games keep the opaque id and the hashes."""
        for statement, params in self.erase(player):
            self._database.execute(statement, params)
        self._database.scrub_deleted_pages()

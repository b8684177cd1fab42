"""Rows of officers: roles at tables, and offers of roles without an answer.

The records of a game are the truth about its officers. These rows are written with them, and make requests quick.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.service.database import Database, Execute, Statement, placeholders

TABLES = (
    """CREATE TABLE IF NOT EXISTS officers (
  game TEXT NOT NULL, player TEXT NOT NULL, office TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
  PRIMARY KEY (game, player))""",
    "CREATE INDEX IF NOT EXISTS officers_player ON officers (player)",
    # `player` gets the role from the officer `by`.
    """CREATE TABLE IF NOT EXISTS office_offers (
  game TEXT NOT NULL, player TEXT NOT NULL, role TEXT NOT NULL, by TEXT NOT NULL, reason TEXT NOT NULL,
  at BIGINT NOT NULL, PRIMARY KEY (game, player))""",
    "CREATE INDEX IF NOT EXISTS office_offers_player ON office_offers (player)",
)
_APPOINT = """
INSERT INTO officers VALUES (?, ?, ?, ?)
ON CONFLICT (game, player) DO UPDATE SET office = excluded.office, id = excluded.id"""
_OFFER = """
INSERT INTO office_offers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (game, player) DO UPDATE
SET role = excluded.role, by = excluded.by, reason = excluded.reason, at = excluded.at"""
_DISMISS = "DELETE FROM officers WHERE game = ? AND player = ?"
_WITHDRAW = "DELETE FROM office_offers WHERE game = ? AND player = ?"


@dataclass(frozen=True)
class OfficeOffer:
    """An officer's offer of a role to a person."""

    game: str
    player: str
    role: str
    by: str
    """Player id of the officer."""
    reason: str
    """Hash of the reason, or empty."""
    at: int
    """Time, ms."""


class OfficerRows:
    """Tables of officers and offers. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def appoint(self, game: str, player: str, office: str) -> list[Statement]:
        """Return statements to give a person a role, in place of an earlier one or of an offer."""
        return [(_APPOINT, (game, player, office, secrets.token_hex(8))), (_WITHDRAW, (game, player))]

    def dismiss(self, game: str, player: str) -> list[Statement]:
        """Return statements to end a person's role, and an offer to the person."""
        return [(_DISMISS, (game, player)), (_WITHDRAW, (game, player))]

    def offer(self, offers: Sequence[OfficeOffer]) -> None:
        """Store offers, in place of earlier ones to the same people at the same tables; all or none."""
        rows = [(_OFFER, (o.game, o.player, o.role, o.by, o.reason, o.at)) for o in offers]

        def work(execute: Execute) -> None:
            for statement, params in rows:
                execute(statement, params)

        self._database.run_in_append_order(work)

    def withdraw(self, game: str, player: str) -> bool:
        """Delete an offer; return whether there was one."""
        return bool(self._database.execute(f"{_WITHDRAW} RETURNING player", (game, player)))

    def list_offers(self, players: Sequence[str]) -> list[OfficeOffer]:
        """Return the offers to a person with these ids, oldest first."""
        condition = f"player IN ({placeholders(players)}) ORDER BY at, game"
        rows = self._database.execute(f"SELECT * FROM office_offers WHERE {condition}", players)  # noqa: S608 - question marks only
        return [OfficeOffer(*row) for row in rows]

    def list_by_game(self, game: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return player id and role of each officer of a table, then of each offer."""
        held = self._database.execute("SELECT player, office FROM officers WHERE game = ? ORDER BY player", (game,))
        query = "SELECT player, role FROM office_offers WHERE game = ? ORDER BY at, player"
        offered = self._database.execute(query, (game,))
        return [(str(p), str(office)) for p, office in held], [(str(p), str(role)) for p, role in offered]

    def list_by_player(self, players: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return game, player id and role of each office of a person with these ids, without ownership."""
        condition = f"player IN ({placeholders(players)}) ORDER BY game"
        rows = self._database.execute(f"SELECT game, player, office FROM officers WHERE {condition}", players)  # noqa: S608 - question marks only
        return [(str(game), str(player), str(office)) for game, player, office in rows]

    def erase(self, players: Sequence[str]) -> list[Statement]:
        """Return statements to delete all roles of a person, and the offers to and by the person."""
        tables = (("officers", "player"), ("office_offers", "player"), ("office_offers", "by"))
        return [
            (f"DELETE FROM {table} WHERE {column} = ?", (player,))  # noqa: S608 - our own names
            for player in players
            for table, column in tables
        ]

"""Rows of questions: an entrant asks a person to be a substitute. They bind nobody: the answer yes is a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Database, Execute, Statement, placeholders
from domain.service.idempotency_keys import IdempotencyKey, bind_key

TABLES = (
    # `player` is asked by the entrant `by`.
    """CREATE TABLE IF NOT EXISTS substitute_offers (
  tournament TEXT NOT NULL, by TEXT NOT NULL, player TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, by, player))""",
    "CREATE INDEX IF NOT EXISTS substitute_offers_player ON substitute_offers (player)",
)

MOST_SUBSTITUTES = 5
"""Most substitutes of an entrant, open questions included."""

_OFFER = "INSERT INTO substitute_offers VALUES (?, ?, ?, ?) ON CONFLICT (tournament, by, player) DO NOTHING"
_END = "DELETE FROM substitute_offers WHERE tournament = ? AND by = ?"


class SubstituteOffer(NamedTuple):
    """The question of an entrant to a person."""

    tournament: str
    by: str
    """Player id of the entrant."""
    player: str
    at: int
    """Time, ms."""


class SubstituteOffers:
    """Table of open questions. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, offer: SubstituteOffer, held: int, key: IdempotencyKey | None = None) -> None:
        """Store a question, once for a key; `held`: substitutes of the entrant. Raise AccountError above the limit."""

        def work(execute: Execute) -> None:
            if not bind_key(execute, key):
                return
            query = "SELECT player FROM substitute_offers WHERE tournament = ? AND by = ?"
            asked = {str(player) for (player,) in execute(query, (offer.tournament, offer.by))} | {offer.player}
            if len(asked) + held > MOST_SUBSTITUTES:
                message = Message("An entrant has {most} substitutes at most.", most=MOST_SUBSTITUTES)
                raise AccountError("too_many", message)
            execute(_OFFER, offer)

        self._database.run_in_append_order(work)

    def withdraw(self, tournament: str, by: str, player: str) -> bool:
        """Delete a question; return whether there was one."""
        statement, params = self.end_one(tournament, by, player)
        return bool(self._database.execute(f"{statement} RETURNING player", params))

    @staticmethod
    def end_one(tournament: str, by: str, player: str) -> Statement:
        """Return the statement to delete a question."""
        return f"{_END} AND player = ?", (tournament, by, player)

    @staticmethod
    def end_all(tournament: str, by: Sequence[str]) -> list[Statement]:
        """Return statements to delete all questions of an entrant with these player ids."""
        return [(_END, (tournament, player)) for player in by]

    def list_open(self, players: Sequence[str]) -> list[SubstituteOffer]:
        """Return the questions to and by a person with these ids, oldest first."""
        some = placeholders(players)
        condition = f"player IN ({some}) OR by IN ({some}) ORDER BY at, tournament"
        rows = self._database.execute(f"SELECT * FROM substitute_offers WHERE {condition}", [*players, *players])  # noqa: S608 - question marks only
        return [SubstituteOffer(*row) for row in rows]

    def list_in(self, tournament: str) -> list[SubstituteOffer]:
        """Return the questions in a tournament, oldest first."""
        rows = self._database.execute("SELECT * FROM substitute_offers WHERE tournament = ? ORDER BY at", [tournament])
        return [SubstituteOffer(*row) for row in rows]

    @staticmethod
    def erase(players: Sequence[str]) -> list[Statement]:
        """Return statements to delete all questions to and by a person."""
        return [("DELETE FROM substitute_offers WHERE player = ? OR by = ?", (player, player)) for player in players]

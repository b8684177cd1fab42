"""Words of an event's officers to all entrants, or to one of its tables. They can be erased, and are in no record."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Database, Execute, Statement, placeholders
from domain.service.idempotency_keys import IdempotencyKey, bind_key

TABLES = (
    # With an empty game it is for all.
    """CREATE TABLE IF NOT EXISTS announcements (
  id TEXT PRIMARY KEY, tournament TEXT NOT NULL, game TEXT NOT NULL, player TEXT NOT NULL, said TEXT NOT NULL,
  at BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS announcements_tournament ON announcements (tournament, at)",
)

MOST_ANNOUNCEMENTS = 500
"""Most announcements of an event."""

SHOWN = 50
"""Newest announcements in one answer."""


class EventAnnouncement(NamedTuple):
    """Words of an officer."""

    id: str
    tournament: str
    game: str
    """The only table to read it; empty: all."""
    player: str
    """The officer."""
    said: str
    at: int
    """Time, ms."""


class EventAnnouncements:
    """The table of announcements. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        tournament: str,
        game: str,
        player: str,
        said: str,
        at: int,
        key: IdempotencyKey | None = None,
        more: Callable[[str], Iterable[Statement]] = lambda _: (),
    ) -> EventAnnouncement:
        """Store an announcement, once for a key, and return it. Raise AccountError above the limit.

        `more` returns statements to run with it, given its id.
        """
        id_ = key.id[:24] if key else secrets.token_hex(12)
        made = EventAnnouncement(id_, tournament, game, player, said, at)

        def work(execute: Execute) -> None:
            if not bind_key(execute, key):
                return
            rows = execute("SELECT COUNT(*) FROM announcements WHERE tournament = ?", (tournament,))
            if any(count >= MOST_ANNOUNCEMENTS for (count,) in rows):
                raise AccountError(
                    "too_many", Message("An event has {most} announcements at most.", most=MOST_ANNOUNCEMENTS)
                )
            execute("INSERT INTO announcements VALUES (?, ?, ?, ?, ?, ?)", made)
            for statement, params in more(id_):
                execute(statement, params)

        self._database.run_in_append_order(work)
        stored = self._database.execute("SELECT * FROM announcements WHERE id = ?", (id_,))
        return next((EventAnnouncement(*row) for row in stored), made)

    def list_newest(self, tournament: str, game: str = "") -> list[EventAnnouncement]:
        """Return the announcements to all, and with `game` those to that table, the newest first."""
        query = "SELECT * FROM announcements WHERE tournament = ? AND (game = '' OR game = ?) ORDER BY at DESC, id"
        rows = self._database.execute(f"{query} LIMIT ?", (tournament, game, SHOWN))
        return [EventAnnouncement(*row) for row in rows]

    def remove(self, tournament: str, id_: str) -> bool:
        """Delete an announcement; return whether there was one."""
        statement = "DELETE FROM announcements WHERE tournament = ? AND id = ? RETURNING id"
        return bool(self._database.execute(statement, (tournament, id_)))

    @staticmethod
    def erase(players: Sequence[str]) -> list[Statement]:
        """Return statements to delete all announcements by a person."""
        return [(f"DELETE FROM announcements WHERE player IN ({placeholders(players)})", players)]  # noqa: S608 - question marks only

"""News for single people beside the records: told once by the producer, and not kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from domain.accounts.account_tables import DAY
from domain.service.database import Database, Statement
from domain.types import Doc

TABLES = (
    # `subject` names the event: an announcement, a report, a silence. `data` is that of the notice.
    """CREATE TABLE IF NOT EXISTS personal_news (
  subject TEXT NOT NULL, player TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (subject, player))""",
)
"""Made with the other tables of notifications."""

ANNOUNCED, REPORTED, SILENCED = "event.announced", "message.reported", "message.silenced"
"""Types of the notices: to the people of an event, to the officers of a table, to a player."""

MOST_AT_ONCE = 1000
"""Rows in one pass."""


class PersonalNews(NamedTuple):
    """News for a person."""

    subject: str
    player: str
    type: str
    data: Doc
    at: int
    """Time of the event, ms."""


class PersonalNewsTable:
    """The table of news. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock

    def add(self, type_: str, subject: str, players: Iterable[str], data: Doc) -> list[Statement]:
        """Return statements to tell people of an event, and to forget news untold for a day."""
        at, text = self._clock(), json.dumps(data)
        old: Statement = ("DELETE FROM personal_news WHERE at < ?", (at - DAY,))
        insert = "INSERT INTO personal_news VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return [old, *((insert, (subject, player, type_, text, at)) for player in sorted({*players} - {""}))]

    def list_waiting(self) -> list[PersonalNews]:
        """Return news not told yet, the oldest first."""
        query = "SELECT subject, player, type, data, at FROM personal_news ORDER BY at, subject, player LIMIT ?"
        rows = self._database.execute(query, (MOST_AT_ONCE,))
        return [
            PersonalNews(subject, player, type_, json.loads(data), int(at)) for subject, player, type_, data, at in rows
        ]

    def forget(self, told: Sequence[PersonalNews]) -> None:
        """Delete told news."""
        for each in told:
            statement = "DELETE FROM personal_news WHERE subject = ? AND player = ?"
            self._database.execute(statement, (each.subject, each.player))

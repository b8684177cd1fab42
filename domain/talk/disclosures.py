"""Disclosures: messages of a mailbox shown by their participant to the table or to its officers, with their proof.

A disclosure holds no text. It names messages, so an erased text is gone from it, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.service.database import Database, Row, Statement, placeholders
from domain.types import Seat

TABLES = (
    # `entries`: places in the mailbox, rising. `player` has disclosed them.
    """CREATE TABLE IF NOT EXISTS talk_disclosures (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, shown_to TEXT NOT NULL,
  entries TEXT NOT NULL, at BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS talk_disclosures_game ON talk_disclosures (game, at)",
)
"""Made with the other tables of talk."""

Audience = Literal["table", "officers"]
"""Readers of a disclosure: everybody who reads the talk of the table, or its officers without a stake in the game."""

MOST_ENTRIES = 500
"""Messages of one disclosure."""

_INSERT = "INSERT INTO talk_disclosures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
_SELECT = "SELECT id, game, mailbox, player, shown_to, entries, at FROM talk_disclosures WHERE "


@dataclass(frozen=True)
class Disclosure:
    """Messages of a mailbox, shown to others."""

    id: str
    game: str
    mailbox: Seat
    player: str
    to: Audience
    entries: Sequence[int]
    at: int


class Disclosures:
    """The table of disclosures. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock

    def add(self, id_: str, game: str, mailbox: Seat, player: str, to: Audience, entries: Sequence[int]) -> Disclosure:
        """Store a disclosure, once for the same id, and return it."""
        values = (id_, game, mailbox, player, to, json.dumps(list(entries)), self._clock())
        self._database.execute(_INSERT, values)
        return _parse(self._database.execute(f"{_SELECT}id = ?", (id_,))[0])

    def list_disclosures(self, game: str) -> list[Disclosure]:
        """Return the disclosures of a table, the oldest first."""
        return [_parse(row) for row in self._database.execute(f"{_SELECT}game = ? ORDER BY at, id", (game,))]


def erase_disclosures(players: Sequence[str]) -> Statement:
    """Return a statement to delete the disclosures by a person with these ids."""
    return f"DELETE FROM talk_disclosures WHERE player IN ({placeholders(players)})", players  # noqa: S608 - question marks only


def _parse(row: Row) -> Disclosure:
    id_, game, mailbox, player, to, entries, at = row
    return Disclosure(id_, game, int(mailbox), player, to, tuple(json.loads(entries)), int(at))

"""Corrupt records and seeds, listed until they are repaired.

A game with a row here accepts no record: `Ledger.append` checks the table itself, so no process can continue a game
from memory. `hash` is the leaf of the Merkle tree, so that the tree stays the same when views are rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.service.database import Database, Execute

MOST_ROWS = 1000
"""Rows of one game at most; the first ones matter."""

_NOTE = """
INSERT INTO damages VALUES (?, ?, ?, ?, ?) ON CONFLICT (game, version) DO UPDATE SET said = excluded.said"""
_ALL = "SELECT game, version, hash, said FROM damages ORDER BY game, version"
_FIRST = "SELECT min(version) FROM damages WHERE game = ?"


@dataclass(frozen=True)
class CorruptRecord:
    """A record with other contents than were written; version 0 is the seed of the game."""

    game: str
    version: int
    said: str
    hash: str = ""
    """The leaf of the Merkle tree, empty if unknown."""


class CorruptRecords:
    """The table of corrupt records, created by the ledger. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(self, game: str, records: Iterable[CorruptRecord], now: int) -> None:
        """Store these rows as all of that game; an empty list marks the game as sound."""
        rows = list(records)[:MOST_ROWS]

        def write(execute: Execute) -> None:
            stored = {version for (version,) in execute("SELECT version FROM damages WHERE game = ?", (game,))}
            for version in stored - {d.version for d in rows}:
                execute("DELETE FROM damages WHERE game = ? AND version = ?", (game, version))
            for d in rows:
                execute(_NOTE, (game, d.version, d.hash, d.said, now))

        self._database.run_in_append_order(write)

    def first_version(self, game: str) -> int | None:
        """Return the first corrupt version of a game, 0 for its seed; None for a sound game."""
        ((version,),) = self._database.execute(_FIRST, (game,))
        return None if version is None else int(version)

    def list_all(self) -> list[CorruptRecord]:
        """Return the rows of all games."""
        return [
            CorruptRecord(g, int(version), said, hashed) for g, version, hashed, said in self._database.execute(_ALL)
        ]

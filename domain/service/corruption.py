"""Records that are not what was written, and seeds that do not open: what has been found, until it is put right.

A game with a row here takes no record: the append itself looks (`Ledger.append`), so no process can go on with a game
that it has in memory. `hash` is what the tree says of the record, so that the tree stays the same when views are made
anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.service.database import Database, Execute

MOST = 1000
"""Rows of one game that are kept: the first are what matters."""

_NOTE = """
INSERT INTO damages VALUES (?, ?, ?, ?, ?) ON CONFLICT (game, version) DO UPDATE SET said = excluded.said"""
_ALL = "SELECT game, version, hash, said FROM damages ORDER BY game, version"
_FIRST = "SELECT min(version) FROM damages WHERE game = ?"


@dataclass(frozen=True)
class Damage:
    """A record that is not what was written; version 0 is the seed of the game."""

    game: str
    version: int
    said: str
    hash: str = ""
    """What the tree holds of it; empty where that is not known."""


class Damages:
    """The rows. May raise StoreUnavailable. The ledger makes the table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace(self, game: str, found: Iterable[Damage], now: int) -> None:
        """These are all of that game; none where it is sound again."""
        rows = list(found)[:MOST]

        def write(execute: Execute) -> None:
            known = {version for (version,) in execute("SELECT version FROM damages WHERE game = ?", (game,))}
            for gone in known - {d.version for d in rows}:
                execute("DELETE FROM damages WHERE game = ? AND version = ?", (game, gone))
            for d in rows:
                execute(_NOTE, (game, d.version, d.hash, d.said, now))

        self._database.among_appends(write)

    def first(self, game: str) -> int | None:
        """The first version of the game that is damaged, 0 for its seed; None for a game that is sound."""
        ((version,),) = self._database.execute(_FIRST, (game,))
        return None if version is None else int(version)

    def all(self) -> list[Damage]:
        """Of all games."""
        return [Damage(g, int(version), said, hashed) for g, version, hashed, said in self._database.execute(_ALL)]

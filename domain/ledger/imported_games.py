"""Games from export files: proved copies of closed games, kept beside the log and read like games of it.

A file belongs to the account that imported it, and is deleted with it. It is no part of the log: it has no positions,
no leaves in the tree, no commands and no views. Its id follows from its content and its account, so the same id never
stands for other records.
"""

from __future__ import annotations

import lzma
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from domain.kernel.records import export
from domain.kernel.records.imported import localize_records
from domain.kernel.records.record import Record
from domain.service.database import Row

MOST_EACH = 50
"""Imported games of one account."""

CACHE_BYTES = 2**22
"""Bytes of files whose records are cached per process."""

_PRESET = 3
"""Compression of a file: a higher one takes long and saves little, since most of it are hashes."""

_INSERT = """
INSERT INTO imported_games SELECT ?, ?, ?, ?, ?, ?
WHERE EXISTS (SELECT 1 FROM accounts WHERE id = ? AND state <> 'erased')
AND (SELECT count(*) FROM imported_games WHERE account = ?) < ? ON CONFLICT DO NOTHING"""
_VERSION = "SELECT version FROM imported_games WHERE game = ?"
_FILE = "SELECT piece FROM imported_games WHERE game = ?"
_LIST = "SELECT game, ruleset, version, at FROM imported_games WHERE account = ? ORDER BY at DESC, game"
_DELETE = "DELETE FROM imported_games WHERE game = ? AND account = ? RETURNING game"

Run = Callable[[str, Sequence[object]], list[Row]]


@dataclass(frozen=True)
class ImportedGame:
    """An imported game of an account."""

    game: str
    ruleset: str
    version: int
    at: int
    """Time of the import, ms."""


@dataclass(frozen=True)
class _Records:
    """The records of a file, as they stand there and as readers see them."""

    size: int
    """Bytes of the file."""
    original: Sequence[Record]
    local: Sequence[Record]


class ImportedGames:
    """The table of imported games. Safe with threads. Every method may raise StoreUnavailable."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.reset()

    def reset(self) -> None:
        """Forget cached records, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._cache: LRUCache[str, _Records] = LRUCache(CACHE_BYTES, lambda found: found.size)

    def add(self, game: str, account: str, proved: export.Export, at: int) -> bool:
        """Store a proved export; return False if the account has too many, or is erased. Safe to repeat."""
        data = lzma.compress(export.dump(proved.records), preset=_PRESET)
        row = (game, account, proved.ruleset, len(proved.records), at, data)
        self._run(_INSERT, (*row, account, account, MOST_EACH))
        return self.version(game) > 0

    def version(self, game: str) -> int:
        """Return the newest version of an imported game, 0 for an unknown one."""
        return next((int(version) for (version,) in self._run(_VERSION, (game,))), 0)

    def read_records(
        self, game: str, after: int = 0, upto: int | None = None, *, original: bool = False
    ) -> list[Record]:
        """Return records like `Ledger.read`, for readers here; with `original` as the file has them."""
        found = self._load(game) if self.version(game) else None  # another process may have deleted it
        if found is None:
            return []
        return list((found.original if original else found.local)[after:upto])

    def _load(self, game: str) -> _Records | None:
        with self._lock:
            cached = self._cache.get(game)
        if cached is not None:
            return cached
        data = next((lzma.decompress(bytes(piece)) for (piece,) in self._run(_FILE, (game,))), None)
        if data is None:
            return None
        original = export.parse(data).records
        found = _Records(len(data), original, localize_records(original, game))
        if found.size <= CACHE_BYTES:
            with self._lock:
                self._cache[game] = found
        return found

    def list_by_account(self, account: str) -> list[ImportedGame]:
        """Return the games imported by an account, the latest first."""
        return [ImportedGame(game, ruleset, int(v), int(at)) for game, ruleset, v, at in self._run(_LIST, (account,))]

    def delete(self, game: str, account: str) -> bool:
        """Delete a game that the account has imported; return False if it has no such game."""
        return bool(self._run(_DELETE, (game, account)))

"""The secret seeds of games, stored encrypted; the ledger contains none before its game is closed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from domain.errors import UnknownGame, WrongKey
from domain.service.database import Database
from domain.service.keyring import Keyring

SEED_BYTES = 32
RESEAL_BATCH = 100
"""Seeds older than the key ring, resealed per query."""

_SELECT = "SELECT nonce, box FROM seeds WHERE game = ?"
_INSERT = "INSERT INTO seeds VALUES {} ON CONFLICT DO NOTHING"
_OLD = "SELECT game, nonce, box FROM seeds WHERE length(nonce) > 0 LIMIT ?"
_RESEAL = "UPDATE seeds SET nonce = ?, box = ? WHERE game = ? AND nonce = ?"


class SeedStore:
    """The table of seeds. The game's key seals each; seeds older than the key ring have a separate nonce."""

    def __init__(self, database: Database, keys: Keyring) -> None:
        self._database, self._keys = database, keys

    def check(self) -> None:
        """Raise WrongKey unless the master key is the ledger's."""
        self._keys.check()

    def create(self, game: str) -> bytes:
        """Return the seed of a new game, or its existing one, so that opening can be repeated.

        Raises WrongKey: with two keys in one ledger no node could continue all games.
        """
        with suppress(UnknownGame):
            return self.seed(game)
        self.prepare([game])
        return self.seed(game)

    def prepare(self, games: Sequence[str]) -> None:
        """Make the seeds of new games in one write; existing ones stay."""
        rows = [(game, b"", self._keys.seal(game, "seed", secrets.token_bytes(SEED_BYTES))) for game in games]
        statement = _INSERT.format(", ".join(["(?, ?, ?)"] * len(rows)))
        self._database.execute(statement, [value for row in rows for value in row])

    def seed(self, game: str) -> bytes:
        """Return the seed of a game; raise UnknownGame or WrongKey."""
        rows = self._database.execute(_SELECT, (game,))
        if not rows:
            raise UnknownGame(game)
        nonce, box = map(bytes, rows[0])
        if nonce:
            return self._keys.open_legacy(game, nonce, box)
        try:
            return self._keys.open(game, "seed", box)
        except ValueError as error:
            raise WrongKey("the master key does not open this seed") from error

    def reseal(self) -> None:
        """Seal all seeds with keys of the ring instead of the master key, before its rotation.

        Safe to interrupt and repeat.
        """
        while rows := self._database.execute(_OLD, (RESEAL_BATCH,)):
            for game, nonce, box in rows:
                seed = self._keys.open_legacy(game, bytes(nonce), bytes(box))
                self._database.execute(_RESEAL, (b"", self._keys.seal(game, "seed", seed), game, bytes(nonce)))

"""The secret seeds of games. They rest encrypted, and never stand in the ledger before the game is closed."""

from __future__ import annotations

import secrets

from domain.errors import UnknownGame, WrongKey
from domain.service.database import Database
from domain.service.keyring import Keyring

SEED_BYTES = 32
RESEALED = 100
"""Seeds of before the ring that are sealed anew at a time."""

_SELECT = "SELECT nonce, box FROM seeds WHERE game = ?"
_INSERT = "INSERT INTO seeds VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_OLD = "SELECT game, nonce, box FROM seeds WHERE length(nonce) > 0 LIMIT ?"
_RESEAL = "UPDATE seeds SET nonce = ?, box = ? WHERE game = ? AND nonce = ?"


class Vault:
    """Each seed rests under its game's key; those of before the ring, under the master key, have a nonce apart."""

    def __init__(self, database: Database, keys: Keyring) -> None:
        self._database, self._keys = database, keys

    def check(self) -> None:
        """Raises WrongKey unless the master key is that of this ledger."""
        self._keys.check()

    def create(self, game: str) -> bytes:
        """The seed of a new game; the one it has if it was created before, so that opening can be repeated.

        Raises WrongKey: with two keys in one ledger no node could go on with all games.
        """
        box = self._keys.seal(game, "seed", secrets.token_bytes(SEED_BYTES))
        self._database.execute(_INSERT, (game, b"", box))
        return self.seed(game)

    def seed(self, game: str) -> bytes:
        """The seed of a game; raises UnknownGame and WrongKey."""
        rows = self._database.execute(_SELECT, (game,))
        if not rows:
            raise UnknownGame(game)
        nonce, box = map(bytes, rows[0])
        if nonce:
            return self._keys.open_old(game, nonce, box)
        try:
            return self._keys.open(game, "seed", box)
        except ValueError as error:
            raise WrongKey("the master key does not open this seed") from error

    def reseal(self) -> None:
        """Let nothing rest under the master key itself, which is to be changed. May be cut short and repeated."""
        while rows := self._database.execute(_OLD, (RESEALED,)):
            for game, nonce, box in rows:
                seed = self._keys.open_old(game, bytes(nonce), bytes(box))
                self._database.execute(_RESEAL, (b"", self._keys.seal(game, "seed", seed), game, bytes(nonce)))

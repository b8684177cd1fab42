"""The secret seeds of games. They rest encrypted, and never stand in the ledger before the game is closed."""

from __future__ import annotations

import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.beside.tables import Database
from domain.errors import UnknownGame, WrongKey

SEED_BYTES = 32
_NONCE_BYTES = 12
_SELECT = "SELECT nonce, box FROM seeds WHERE game = ?"
_MARK = "INSERT INTO master_key VALUES (1, ?) ON CONFLICT DO NOTHING"
_INSERT = "INSERT INTO seeds VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class Vault:
    """Seals each seed with AES-256-GCM under the master key (32 bytes), bound to its game."""

    def __init__(self, database: Database, key: bytes) -> None:
        if len(key) != 32:
            raise ValueError("the master key has 32 bytes")
        self._database = database
        self._cipher = AESGCM(key)
        self._mark = hmac.digest(key, b"annals master key", "sha256").hex()
        self._fits = False

    def check(self) -> None:
        """Raises WrongKey unless this is the key that the ledger's seeds are sealed with; the first one stays."""
        if not self._marks():
            for (game,) in self._database.execute("SELECT game FROM seeds LIMIT 1"):
                self.seed(str(game))
            self._database.execute(_MARK, (self._mark,))
        if self._marks() != [self._mark]:
            raise WrongKey("the master key is not the one that the seeds of this ledger were sealed with")
        self._fits = True

    def _marks(self) -> list[str]:
        return [str(mark) for (mark,) in self._database.execute("SELECT mark FROM master_key")]

    def create(self, game: str) -> bytes:
        """The seed of a new game; the one it has if it was created before, so that opening can be repeated.

        Raises WrongKey: with two keys in one ledger no node could go on with all games.
        """
        if not self._fits:
            self.check()
        seed, nonce = secrets.token_bytes(SEED_BYTES), secrets.token_bytes(_NONCE_BYTES)
        self._database.execute(_INSERT, (game, nonce, self._cipher.encrypt(nonce, seed, game.encode())))
        return self.seed(game)

    def seed(self, game: str) -> bytes:
        """The seed of a game; raises UnknownGame and WrongKey."""
        rows = self._database.execute(_SELECT, (game,))
        if not rows:
            raise UnknownGame(game)
        nonce, box = map(bytes, rows[0])
        try:
            return self._cipher.decrypt(nonce, box, game.encode())
        except InvalidTag as e:
            raise WrongKey("the master key does not open this seed") from e

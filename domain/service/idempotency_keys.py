"""Keys of requests that a client may repeat, each bound to the one request that it was first used for.

A bound key is a row of the ledger's table `commands`, like the key of a command with records: one game and id have one
fingerprint, whatever the key is used for. Ids and fingerprints are keyed hashes, so rows reveal nothing of a request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from domain.errors import CommandReused
from domain.service.database import Execute

NO_GAME = str(UUID(int=0))
"""Game of the keys of requests outside tables."""

_SELECT = "SELECT body_hash, first_version FROM commands WHERE game = ? AND id = ?"
_INSERT = "INSERT INTO commands (game, id, body_hash, first_version, last_version) VALUES (?, ?, ?, ?, ?)"


@dataclass
class IdempotencyKey:
    """A request that may be repeated."""

    id: str
    """Keyed hash of the caller and the key, or the id of a command of the service."""
    fingerprint: str
    """Keyed hash of all that the request asks for: method, path, query, body and conditions.

    Of a command of the service the hash of its fields.
    """
    game: str = NO_GAME
    at: int = 0
    """What a repetition is answered with, outside tables: the time of the request, ms, or a version. 0 for others."""
    claim: IdempotencyKey | None = None
    """Key of the caller, bound with the records of a command whose `id` belongs to one route; None if `id` is it."""
    earlier_hash: str = ""
    """Fingerprint of the same request as earlier versions stored it; empty: none."""
    first: int | None = field(default=None, init=False)
    """`at` of the first request, once `bind` has found it; None if this is the first."""

    def check_hash(self, stored: str) -> None:
        """Raise CommandReused unless the stored fingerprint is that of this request."""
        if stored not in (self.fingerprint, self.earlier_hash):
            raise CommandReused(self.id)

    def check(self, execute: Execute) -> None:
        """Set `first` if the key is bound. Raise CommandReused if it is bound to another request."""
        self.first = None
        for fingerprint, at, *_ in execute(_SELECT, (UUID(self.game).hex, self.id)):
            if fingerprint != self.fingerprint:
                raise CommandReused(self.id)
            self.first = int(at)

    def bind(self, execute: Execute) -> bool:
        """Bind the key in an open transaction; return False if it was bound to this request before.

        Raise CommandReused before anything is written.
        """
        self.check(execute)
        if self.first is None:
            execute(_INSERT, (UUID(self.game).hex, self.id, self.fingerprint, self.at, self.at))
        return self.first is None


def bind_key(execute: Execute, key: IdempotencyKey | None) -> bool:
    """Bind a key like `IdempotencyKey.bind`; return True without a key."""
    return key is None or key.bind(execute)

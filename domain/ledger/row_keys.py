"""Keys of rows of the log: game ids as UUIDs, and checks of the place that a row names."""

from __future__ import annotations

from uuid import UUID

from eventsourcing.persistence import StoredEvent

from domain.errors import UnknownGame, VerificationError

MOST = 2**31 - 1
"""Versions of one game at most."""


def key_of(game: str) -> UUID:
    """Return the key of a game id in canonical form; raise UnknownGame for any other text.

    Draws and seals are made from the text, so another spelling of the same UUID is refused.
    """
    if (key := find_key(game)) is None:
        raise UnknownGame(game)
    return key


def find_key(game: str) -> UUID | None:
    """Return the key of a game id, or None unless the id is a UUID in canonical form."""
    try:
        key = UUID(game)
    except ValueError:
        return None
    return key if str(key) == game else None


def valid_version(stored: object) -> int:
    """Return a stored version, or 0 for a value that no version can have and views could not store."""
    return stored if isinstance(stored, int) and 0 < stored <= MOST else 0


def place_of(row: StoredEvent) -> tuple[object, int]:
    """Return the game key and the version of a row."""
    return row.originator_id, row.originator_version


def check_place(key: UUID, version: int, row: StoredEvent) -> StoredEvent:
    """Return the row if it names this game and version; raise VerificationError otherwise.

    An index may be sound while its rows are not, and a row may be missing.
    """
    if place_of(row) != (key, version):
        raise VerificationError("unreadable", version, "it is not in its place")
    return row

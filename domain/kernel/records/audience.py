"""Audiences: readers of a fact or a draw. In records they are keys: "all", "0", "0,3", "table", "0:card"."""

from __future__ import annotations

import functools

from domain.types import DIRECTOR, Viewer

Audience = str | tuple[int, ...]
"""ALL, a tuple of seats, or TABLE."""

ALL: Audience = "all"
TABLE: Audience = ()
"""Nobody before the end: deck order, count turns."""

ALL_KEY = "all"
TABLE_KEY = "table"


def key_of(to: Audience, seal: str = "") -> str:
    """Return the key of an audience; with `seal`, of a named pack publishable on its own."""
    key = ALL_KEY if to == ALL else ",".join(map(str, sorted(to))) or TABLE_KEY
    return f"{key}:{seal}" if seal else key


@functools.lru_cache(4096)
def seats_of(key: str) -> tuple[int, ...]:
    """Return the seats named by a key."""
    part = key.split(":", maxsplit=1)[0]
    return () if part in (ALL_KEY, TABLE_KEY) else tuple(map(int, part.split(",")))


def may_read(key: str, viewer: Viewer) -> bool:
    """Return whether the viewer belongs to the audience of the key."""
    return key == ALL_KEY or viewer == DIRECTOR or (isinstance(viewer, int) and viewer in seats_of(key))

"""Names and limits shared by every package."""

from __future__ import annotations

import re
from typing import Any

Json = Any
"""A JSON value: object, list, string, integer, boolean or null. Floats never occur."""

Doc = dict[str, Any]
"""A JSON object."""

Seat = int
"""A player's place in a game, 0..n-1."""

Viewer = int | str
"""A seat, "public" or "director"."""

PUBLIC = "public"
DIRECTOR = "director"

MAX_INT = 2**53 - 1
"""Largest integer kept exactly by every JSON reader."""

MAX_WORD = 80
"""Longest string in a move, in characters."""

MAX_ITEMS = 400
"""Longest list in a move."""

_SLUG = re.compile(r"[a-z][a-z0-9_]*@[1-9][0-9]*")


def is_tournament_id(originator: str) -> bool:
    """Return whether an id of the log is a tournament's: those are UUIDs of version 8, games never are."""
    return originator[14:15] == "8"


def is_import_id(game: str) -> bool:
    """Return whether an id is an imported game's: those are UUIDs of version 5, games of the log never are."""
    return game[14:15] == "5"


def split_ruleset(name: str) -> tuple[str, int]:
    """Split `struggle_of_empires@1` into ("struggle_of_empires", 1); raise ValueError for anything else."""
    if not _SLUG.fullmatch(name):
        raise ValueError(f"not a ruleset id: {name!r}")
    game, version = name.split("@")
    return game, int(version)

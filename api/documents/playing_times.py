"""The length of games: of those finished here with the same seats and pace, else as declared."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cachetools import TTLCache

from api.documents.introductions import load_introduction
from api.schemas.history_responses import PlayingTimeDoc
from api.services import services
from domain.fork_safety import reset_after_fork

LEAST_GAMES = 5
"""Least number of finished games for a forecast."""

MOST_GAMES = 300
"""Newest finished games in the sums."""

LIVE_SECONDS = 3600
"""Longest time for a decision at which the declared length of a live game holds."""

_MINUTE = 60_000


class Length(NamedTuple):
    """Usual minutes of a game. `games`: finished ones behind it, or 0 for a declared length."""

    least: int
    most: int
    games: int = 0


class _Memory:
    """Lengths by ruleset, kept for ten minutes."""

    def __init__(self) -> None:
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, since an absent thread may hold it."""
        self.lock = threading.Lock()
        self.known: TTLCache[str, list[PlayingTimeDoc]] = TTLCache(100, 600)


_memory = _Memory()


def list_playing_times(ruleset: str) -> list[PlayingTimeDoc]:
    """Return the usual length of finished games, by seats and by the longest time for a decision."""
    with _memory.lock:
        if (known := _memory.known.get(ruleset)) is not None:
            return known
    found = group_times(services().reader.list_playing_times(ruleset, MOST_GAMES))
    with _memory.lock:
        _memory.known[ruleset] = found
    return found


def group_times(games: Sequence[tuple[int, int, int]]) -> list[PlayingTimeDoc]:
    """Return the middle half of the lengths of each kind with enough games. `games`: seats, longest time, ms."""
    kinds: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for seats, longest, ms in games:
        kinds[seats, longest].append(ms)
    return [
        {"seats": seats, "longest": longest, "games": len(times), "minutes": _find_middle(sorted(times))}
        for (seats, longest), times in sorted(kinds.items())
        if len(times) >= LEAST_GAMES
    ]


def _find_middle(times: Sequence[int]) -> tuple[int, int]:
    quarter = len(times) // 4
    least, most = (max(1, round(times[at] / _MINUTE)) for at in (quarter, len(times) - 1 - quarter))
    return least, most


def find_length(ruleset: str, package: str, seats: int, longest: int = 0) -> Length | None:
    """Return the length of a game, or None for an unknown one. `longest`: seconds for a decision; 0 for no limit."""
    for each in list_playing_times(ruleset):
        if (each["seats"], each["longest"]) == (seats, longest):
            return Length(*each["minutes"], each["games"])
    declared = load_introduction(package)
    return Length(*declared["minutes"]) if declared and longest <= LIVE_SECONDS else None

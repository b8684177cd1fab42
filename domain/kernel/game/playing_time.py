"""Pauses of a game: spans in which no time of any seat runs.

All clocks and spans of a game stand in playing time. It is the time of day, except during a pause: it then stands at
the end of the pause, or at its beginning as long as no end is known. Once the end is known, everything moves there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Pause(NamedTuple):
    """A pause of the game. All times are ms since 1970 UTC."""

    since: int
    until: int | None = None
    """Its end, given or by a resumption; None while nobody knows it."""
    moves: bool = False
    """Whether moves are made meanwhile."""

    def is_on(self, at: int) -> bool:
        """Return whether it lasts at a time after its beginning."""
        return self.until is None or at < self.until

    @property
    def standstill(self) -> int:
        """Return the playing time during the pause."""
        return self.since if self.until is None else self.until


Pauses = tuple[Pause, ...]
"""All pauses of a game, in order. Only the last one can be on."""


def current_pause(pauses: Pauses, at: int) -> Pause | None:
    """Return the pause on at a time, not before the last record."""
    return pauses[-1] if pauses and pauses[-1].is_on(at) else None


def playing_time(pauses: Pauses, at: int) -> int:
    """Return the playing time at a time of day, not before the last pause began."""
    pause = current_pause(pauses, at)
    return pause.standstill if pause else at


def moved_time(pauses: Pauses, at: int) -> int:
    """Return the place to which pauses have moved a span that began at a past time of day."""
    moved = sum(pause.standstill - pause.since for pause in pauses if pause.since > at)
    pause = next((pause for pause in pauses if pause.since <= at and pause.is_on(at)), None)
    return (pause.standstill if pause else at) + moved


def begin_pause(pauses: Pauses, at: int, until: int | None, *, moves: bool) -> Pauses:
    """Return the pauses with one from now on, or with another end and permission for the current one."""
    if pause := current_pause(pauses, at):
        return (*pauses[:-1], Pause(pause.since, until, moves))
    return (*pauses, Pause(at, until, moves))


def end_pause(pauses: Pauses, at: int) -> Pauses:
    """Return the pauses with an end now for the current one."""
    return (*pauses[:-1], pauses[-1]._replace(until=at)) if current_pause(pauses, at) else pauses


def restore_pause(pauses: Pauses, before: Pause | None, at: int) -> Pauses:
    """Return the pauses with the one before a ruling in place of the ruling's own, or with an end now."""
    if before is not None and before.is_on(at):
        return (*pauses[:-1], before)
    return end_pause(pauses, at)


def shift_pauses(pauses: Pauses, at: int, ms: int) -> Pauses:
    """Return the pauses after the service clock was set forward by `ms` at time `at` of the old time."""
    pause = current_pause(pauses, at)
    if pause is None:
        return pauses
    until = None if pause.until is None else pause.until + ms
    return (*pauses[:-1], Pause(pause.since + ms, until, pause.moves))


def time_outside(pauses: Iterable[Pause], begin: int, end: int) -> int:
    """Return the ms of a span outside all pauses."""
    inside = (min(end, end if p.until is None else p.until) - max(begin, p.since) for p in pauses)
    return max(end - begin, 0) - sum(max(ms, 0) for ms in inside)

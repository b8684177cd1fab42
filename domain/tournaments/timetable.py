"""The timetable of a stage: when each round starts, its check-in before, and the warning before its end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from domain.errors import RuleError
from domain.tournaments.terms import DAY

MAX_OPENS = 7 * DAY
"""Longest time from the opening of a check-in to the start, seconds."""

MAX_EXTENSION = DAY
"""Longest extension of a round, seconds."""

LEAST_GAP = 60_000
"""Least time between two starts, ms."""

LEAST_REVEAL = 60
"""Least time to show nonces between check-in and draw, seconds."""

PROMPT = 60_000
"""A check-in opened as long after its time still closes at the time of the timetable, ms."""


@dataclass(frozen=True)
class Timetable:
    """Start of each round of a stage, ms since 1970 UTC, and the times around it, seconds."""

    starts: tuple[int, ...]
    opens: int = 1_800
    """The check-in opens as long before a start."""
    closes: int = 300
    """It closes as long before a start, and the draw follows by itself."""
    each: bool = True
    """Whether there is a check-in before each round; else before the first alone."""
    warning: int = 600
    """Entrants in play are warned as long before the end of their round; 0 for never."""
    extension: int = 0
    """At its end a round goes on once as long, and ends then; 0 for never."""

    def find_start(self, round_: int) -> int | None:
        """Return the start of a round, or None."""
        return self.starts[round_ - 1] if 1 <= round_ <= len(self.starts) else None

    @property
    def reveal(self) -> int:
        """Time to show nonces, between check-in and start, seconds."""
        return max(self.closes, LEAST_REVEAL)

    def find_close(self, round_: int, opened_at: int) -> int:
        """Return the end of the check-in before a round, ms: one that opened late is open as long as promised."""
        start = self.starts[round_ - 1]
        is_prompt = opened_at <= start - self.opens * 1000 + PROMPT
        return start - self.closes * 1000 if is_prompt else opened_at + (self.opens - self.closes) * 1000


def check_timetable(
    new: Timetable,
    old: Timetable | None,
    now: int,
    *,
    begun: Collection[int],
    is_drawn: bool,
    time_limit: int,
    most: int,
) -> None:
    """Raise RuleError `timetable_invalid` with its cause for an impossible timetable.

    `begun`: rounds with a table; `is_drawn`: the stage has a draw; `time_limit`: of the terms, seconds, 0 for none;
    `most`: rounds of the stage.
    """
    starts, former = new.starts, old.starts if old else ()
    _refuse_unless(len(starts) <= most, "rounds", rounds=most)
    _refuse_unless(all(later - one >= LEAST_GAP for one, later in pairwise(starts)), "order")
    for round_, start in enumerate(starts, 1):
        known = former[round_ - 1 : round_]
        is_same = known == (start,)
        _refuse_unless(is_same or round_ not in begun or not known, "begun", round=round_)
        _refuse_unless(is_same or round_ in begun or start > now, "past", round=round_)
    _refuse_unless(0 <= new.closes < new.opens <= MAX_OPENS, "check_in")
    _refuse_unless(0 <= new.warning <= DAY and 0 <= new.extension <= MAX_EXTENSION, "end")
    _refuse_unless(not new.extension or bool(time_limit), "limit")
    _refuse_unless(not is_drawn or new.extension == (old.extension if old else 0), "extension")


def _refuse_unless(ok: bool, cause: str, **figures: int) -> None:
    if not ok:
        raise RuleError("timetable_invalid", "", {"cause": cause, **figures})

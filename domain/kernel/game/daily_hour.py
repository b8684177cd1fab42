"""Hours of the day at which decisions fall due, in a time zone and on working days.

The rules of time zones change, and stored games verify for ever. So a pace carries the zone's UTC offsets for the years
to come, and nothing here knows a time zone. After the last of them its offset stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from domain.errors import InvalidTable
from domain.kernel.schema import validators
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Doc, Json

MAX_OFFSETS = 100
"""Most UTC offsets of a pace."""

MAX_DAYS_OFF = 6
"""Most days off in a week."""

HOUR_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9]"
"""A time of day, `HH:MM`."""

MAX_ZONE = 64
"""Longest name of a time zone, characters."""

_MINUTE, _DAY = 60_000, 24 * 3600 * 1000
_FIRST_WEEKDAY = 3
"""1 January 1970 was a Thursday, three days after a Monday."""


@dataclass(frozen=True)
class DailyHour:
    """An hour of the day on all days of the week except days off."""

    hour: str
    """`HH:MM`."""
    zone: str
    """Name of the time zone, for people: only the offsets count."""
    days_off: tuple[int, ...]
    """Days of the week, 1 (Monday) to 7 (ISO 8601), ascending."""
    offsets: tuple[tuple[int, int], ...]
    """Begin (ms since 1970 UTC) and seconds east of UTC, ascending. The first also holds before its begin."""

    def next_time(self, at: int) -> int:
        """Return the first such time at or after a time; both ms since 1970 UTC."""
        today = (at + self._offset(at)) // _DAY
        times = (self._time_on(day) for day in range(today - 1, today + 9) if self._is_working_day(day))
        return next((time for time in times if time >= at), at)

    def to_json(self, *, offsets: bool = True) -> Doc:
        """Return the form in records; without `offsets` that of requests."""
        doc: Doc = {"hour": self.hour, "zone": self.zone, "days_off": list(self.days_off)}
        return doc | ({"offsets": [list(each) for each in self.offsets]} if offsets else {})

    def _is_working_day(self, day: int) -> bool:
        return (day + _FIRST_WEEKDAY) % 7 + 1 not in self.days_off

    def _offset(self, at: int) -> int:
        """Return the UTC offset at a time, ms."""
        return self.offsets[max(bisect_right(self.offsets, (at, MAX_INT)) - 1, 0)][1] * 1000

    def _time_on(self, day: int) -> int:
        """Return the hour on a day since 1970.

        An hour that comes twice when summer time ends counts the first time. One that is skipped when it begins comes
        later by the length of the gap (RFC 5545, 3.3.5).
        """
        local = day * _DAY + (int(self.hour[:2]) * 60 + int(self.hour[3:])) * _MINUTE
        before = self._offset(local - _DAY)
        after = self._offset(local - before)
        if after == before or self._offset(local - after) != after:
            return local - before
        return local - after


def parse_daily_hour(doc: Json) -> DailyHour:
    """Parse `{"hour", "zone", "days_off", "offsets"}`; raise InvalidTable with a pointer into `/pace/daily`."""
    members = {"hour", "zone", "days_off", "offsets"}
    if not isinstance(doc, dict) or set(doc) - members or not {"hour", "zone", "offsets"} <= set(doc):
        raise _make_error(Message("an object with `hour` and `zone`"), "")
    hour, zone, days_off, offsets = doc["hour"], doc["zone"], doc.get("days_off", []), doc["offsets"]
    if not isinstance(hour, str) or not re.fullmatch(HOUR_PATTERN, hour):
        raise _make_error(Message("a time of day from 00:00 to 23:59"), "/hour")
    if not isinstance(zone, str) or not 1 <= len(zone) <= MAX_ZONE:
        raise _make_error(Message("the name of a time zone"), "/zone")
    if not isinstance(days_off, list) or not all(type(day) is int and 1 <= day <= 7 for day in days_off):
        raise _make_error(Message("days of the week, 1 (Monday) to 7 (Sunday)"), "/days_off")
    if len(set(days_off)) != len(days_off) or len(days_off) > MAX_DAYS_OFF:
        raise _make_error(Message("at most {most} different days", most=MAX_DAYS_OFF), "/days_off")
    if not _are_offsets(offsets):
        raise _make_error(Message("UTC offsets, each with its begin"), "/offsets")
    return DailyHour(hour, zone, tuple(sorted(days_off)), tuple((since, seconds) for since, seconds in offsets))


def _are_offsets(doc: Json) -> bool:
    if not isinstance(doc, list) or not 1 <= len(doc) <= MAX_OFFSETS:
        return False
    if not all(isinstance(each, list) and [type(n) for n in each] == [int, int] for each in doc):
        return False
    begins = [since for since, _ in doc]
    return begins == sorted(set(begins)) and all(
        0 <= since <= MAX_INT and abs(seconds) * 1000 < _DAY for since, seconds in doc
    )


def _make_error(expected: Message, at: str) -> InvalidTable:
    return InvalidTable(validators.expected_message(expected), f"/pace/daily{at}")

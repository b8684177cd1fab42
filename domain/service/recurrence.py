"""Repeating times by a rule as calendars write it (RFC 5545), on the clock of a time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.errors import RuleError

MAX_TIMES = 500
"""Most times of a rule."""

HORIZON = timedelta(days=3_660)
"""Longest time from the first to the last."""

PREFIX = "RRULE:"
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_PARTS = {
    "FREQ": "DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": "[1-9][0-9]{0,2}",
    "COUNT": "[1-9][0-9]{0,2}",
    "UNTIL": "[0-9]{8}(T[0-9]{6}Z)?",
    "BYDAY": r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)){0,6}",
    "BYMONTH": "[0-9]{1,2}(,[0-9]{1,2}){0,11}",
    "BYMONTHDAY": "-?[0-9]{1,2}(,-?[0-9]{1,2}){0,30}",
    "WKST": "MO|TU|WE|TH|FR|SA|SU",
}
"""Allowed parts of a rule, and their forms: all for at most one time a day."""


class _FirstExcludedError(ValueError):
    """A part of a rule excludes its first time."""


class Recurrence(NamedTuple):
    """A rule, the time zone, and the first time, `YYYY-MM-DDTHH:MM` on the zone's clock."""

    rule: str
    zone: str
    start: str

    def list_times(self, after: int = 0) -> Iterator[int]:
        """Yield the times after as many, ms since 1970 UTC.

        A time skipped by the zone's clock is as much later. Raise RuleError `schedule_invalid` for a rule without
        the first time, or of another form.
        """
        parts, zone = _parse_rule(self.rule), _load_zone(self.zone)
        from dateutil.rrule import rrulestr  # noqa: PLC0415 - few processes repeat anything

        count = min(int(parts.pop("COUNT", MAX_TIMES)), MAX_TIMES)
        until = parts.pop("UNTIL", "")
        text = ";".join(f"{name}={value}" for name, value in parts.items())
        first = _parse_start(self.start, zone)
        try:
            _check_first(parts, first)
            end = min(first + HORIZON, _parse_until(until, zone)) if until else first + HORIZON
            times = list(islice(rrulestr(text, dtstart=first).replace(until=end), count))
        except (ValueError, OverflowError) as error:
            raise _refuse("first" if isinstance(error, _FirstExcludedError) else "rule") from error
        if not times or times[0] != first:
            raise _refuse("first")
        return (round(each.timestamp() * 1000) for each in times[after:])


def read_times(starts: Iterable[str], zone: str) -> tuple[int, ...]:
    """Return times on a zone's clock as ms since 1970 UTC; raise RuleError `schedule_invalid` for another form."""
    found = _load_zone(zone)
    return tuple(round(_parse_start(start, found).timestamp() * 1000) for start in starts)


def _refuse(cause: str) -> RuleError:
    """Return the refusal of a part: `rule`, `zone`, `start`, or `first` if the rule excludes the start."""
    return RuleError("schedule_invalid", "", {"cause": cause})


def _parse_start(start: str, zone: ZoneInfo) -> datetime:
    try:
        return datetime.strptime(start, "%Y-%m-%dT%H:%M").replace(tzinfo=zone)
    except ValueError as error:
        raise _refuse("start") from error


def _parse_rule(rule: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in rule.removeprefix(PREFIX).split(";")]
    parts = {name: value for name, _, value in pairs}
    is_known = all(name in _PARTS and re.fullmatch(_PARTS[name], value) for name, value in parts.items())
    if not is_known or len(parts) < len(pairs) or "FREQ" not in parts or {"COUNT", "UNTIL"} <= parts.keys():
        raise _refuse("rule")
    return parts


def _check_first(parts: Mapping[str, str], first: datetime) -> None:
    """Raise ValueError if a part excludes the first time: the library looks for the next one for 8,000 years."""
    days_after = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - first.replace(day=1)
    allowed = {
        "BYMONTH": {str(first.month), f"{first.month:02}"},
        "BYMONTHDAY": {str(first.day), f"{first.day:02}", str(first.day - days_after.days - 1)},
        "BYDAY": {_DAYS[first.weekday()]},
    }
    for name, fitting in allowed.items():
        values = {value.lstrip("+-12345") if name == "BYDAY" else value for value in parts.get(name, "").split(",")}
        if name in parts and values.isdisjoint(fitting):
            raise _FirstExcludedError(name)
    is_numbered = any(character.isdigit() for character in parts.get("BYDAY", ""))
    if is_numbered and (parts["FREQ"] in ("DAILY", "WEEKLY") or "BYMONTHDAY" in parts):
        raise ValueError("BYDAY")


def _parse_until(text: str, zone: ZoneInfo) -> datetime:
    """Return the last possible time: a time in UTC, or the end of a day in the zone."""
    if len(text) > len("YYYYMMDD"):
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return datetime.strptime(text, "%Y%m%d").replace(hour=23, minute=59, tzinfo=zone)


def _load_zone(name: str) -> ZoneInfo:
    if name != "UTC" and not re.fullmatch(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}", name):
        raise _refuse("zone")
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise _refuse("zone") from error

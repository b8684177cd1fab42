"""Paces of requests: presets, times by class, and hours of the day in a time zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from domain.accounts.account_settings import list_time_zones, load_zone
from domain.errors import InvalidTable
from domain.kernel.game.deadlines import DAY, SECOND, TimeControl, parse_time_control
from domain.kernel.rules.meta import Meta
from domain.kernel.schema.validators import expected_message
from domain.kernel.text.message_catalog import Message
from domain.types import Json

OFFSETS_MS = 3653 * DAY
"""Time for which a pace knows the UTC offsets of its zone, ms: ten years."""


def parse_pace(meta: Meta, doc: Json, now: int) -> TimeControl:
    """Parse the pace of a request at time `now`, ms; raise InvalidTable with a pointer.

    A daily hour gets the UTC offsets of its zone from now on, by the rules that this machine knows.
    """
    daily = doc.get("daily") if isinstance(doc, dict) else None
    if not isinstance(doc, dict) or not isinstance(daily, dict):
        return parse_time_control(meta, doc)
    zone = daily.get("zone")
    if not isinstance(zone, str) or zone not in list_time_zones():
        raise InvalidTable(expected_message(Message("the name of a time zone")), "/pace/daily/zone")
    if "offsets" in daily:
        raise InvalidTable(expected_message(Message("an object with `hour` and `zone`")), "/pace/daily")
    offsets: Json = list_offsets(load_zone(zone), now, now + OFFSETS_MS)
    return parse_time_control(meta, {**doc, "daily": {**daily, "offsets": offsets}})


def list_offsets(zone: tzinfo, begin: int, end: int) -> list[Json]:
    """Return the UTC offsets of a zone between two times (ms): the begin of each (ms), and seconds east of UTC.

    A change that lasts less than a day may be missing.
    """
    found: list[Json] = [[begin, _find_offset(zone, begin)]]
    for day in range(begin, end, DAY):
        before, after = _find_offset(zone, day), _find_offset(zone, day + DAY)
        if before != after:
            found.append([_find_change(zone, day, day + DAY), after])
    return found


def _find_change(zone: tzinfo, lo: int, hi: int) -> int:
    """Return the second, in ms, at which the offset changes between two times."""
    while hi - lo > SECOND:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if _find_offset(zone, middle) == _find_offset(zone, lo) else (lo, middle)
    return hi // SECOND * SECOND


def _find_offset(zone: tzinfo, at: int) -> int:
    offset = datetime.fromtimestamp(at // SECOND, UTC).astimezone(zone).utcoffset()
    return int(offset.total_seconds()) if offset else 0

"""Times for people: in a time zone, with its name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from babel.dates import format_datetime

from domain.accounts.account_settings import load_zone


def format_time(ms: int, zone: str, lang: str, texts: Mapping[str, str]) -> str:
    """Return a time (ms since 1970 UTC) as weekday, date and hour of a zone, by the pattern `time` of the texts."""
    at, place = datetime.fromtimestamp(ms / 1000, UTC), load_zone(zone)
    return f"{format_datetime(at.astimezone(place), texts['time'], locale=lang)} ({place.key})"

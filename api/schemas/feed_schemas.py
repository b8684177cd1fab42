"""Schemas of feeds and of the keys of calendars."""

from __future__ import annotations

from typing import Annotated, TypedDict

from api.schemas.query_args import LangArgs
from api.schemas.request_fields import word_field
from domain.accounts.calendar_keys import KEY


class CalendarArgs(LangArgs):
    key = word_field(f"^{KEY.pattern}$", required=True, metadata={"description": "Key of a calendar."})


class CalendarKeyDoc(TypedDict):
    made: Annotated[int, "Creation time, ms since 1970 UTC."]


class NewCalendarKeyDoc(CalendarKeyDoc):
    key: Annotated[str, "The key. Sent only here."]
    address: Annotated[str, "The address for calendar programs. It holds the key."]

"""Schemas of feeds and of the keys of calendars."""

from __future__ import annotations

from api.schemas.fields import int_field, text_field
from api.schemas.query_args import LangArgs
from api.schemas.request_fields import word_field
from api.schemas.response_fields import ResponseSchema
from domain.accounts.calendar_keys import KEY


class CalendarArgs(LangArgs):
    key = word_field(f"^{KEY.pattern}$", required=True, metadata={"description": "Key of a calendar."})


class CalendarKeySchema(ResponseSchema):
    made = int_field("Creation time, ms since 1970 UTC.")


class NewCalendarKeySchema(CalendarKeySchema):
    key = text_field("The key. Sent only here.")
    address = text_field("The address for calendar programs. It holds the key.")

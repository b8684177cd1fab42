"""Schemas of a table's group chat."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields, validate

from api.schemas.request_fields import LONGER, RequestSchema, choice_field
from domain.kernel.text.message_catalog import LANGUAGES
from domain.notifications.webhook_urls import LONGEST


class ChatWishSchema(RequestSchema):
    """Address and language of a group chat."""

    url = fields.String(
        required=True,
        validate=validate.Length(max=LONGEST, error=LONGER),
        metadata={
            "description": "Incoming webhook of the chat: https, port 443 or above 1023.",
            "examples": ["https://hooks.example.org/services/T0/B0/x"],
        },
    )
    language = choice_field(*LANGUAGES, load_default=LANGUAGES[0])


class ChatDoc(TypedDict):
    host: Annotated[str, "Host of the chat. The address itself is never shown."]
    language: Annotated[str, LANGUAGES]
    zone: Annotated[str, "Time zone of the messages: that of the account that named the chat."]
    state: Annotated[str, ("on", "off"), "`off`: after three days of failed deliveries."]
    made: Annotated[int, "Creation time, ms since 1970 UTC."]
    by: Annotated[str, "Player id of the account that named the chat."]


class MyChatDoc(ChatDoc):
    game: Annotated[str, "The table or tournament."]

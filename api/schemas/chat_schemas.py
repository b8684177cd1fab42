"""Schemas of a table's group chat."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.fields import enum_field, int_field, text_field
from api.schemas.request_fields import LONGER, RequestSchema, choice_field
from api.schemas.response_fields import ResponseSchema
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


class ChatSchema(ResponseSchema):
    host = text_field("Host of the chat. The address itself is never shown.")
    language = enum_field(LANGUAGES)
    zone = text_field("Time zone of the messages: that of the account that named the chat.")
    state = enum_field(("on", "off"), "`off`: after three days of failed deliveries.")
    made = int_field("Creation time, ms since 1970 UTC.")
    by = text_field("Player id of the account that named the chat.")


class MyChatSchema(ChatSchema):
    game = text_field("The table or tournament.")

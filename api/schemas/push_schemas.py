"""Schemas of browsers told by web push."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG, LONGER, FullMatch, RequestSchema, VisibleText
from domain.kernel.text.message_catalog import LANGUAGES
from domain.notifications.webhook_urls import LONGEST

_POINT, _AUTH = r"^[A-Za-z0-9_-]{87}$", r"^[A-Za-z0-9_-]{22}$"


class PushKeysSchema(RequestSchema):
    """Keys of a browser's subscription, as its `toJSON` has them."""

    p256dh = fields.String(required=True, validate=FullMatch(_POINT))
    auth = fields.String(required=True, validate=FullMatch(_AUTH))


class NewPushDeviceSchema(RequestSchema):
    """A browser's subscription."""

    endpoint = fields.String(
        required=True,
        validate=validate.Length(max=LONGEST, error=LONGER),
        metadata={"description": "https.", "examples": ["https://push.example.org/send/abc"]},
    )
    keys = fields.Nested(PushKeysSchema, required=True)
    name = VisibleText(40, "Name of the browser.", "phone", load_default="")
    language = fields.String(load_default="en", validate=validate.OneOf(LANGUAGES, error=AMONG))


class PushDeviceDoc(TypedDict):
    id: str
    name: str
    language: str
    host: Annotated[str, "Host of its push service."]
    made: Annotated[int, "Creation time, ms since 1970 UTC."]
    failing: Annotated[
        int | None, "Start of the current failures, ms since 1970 UTC. null: the last message was taken."
    ]


class PushDevicesDoc(TypedDict):
    key: Annotated[str, "The service's public key: `applicationServerKey` of a subscription, base64url."]
    items: list[PushDeviceDoc]

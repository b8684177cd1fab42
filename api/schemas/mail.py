"""Schemas of requests and declared documents about mail."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG, BETWEEN, LONGER, FullMatch, RequestSchema, StrictInt
from domain.kernel.text.message_catalog import LANGUAGES
from domain.notifications.email_subscriptions import ADDRESS, DIGESTS, LONGEST, STATES, TYPES

_HOUR = "Hour of the digest, UTC. Weekly digests come on Mondays."


class MailWishSchema(RequestSchema):
    """Mail address and subscribed events."""

    address = fields.String(
        required=True,
        validate=[validate.Length(max=LONGEST, error=LONGER), FullMatch(f"^{ADDRESS.pattern}$")],
        metadata={"description": "ASCII only.", "examples": ["anne@example.org"]},
    )
    events = fields.List(
        fields.String(validate=validate.OneOf(TYPES, error=AMONG)),
        load_default=list,
        validate=validate.Length(max=len(TYPES), error=LONGER),
        metadata={"description": "Events mailed immediately. Empty: none."},
    )
    digest = fields.String(load_default="none", validate=validate.OneOf(DIGESTS, error=AMONG))
    hour = StrictInt(load_default=0, validate=validate.Range(0, 23, error=BETWEEN), metadata={"description": _HOUR})
    language = fields.String(load_default=LANGUAGES[0], validate=validate.OneOf(LANGUAGES, error=AMONG))


class MailCodeSchema(RequestSchema):
    code = fields.String(
        required=True,
        validate=FullMatch("^[A-Za-z0-9]{10}$"),
        metadata={"description": "The code from the mail.", "examples": ["ABCDEFGH23"]},
    )


class MailDoc(TypedDict):
    address: str
    events: list[Annotated[str, TYPES]]
    digest: Annotated[str, DIGESTS]
    hour: Annotated[int, _HOUR]
    language: Annotated[str, LANGUAGES]
    state: Annotated[
        str,
        STATES,
        "`waiting`: not confirmed yet. `off`: unsubscribed by a mail's link, or the address was"
        " permanently refused three times in a row.",
    ]
    made: Annotated[int, "Time of the code request, ms since 1970 UTC."]
    next: Annotated[int | None, "Time of the next digest, ms since 1970 UTC; or null."]

"""Schemas of requests and responses about mail."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG, BETWEEN, LONGER, FullMatch, RequestSchema, StrictInt
from api.schemas.response_fields import ResponseSchema
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


class MailSchema(ResponseSchema):
    address = fields.String(required=True)
    events = fields.List(fields.String(validate=validate.OneOf(TYPES, error=AMONG)), required=True)
    digest = fields.String(required=True, validate=validate.OneOf(DIGESTS, error=AMONG))
    hour = fields.Integer(required=True, metadata={"description": _HOUR})
    language = fields.String(required=True, validate=validate.OneOf(LANGUAGES, error=AMONG))
    state = fields.String(
        required=True,
        validate=validate.OneOf(STATES, error=AMONG),
        metadata={
            "description": "`waiting`: not confirmed yet. `off`: unsubscribed by a mail's link, or the address was"
            " permanently refused three times in a row."
        },
    )
    made = fields.Integer(required=True, metadata={"description": "Time of the code request, ms since 1970 UTC."})
    next = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Time of the next digest, ms since 1970 UTC; or null."}
    )

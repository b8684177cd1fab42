"""The shapes of what is said about mail."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG, BETWEEN, LONGER, In, Int, Pattern
from api.schemas.response_fields import Out
from domain.kernel.text.message_catalog import LANGUAGES
from domain.notifications.email_subscriptions import ADDRESS, DIGESTS, LONGEST, STATES, TYPES

_HOUR = "Of the digest, UTC; weekly ones come on Mondays."


class MailWishSchema(In):
    """Where mail goes, and what is told."""

    address = fields.String(
        required=True,
        validate=[validate.Length(max=LONGEST, error=LONGER), Pattern(f"^{ADDRESS.pattern}$")],
        metadata={"description": "In ASCII.", "examples": ["anne@example.org"]},
    )
    events = fields.List(
        fields.String(validate=validate.OneOf(TYPES, error=AMONG)),
        load_default=list,
        validate=validate.Length(max=len(TYPES), error=LONGER),
        metadata={"description": "What is told at once; nothing without them."},
    )
    digest = fields.String(load_default="none", validate=validate.OneOf(DIGESTS, error=AMONG))
    hour = Int(load_default=0, validate=validate.Range(0, 23, error=BETWEEN), metadata={"description": _HOUR})
    language = fields.String(load_default=LANGUAGES[0], validate=validate.OneOf(LANGUAGES, error=AMONG))


class MailCodeSchema(In):
    code = fields.String(
        required=True,
        validate=Pattern("^[A-Za-z0-9]{10}$"),
        metadata={"description": "As it was sent to the address.", "examples": ["ABCDEFGH23"]},
    )


class MailSchema(Out):
    address = fields.String(required=True)
    events = fields.List(fields.String(validate=validate.OneOf(TYPES, error=AMONG)), required=True)
    digest = fields.String(required=True, validate=validate.OneOf(DIGESTS, error=AMONG))
    hour = fields.Integer(required=True, metadata={"description": _HOUR})
    language = fields.String(required=True, validate=validate.OneOf(LANGUAGES, error=AMONG))
    state = fields.String(
        required=True,
        validate=validate.OneOf(STATES, error=AMONG),
        metadata={
            "description": "`waiting` for its code; `off` by the link in a mail, or since the address was refused for"
            " good three times on end."
        },
    )
    made = fields.Integer(required=True, metadata={"description": "When its code was asked for, ms since 1970 UTC."})
    next = fields.Integer(
        required=True, allow_none=True, metadata={"description": "When a digest is due, ms since 1970 UTC; or null."}
    )

"""The shapes of what is said about webhooks, and of what they are sent."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.fields import number, one_of, several, text
from api.schemas.request_fields import AMONG, BETWEEN, LONGER, Bool, In, Pattern, QueryInt
from api.schemas.response_fields import Out, PageSchema
from domain.kernel.records.record import KINDS
from domain.notifications.outbox import STATES
from domain.notifications.webhook_urls import LONGEST
from domain.notifications.webhooks import EVENTS, TEST
from domain.types import Doc, Json

TYPES = (*(type_ for types in EVENTS.values() for type_ in types), TEST)
"""All that a webhook can be sent."""

_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_STATUSES = ("open", "running", "over", "closed")


# --- requests --------------------------------------------------------------------------------------------------


class WebhookSchema(In):
    """Where it leads, and what it is told."""

    url = fields.String(
        required=True,
        validate=validate.Length(max=LONGEST, error=LONGER),
        metadata={"description": "https, port 443 or above 1023.", "examples": ["https://example.org/annals"]},
    )
    events = fields.List(
        fields.String(validate=validate.OneOf(TYPES, error=AMONG)),
        load_default=list,
        validate=validate.Length(max=len(TYPES), error=LONGER),
        metadata={"description": "The types of what it is told; without them all of what it is about."},
    )


class NewWebhookSchema(WebhookSchema):
    about = fields.String(
        required=True,
        validate=validate.OneOf(list(EVENTS), error=AMONG),
        metadata={"description": "All that concerns oneself (`mine`), one `table`, or the `lobby`."},
    )
    game = fields.String(
        load_default="", validate=Pattern(_GAME), metadata={"description": "Of `table`: one's own, or one directs it."}
    )


class ChangedWebhookSchema(WebhookSchema):
    on = Bool(load_default=True, metadata={"description": "Whether anything is sent."})


class DeliveriesArgs(In):
    status = fields.String(load_default="", validate=validate.OneOf(STATES, error=AMONG))
    cursor = fields.String(
        validate=Pattern(r"^[0-9]{1,15}\.msg_[0-9a-f]{32}$"),
        load_default="",
        metadata={"description": "Of the page before."},
    )
    limit = QueryInt(load_default=50, validate=validate.Range(1, 200, error=BETWEEN))


# --- answers ---------------------------------------------------------------------------------------------------


class ListedWebhookSchema(Out):
    id = text()
    about = one_of(EVENTS)
    game = text("Of `table`: which one; else empty.")
    events = several(TYPES)
    url = text()
    state = one_of(("on", "off"), "Off by its owner, or since nothing has come through for three days.")
    made = number("When it was made, ms since 1970 UTC.")
    failing = number("Since when nothing comes through, ms since 1970 UTC; null if the last delivery did.", none=True)


class WebhooksSchema(Out):
    items = fields.List(fields.Nested(ListedWebhookSchema), required=True)


class MadeWebhookSchema(ListedWebhookSchema):
    secret = text("What signatures are checked with; shown in this answer and its repetitions alone.")


class SecretSchema(Out):
    secret = text("What signatures are checked with; shown in this answer and its repetitions alone.")


class TrySchema(Out):
    at = number("When, ms since 1970 UTC.")
    status = number("The status of the answer; 0 without one.")
    ms = number("How long it took.")
    said = text(
        "Why there was no answer: `timeout`, `no_such_host`, `address_refused`, `tls_failed`, `no_answer`;"
        " or why nothing was sent: `not_made`, `damaged`."
    )


class DeliverySchema(Out):
    id = text("What `webhook-id` says: the same however often it is tried, or replayed.")
    type = one_of(TYPES)
    game = text("Which table it is about, or empty.")
    state = one_of(STATES)
    made = number("When it came to be owed, ms since 1970 UTC.")
    due = number("When it is tried next; of one that is not waiting when that was, ms since 1970 UTC.")
    tries = number("How often it was tried since it was made, or replayed.")
    log = fields.List(fields.Nested(TrySchema), required=True, metadata={"description": "The last ten tries."})


class DeliveriesSchema(PageSchema):
    items = fields.List(fields.Nested(DeliverySchema), required=True)


# --- what is sent ----------------------------------------------------------------------------------------------


class NoticeTestSchema(Out):
    webhook = text("Which one it is.")


class TableNoticeSchema(Out):
    """A table as everybody may know it."""

    game = text()
    ruleset = text()
    version = number("Of the record with which it happened.")
    status = one_of(_STATUSES)


class ChangeNoticeSchema(TableNoticeSchema):
    kind = one_of(KINDS, "Of the record.")


class TurnNoticeSchema(TableNoticeSchema):
    seat = number("One's own.")
    decision = text("What is owed.")
    deadline = number("Until when, ms since 1970 UTC; null without a deadline.", none=True)


class ChallengeNoticeSchema(Out):
    game = text()
    seat = number("The seat that is kept; null: any that is free.", none=True)
    until = number("Until when it stands, ms since 1970 UTC.")


DATA = {
    "turn.due": (TurnNoticeSchema, "One owes a decision."),
    "deadline.near": (TurnNoticeSchema, "A deadline is an hour away, or half of what there was if that is less."),
    "game.over": (TableNoticeSchema, "A game at which one has a role has ended, or its table was closed."),
    "challenge.made": (ChallengeNoticeSchema, "One is asked to a table."),
    "table.changed": (ChangeNoticeSchema, "The table has another record."),
    "table.opened": (TableNoticeSchema, "A public table was opened."),
    "table.started": (TableNoticeSchema, "A game began at a public table."),
    "table.closed": (TableNoticeSchema, "A public table was closed."),
    TEST: (NoticeTestSchema, "Its owner tries it out."),
}
"""Type -> what `data` holds, and when it is sent."""

_HEADERS = {
    "webhook-id": "The same however often it is sent: what has come already is to be dropped.",
    "webhook-timestamp": "When it is sent, seconds since 1970 UTC.",
    "webhook-signature": "`v1,` and the base64 of the HMAC-SHA256 of id, time and body, with points between; with a"
    " space between them those of two secrets after a rotation.",
}


def documented(ref: Doc, type_: str, said: str) -> Doc:
    """What the OpenAPI document says of a notice; `ref` leads to the schema of its data."""
    timestamp: Json = {"type": "string", "format": "date-time", "description": "When it happened."}
    body: Json = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {"type": {"type": "string", "const": type_}, "timestamp": timestamp, "data": ref},
    }
    headers = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": told}
        for name, told in _HEADERS.items()
    ]
    return {
        "post": {
            "operationId": type_.replace(".", "_"),
            "summary": said,
            "security": [],
            "parameters": headers,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": {
                "2XX": {"description": "It has come. Anything else is tried again; 410 switches the webhook off."}
            },
        }
    }

"""The shapes of what is said about webhooks, and of what they are sent."""

from __future__ import annotations

from collections.abc import Iterable

from marshmallow import fields, validate

from api.answers import Out, PageSchema
from api.requests import AMONG, BETWEEN, LONGER, Bool, In, Pattern, QueryInt
from domain.beside.notices.hooks import EVENTS, TEST
from domain.beside.notices.outbox import STATES
from domain.beside.notices.targets import LONGEST
from domain.ids import Doc, Json
from domain.kernel.record import KINDS

TYPES = (*(type_ for types in EVENTS.values() for type_ in types), TEST)
"""All that a webhook can be sent."""

_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_STATUSES = ("open", "running", "over", "closed")


def _str(said: str = "") -> fields.String:
    return fields.String(required=True, metadata={"description": said} if said else {})


def _int(said: str) -> fields.Integer:
    return fields.Integer(required=True, metadata={"description": said})


def _one_of(values: Iterable[str], said: str = "") -> fields.String:
    told = {"description": said} if said else {}
    return fields.String(required=True, validate=validate.OneOf(list(values), error=AMONG), metadata=told)


def _none_or_int(said: str) -> fields.Integer:
    return fields.Integer(required=True, allow_none=True, metadata={"description": said})


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
    id = _str()
    about = _one_of(EVENTS)
    game = _str("Of `table`: which one; else empty.")
    events = fields.List(_one_of(TYPES), required=True)
    url = _str()
    state = _one_of(("on", "off"), "Off by its owner, or since nothing has come through for three days.")
    made = _int("When it was made, ms since 1970 UTC.")
    failing = _none_or_int("Since when nothing comes through, ms since 1970 UTC; null if the last delivery did.")


class WebhooksSchema(Out):
    items = fields.List(fields.Nested(ListedWebhookSchema), required=True)


class MadeWebhookSchema(ListedWebhookSchema):
    secret = _str("What signatures are checked with; shown in this answer and its repetitions alone.")


class SecretSchema(Out):
    secret = _str("What signatures are checked with; shown in this answer and its repetitions alone.")


class TrySchema(Out):
    at = _int("When, ms since 1970 UTC.")
    status = _int("The status of the answer; 0 without one.")
    ms = _int("How long it took.")
    said = _str("Why there was no answer: `timeout`, `no_such_host`, `address_refused`, `tls_failed`, `no_answer`.")


class DeliverySchema(Out):
    id = _str("What `webhook-id` says: the same however often it is tried, or replayed.")
    type = _one_of(TYPES)
    game = _str("Which table it is about, or empty.")
    state = _one_of(STATES)
    made = _int("When it came to be owed, ms since 1970 UTC.")
    due = _int("When it is tried next; of one that is not waiting when that was, ms since 1970 UTC.")
    tries = _int("How often it was tried since it was made, or replayed.")
    log = fields.List(fields.Nested(TrySchema), required=True, metadata={"description": "The last ten tries."})


class DeliveriesSchema(PageSchema):
    items = fields.List(fields.Nested(DeliverySchema), required=True)


# --- what is sent ----------------------------------------------------------------------------------------------


class NoticeTestSchema(Out):
    webhook = _str("Which one it is.")


class TableNoticeSchema(Out):
    """A table as everybody may know it."""

    game = _str()
    ruleset = _str()
    version = _int("Of the record with which it happened.")
    status = _one_of(_STATUSES)


class ChangeNoticeSchema(TableNoticeSchema):
    kind = _one_of(KINDS, "Of the record.")


class TurnNoticeSchema(TableNoticeSchema):
    seat = _int("One's own.")
    decision = _str("What is owed.")
    deadline = _none_or_int("Until when, ms since 1970 UTC; null without a deadline.")


class ChallengeNoticeSchema(Out):
    game = _str()
    seat = _none_or_int("The seat that is kept; null: any that is free.")
    until = _int("Until when it stands, ms since 1970 UTC.")


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

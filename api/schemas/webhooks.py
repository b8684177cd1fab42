"""Schemas of webhook management and of webhook deliveries."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields, validate

from api.schemas.common_documents import PageDoc
from api.schemas.request_fields import AMONG, BETWEEN, LONGER, FullMatch, QueryInt, RequestSchema, StrictBool
from domain.notifications.outbox import STATES
from domain.notifications.webhook_urls import LONGEST
from domain.notifications.webhooks import EVENTS, TEST
from domain.types import Doc, Json
from projections.notice_documents import (
    AnswerNoticeDoc,
    AppealNoticeDoc,
    ChallengeNoticeDoc,
    ChangeNoticeDoc,
    EventAnnouncedNoticeDoc,
    EventChangedNoticeDoc,
    EventDrawnNoticeDoc,
    EventDueNoticeDoc,
    EventLeftNoticeDoc,
    EventOpenedNoticeDoc,
    EventOverNoticeDoc,
    EventRankedNoticeDoc,
    EventReportedNoticeDoc,
    EventRoundNoticeDoc,
    EventRuledNoticeDoc,
    EventVoidedNoticeDoc,
    MessageNoticeDoc,
    NoticeTestDoc,
    OrderNoticeDoc,
    ProposalNoticeDoc,
    ReportNoticeDoc,
    SeatNoticeDoc,
    SilenceNoticeDoc,
    TableNoticeDoc,
    TurnNoticeDoc,
)

TYPES = (*dict.fromkeys(type_ for types in EVENTS.values() for type_ in types), TEST)
"""All event types of webhooks."""

_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


# --- requests --------------------------------------------------------------------------------------------------


class WebhookSchema(RequestSchema):
    """URL and event types of a webhook."""

    url = fields.String(
        required=True,
        validate=validate.Length(max=LONGEST, error=LONGER),
        metadata={"description": "https, port 443 or above 1023.", "examples": ["https://example.org/annals"]},
    )
    events = fields.List(
        fields.String(validate=validate.OneOf(TYPES, error=AMONG)),
        load_default=list,
        validate=validate.Length(max=len(TYPES), error=LONGER),
        metadata={"description": "Event types. Default: all types for `about`."},
    )


class NewWebhookSchema(WebhookSchema):
    about = fields.String(
        required=True,
        validate=validate.OneOf(list(EVENTS), error=AMONG),
        metadata={
            "description": "Scope of the events: own games and tournaments (`mine`), one `table`, the `lobby`, or one"
            " tournament (`event`)."
        },
    )
    game = fields.String(
        load_default="",
        validate=FullMatch(_GAME),
        metadata={"description": "The table for `about: table`: an own or directed one."},
    )
    tournament = fields.String(
        load_default="",
        validate=FullMatch(_GAME),
        metadata={"description": "The tournament for `about: event`."},
    )


class ChangedWebhookSchema(WebhookSchema):
    on = StrictBool(load_default=True, metadata={"description": "False stops deliveries."})


class DeliveriesArgs(RequestSchema):
    status = fields.String(load_default="", validate=validate.OneOf(STATES, error=AMONG))
    cursor = fields.String(
        validate=FullMatch(r"^[0-9]{1,15}\.msg_[0-9a-f]{32}$"),
        load_default="",
        metadata={"description": "From the previous page."},
    )
    limit = QueryInt(load_default=50, validate=validate.Range(1, 200, error=BETWEEN))


# --- answers ---------------------------------------------------------------------------------------------------


class ListedWebhookDoc(TypedDict):
    id: str
    about: Annotated[str, EVENTS]
    game: Annotated[str, "The table for `about: table`, else empty."]
    tournament: Annotated[str, "The tournament for `about: event`, else empty."]
    events: list[Annotated[str, TYPES]]
    url: str
    state: Annotated[str, ("on", "off"), "`off`: switched off by its owner, or after three days of failed deliveries."]
    made: Annotated[int, "Creation time, ms since 1970 UTC."]
    failing: Annotated[
        int | None, "Start of the current failures, ms since 1970 UTC. null: the last delivery succeeded."
    ]


class WebhooksDoc(TypedDict):
    items: list[ListedWebhookDoc]


class MadeWebhookDoc(ListedWebhookDoc):
    secret: Annotated[str, "Key for checking signatures. Sent only here and in repetitions with the same key."]


class SecretDoc(TypedDict):
    secret: Annotated[str, "Key for checking signatures. Sent only here and in repetitions with the same key."]


class TryDoc(TypedDict):
    at: Annotated[int, "Time of the attempt, ms since 1970 UTC."]
    status: Annotated[int, "HTTP status of the response; 0: no response."]
    ms: Annotated[int, "Duration, ms."]
    said: Annotated[
        str,
        "Reason of a missing response: `timeout`, `no_such_host`, `address_refused`, `tls_failed`, `no_answer`;"
        " or of a skipped attempt: `not_made`, `damaged`.",
    ]


class DeliveryDoc(TypedDict):
    id: Annotated[str, "The `webhook-id`, equal for all attempts and replays."]
    type: Annotated[str, TYPES]
    game: Annotated[str, "The game or tournament, or empty."]
    state: Annotated[str, STATES]
    made: Annotated[int, "Creation time, ms since 1970 UTC."]
    due: Annotated[int, "Time of the next attempt, or of the last one, ms since 1970 UTC."]
    tries: Annotated[int, "Attempts since creation or the last replay."]
    log: Annotated[list[TryDoc], "The last ten attempts."]


class DeliveriesDoc(PageDoc):
    items: list[DeliveryDoc]


# --- what is sent ----------------------------------------------------------------------------------------------


DATA = {
    "turn.due": (TurnNoticeDoc, "An own decision is open."),
    "deadline.near": (TurnNoticeDoc, "A deadline is one hour away, or half of its time if shorter."),
    "game.over": (TableNoticeDoc, "A game of a player or director has ended, or its table was closed."),
    "seat.left": (SeatNoticeDoc, "A player has left a seat at a table of a player or officer."),
    "challenge.made": (ChallengeNoticeDoc, "A challenge has arrived."),
    "appeal.made": (AppealNoticeDoc, "A seat appeals at a table of an officer."),
    "appeal.answered": (AnswerNoticeDoc, "An officer has answered an appeal at the table of a player."),
    "proposal.made": (ProposalNoticeDoc, "A player proposes something that needs the consent of an own seat."),
    "message.received": (MessageNoticeDoc, "Letters or treaties wait for an own seat."),
    "message.reported": (ReportNoticeDoc, "Messages at a table of an officer without a stake are reported."),
    "message.silenced": (SilenceNoticeDoc, "An officer has stopped the words of a player to the table for a time."),
    "event.announced": (EventAnnouncedNoticeDoc, "Officers have said something to all entrants, or to a table."),
    "order.acted": (OrderNoticeDoc, "A standing order of an own seat has made a move."),
    "order.ended": (OrderNoticeDoc, "A standing order of an own seat has ended by itself."),
    "table.changed": (ChangeNoticeDoc, "The table has a new record."),
    "table.opened": (TableNoticeDoc, "A public table was opened."),
    "table.started": (TableNoticeDoc, "A game began at a public table."),
    "table.closed": (TableNoticeDoc, "A public table was closed."),
    "event.opened": (EventOpenedNoticeDoc, "A tournament takes entrants."),
    "event.due": (EventDueNoticeDoc, "A tournament waits for an act of an entrant or officer."),
    "event.round": (EventRoundNoticeDoc, "An entrant has a table, or a bye, in a round that begins."),
    "event.changed": (EventChangedNoticeDoc, "Times or terms of a tournament change, or a round ends soon."),
    "event.left": (EventLeftNoticeDoc, "An entrant has withdrawn, or is excluded."),
    "event.drawn": (EventDrawnNoticeDoc, "A round has been drawn."),
    "event.voided": (EventVoidedNoticeDoc, "A table has too few people, or has ended without a result."),
    "event.reported": (EventReportedNoticeDoc, "A result is on the list."),
    "event.ruled": (EventRuledNoticeDoc, "A ruling concerns an entrant or moves a place, or an appeal is answered."),
    "event.ranked": (EventRankedNoticeDoc, "The standings after a round are official."),
    "event.over": (EventOverNoticeDoc, "A tournament is finished or cancelled."),
    TEST: (NoticeTestDoc, "Test event, requested by the owner."),
}
"""Event type -> schema of `data`, and the event's description."""

_HEADERS = {
    "webhook-id": "Equal for all attempts. Receivers should ignore repeated ids.",
    "webhook-timestamp": "Sending time, seconds since 1970 UTC.",
    "webhook-signature": "`v1,` and the base64 of the HMAC-SHA256 of id, time and body, joined by points. After a"
    " rotation, there are two signatures, separated by a space.",
}


def webhook_document(ref: Doc, type_: str, summary: str) -> Doc:
    """Return the OpenAPI description of a webhook. `ref` points to the schema of its data."""
    timestamp: Json = {"type": "string", "format": "date-time", "description": "Time of the event."}
    body: Json = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {"type": {"type": "string", "const": type_}, "timestamp": timestamp, "data": ref},
    }
    headers = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": note}
        for name, note in _HEADERS.items()
    ]
    return {
        "post": {
            "operationId": type_.replace(".", "_"),
            "summary": summary,
            "security": [],
            "parameters": headers,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": {
                "2XX": {"description": "Received. Other responses are retried; 410 switches the webhook off."}
            },
        }
    }

"""Schemas of webhook management and of webhook deliveries."""

from __future__ import annotations

from typing import get_args

from marshmallow import fields, validate

from api.schemas.fields import enum_field, int_field, text_field, text_list
from api.schemas.request_fields import AMONG, BETWEEN, LONGER, FullMatch, QueryInt, RequestSchema, StrictBool
from api.schemas.response_fields import PageSchema, ResponseSchema
from domain.kernel.game.appeals import Outcome
from domain.kernel.records.record import KINDS
from domain.notifications.outbox import STATES
from domain.notifications.webhook_urls import LONGEST
from domain.notifications.webhooks import EVENTS, TEST
from domain.tournaments.aggregate.tournament import STATUSES as EVENT_STATUSES
from domain.tournaments.aggregate.tournament_appeal_commands import OUTCOMES
from domain.tournaments.results import AVERAGE, VOID
from domain.types import Doc, Json

TYPES = (*dict.fromkeys(type_ for types in EVENTS.values() for type_ in types), TEST)
"""All event types of webhooks."""

_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_STATUSES = ("open", "running", "over", "closed")

EVENT_ACTS = ("check_in", "nonce", "bid", "rank", "answer")
"""Acts of entrants and officers."""

DEPARTURES = ("left", "conceded", "removed", "vacated")
"""Ways in which a seat becomes empty."""

EVENT_DEPARTURES = ("withdrew", "excluded")
"""Ways in which an entrant leaves."""

RULING_ACTS = ("placed", "annulled", "penalised", "excluded", "restored")
"""Acts of a ruling."""


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


class ListedWebhookSchema(ResponseSchema):
    id = text_field()
    about = enum_field(EVENTS)
    game = text_field("The table for `about: table`, else empty.")
    tournament = text_field("The tournament for `about: event`, else empty.")
    events = text_list(TYPES)
    url = text_field()
    state = enum_field(("on", "off"), "`off`: switched off by its owner, or after three days of failed deliveries.")
    made = int_field("Creation time, ms since 1970 UTC.")
    failing = int_field(
        "Start of the current failures, ms since 1970 UTC. null: the last delivery succeeded.", nullable=True
    )


class WebhooksSchema(ResponseSchema):
    items = fields.List(fields.Nested(ListedWebhookSchema), required=True)


class MadeWebhookSchema(ListedWebhookSchema):
    secret = text_field("Key for checking signatures. Sent only here and in repetitions with the same key.")


class SecretSchema(ResponseSchema):
    secret = text_field("Key for checking signatures. Sent only here and in repetitions with the same key.")


class TrySchema(ResponseSchema):
    at = int_field("Time of the attempt, ms since 1970 UTC.")
    status = int_field("HTTP status of the response; 0: no response.")
    ms = int_field("Duration, ms.")
    said = text_field(
        "Reason of a missing response: `timeout`, `no_such_host`, `address_refused`, `tls_failed`, `no_answer`;"
        " or of a skipped attempt: `not_made`, `damaged`."
    )


class DeliverySchema(ResponseSchema):
    id = text_field("The `webhook-id`, equal for all attempts and replays.")
    type = enum_field(TYPES)
    game = text_field("The game or tournament, or empty.")
    state = enum_field(STATES)
    made = int_field("Creation time, ms since 1970 UTC.")
    due = int_field("Time of the next attempt, or of the last one, ms since 1970 UTC.")
    tries = int_field("Attempts since creation or the last replay.")
    log = fields.List(fields.Nested(TrySchema), required=True, metadata={"description": "The last ten attempts."})


class DeliveriesSchema(PageSchema):
    items = fields.List(fields.Nested(DeliverySchema), required=True)


# --- what is sent ----------------------------------------------------------------------------------------------


class NoticeTestSchema(ResponseSchema):
    webhook = text_field("The webhook's id.")


class TableNoticeSchema(ResponseSchema):
    """Public data of a table."""

    game = text_field()
    ruleset = text_field()
    version = int_field("Version of the event's record.")
    status = enum_field(_STATUSES)


class ChangeNoticeSchema(TableNoticeSchema):
    kind = enum_field(KINDS, "Kind of the record.")
    head = text_field("Hash of the record's public part, hex.")


class TurnNoticeSchema(TableNoticeSchema):
    seat = int_field("The own seat.")
    decision = text_field("Kind of the open decision.")
    deadline = int_field("Deadline, ms since 1970 UTC; null without one.", nullable=True)


class SeatNoticeSchema(TableNoticeSchema):
    leaver = int_field("The seat that was left.")
    how = enum_field(
        DEPARTURES,
        "`removed`: by an officer; `vacated`: the seat was left before, and its hold has ended without a substitute.",
    )
    until = int_field("End of the hold for a substitute, ms since 1970 UTC; null without one.", nullable=True)


class AppealNoticeSchema(TableNoticeSchema):
    contested = int_field("Version of the contested decision.")
    deadline = int_field("End of the time to answer, ms since 1970 UTC.")


class AnswerNoticeSchema(TableNoticeSchema):
    contested = int_field("Version of the contested decision.")
    outcome = enum_field(get_args(Outcome))


class ProposalNoticeSchema(TableNoticeSchema):
    seat = int_field("The own seat, with a vote.")
    proposal = text_field("Id of the proposal.")
    act = text_field("The proposed command, such as `pause`.")
    deadline = int_field("End of the time to vote, ms since 1970 UTC.")


class ChallengeNoticeSchema(ResponseSchema):
    game = text_field()
    seat = int_field("The reserved seat. null: any free seat.", nullable=True)
    until = int_field("Expiry, ms since 1970 UTC.")


class EventNoticeSchema(ResponseSchema):
    """Public data of a tournament."""

    tournament = text_field()
    ruleset = text_field()
    version = int_field("Version of the event's record.")
    status = enum_field(EVENT_STATUSES)


class EventOpenedNoticeSchema(EventNoticeSchema):
    next = text_field("The tournament that follows by its rule; null: this one has been opened.", nullable=True)


class EventDueNoticeSchema(EventNoticeSchema):
    act = enum_field(EVENT_ACTS, "What is waited for: the first three from an entrant, the others from an officer.")
    stage = int_field("From 1.")
    round = int_field("From 1; null for an appeal.", nullable=True)
    table = text_field("The own table, `round.pod`, of a bid.", nullable=True)
    ruling = int_field("The contested ruling.", nullable=True)
    until = int_field("End of the time for it, ms since 1970 UTC; null: until an officer goes on.", nullable=True)
    again = fields.Boolean(
        required=True, metadata={"description": "`rank`: true if the round has official standings, to be replaced."}
    )


class EventPlaceNoticeSchema(EventNoticeSchema):
    stage = int_field("From 1.")
    round = int_field("From 1.")
    table = text_field("`round.pod`.", nullable=True)


class EventRoundNoticeSchema(EventPlaceNoticeSchema):
    game = text_field("The game of the table; null: a bye.", nullable=True)
    seat = int_field("The own seat, from 0.", nullable=True)
    opponents = text_list(description="Player ids of the others, by seat.")
    deadline = int_field("Deadline of a decision already owed, ms since 1970 UTC.", nullable=True)


class EventLeftNoticeSchema(EventNoticeSchema):
    player = text_field("The entrant's player id.")
    how = enum_field(EVENT_DEPARTURES)
    stage = int_field("Of the entrant's next or present table, from 1; null without one.", nullable=True)
    round = int_field("From 1.", nullable=True)
    table = text_field("`round.pod`.", nullable=True)


class EventDrawnNoticeSchema(EventPlaceNoticeSchema):
    tables = int_field("Tables of the round, or 1 of a queue.")
    byes = int_field("Entrants with a bye.")


class EventVoidedNoticeSchema(EventPlaceNoticeSchema):
    how = enum_field((VOID, AVERAGE), "`void`: as if not played; `average`: a credit as for a bye.")


class EventReportedNoticeSchema(EventPlaceNoticeSchema):
    players = text_list(description="Player ids by seat.")
    places = fields.List(fields.Integer(), required=True, metadata={"description": "Places by seat."})


class EventRuledNoticeSchema(EventNoticeSchema):
    ruling = int_field("The ruling: the version of its record.")
    act = enum_field((*RULING_ACTS, "answered"), "Act of the officer; `answered`: the own appeal has an answer.")
    outcome = enum_field(OUTCOMES, "The answer to an appeal; null for other acts.", nullable=True)
    stage = int_field("From 1.")
    place = int_field("The own place in the official standings of the stage; null without one.", nullable=True)
    former = int_field("The own place there before the act.", nullable=True)


class EventLeaderSchema(ResponseSchema):
    player = text_field()
    place = int_field("From 1; shared places are equal.")


class EventOverNoticeSchema(EventNoticeSchema):
    place = int_field("The own place in the last official standings; null without one.", nullable=True)
    leaders = fields.List(
        fields.Nested(EventLeaderSchema), required=True, metadata={"description": "Of feeds: the first three."}
    )


class EventRankedNoticeSchema(EventOverNoticeSchema):
    stage = int_field("From 1.")
    round = int_field("From 1.")
    digest = text_field("Digest of the standings.")


DATA = {
    "turn.due": (TurnNoticeSchema, "An own decision is open."),
    "deadline.near": (TurnNoticeSchema, "A deadline is one hour away, or half of its time if shorter."),
    "game.over": (TableNoticeSchema, "A game of a player or director has ended, or its table was closed."),
    "seat.left": (SeatNoticeSchema, "A player has left a seat at a table of a player or officer."),
    "challenge.made": (ChallengeNoticeSchema, "A challenge has arrived."),
    "appeal.made": (AppealNoticeSchema, "A seat appeals at a table of an officer."),
    "appeal.answered": (AnswerNoticeSchema, "An officer has answered an appeal at the table of a player."),
    "proposal.made": (ProposalNoticeSchema, "A player proposes something that needs the consent of an own seat."),
    "table.changed": (ChangeNoticeSchema, "The table has a new record."),
    "table.opened": (TableNoticeSchema, "A public table was opened."),
    "table.started": (TableNoticeSchema, "A game began at a public table."),
    "table.closed": (TableNoticeSchema, "A public table was closed."),
    "event.opened": (EventOpenedNoticeSchema, "A tournament takes entrants."),
    "event.due": (EventDueNoticeSchema, "A tournament waits for an act of an entrant or officer."),
    "event.round": (EventRoundNoticeSchema, "An entrant has a table, or a bye, in a round that begins."),
    "event.left": (EventLeftNoticeSchema, "An entrant has withdrawn, or is excluded."),
    "event.drawn": (EventDrawnNoticeSchema, "A round has been drawn."),
    "event.voided": (EventVoidedNoticeSchema, "A table has too few people, or has ended without a result."),
    "event.reported": (EventReportedNoticeSchema, "A result is on the list."),
    "event.ruled": (EventRuledNoticeSchema, "A ruling concerns an entrant or moves a place, or an appeal is answered."),
    "event.ranked": (EventRankedNoticeSchema, "The standings after a round are official."),
    "event.over": (EventOverNoticeSchema, "A tournament is finished or cancelled."),
    TEST: (NoticeTestSchema, "Test event, requested by the owner."),
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

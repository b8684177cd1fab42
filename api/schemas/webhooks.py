"""Schemas of webhook management and of webhook deliveries."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from marshmallow import fields, validate

from api.schemas.common_documents import PageDoc
from api.schemas.request_fields import AMONG, BETWEEN, LONGER, FullMatch, QueryInt, RequestSchema, StrictBool
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


class ListedWebhookDoc(TypedDict):
    id: str
    about: Annotated[str, EVENTS]
    game: Annotated[str, "The table for `about: table`, else empty."]
    tournament: Annotated[str, "The tournament for `about: event`, else empty."]
    events: list[Annotated[str, TYPES]]
    url: str
    state: Annotated[
        Literal["on", "off"], "`off`: switched off by its owner, or after three days of failed deliveries."
    ]
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


class NoticeTestDoc(TypedDict):
    webhook: Annotated[str, "The webhook's id."]


class TableNoticeDoc(TypedDict):
    """Public data of a table."""

    game: str
    ruleset: str
    version: Annotated[int, "Version of the event's record."]
    status: Annotated[str, _STATUSES]


class ChangeNoticeDoc(TableNoticeDoc):
    kind: Annotated[str, KINDS, "Kind of the record."]
    head: Annotated[str, "Hash of the record's public part, hex."]


class TurnNoticeDoc(TableNoticeDoc):
    seat: Annotated[int, "The own seat."]
    decision: Annotated[str, "Kind of the open decision."]
    deadline: Annotated[int | None, "Deadline, ms since 1970 UTC; null without one."]


class SeatNoticeDoc(TableNoticeDoc):
    leaver: Annotated[int, "The seat that was left."]
    how: Annotated[
        str,
        DEPARTURES,
        "`removed`: by an officer; `vacated`: the seat was left before, and its hold has ended without a substitute.",
    ]
    until: Annotated[int | None, "End of the hold for a substitute, ms since 1970 UTC; null without one."]


class AppealNoticeDoc(TableNoticeDoc):
    contested: Annotated[int, "Version of the contested decision."]
    deadline: Annotated[int, "End of the time to answer, ms since 1970 UTC."]


class AnswerNoticeDoc(TableNoticeDoc):
    contested: Annotated[int, "Version of the contested decision."]
    outcome: Outcome


class ProposalNoticeDoc(TableNoticeDoc):
    seat: Annotated[int, "The own seat, with a vote."]
    proposal: Annotated[str, "Id of the proposal."]
    act: Annotated[str, "The proposed command, such as `pause`."]
    deadline: Annotated[int, "End of the time to vote, ms since 1970 UTC."]


class ChallengeNoticeDoc(TypedDict):
    game: str
    seat: Annotated[int | None, "The reserved seat. null: any free seat."]
    until: Annotated[int, "Expiry, ms since 1970 UTC."]


class EventNoticeDoc(TypedDict):
    """Public data of a tournament."""

    tournament: str
    ruleset: str
    version: Annotated[int, "Version of the event's record."]
    status: Annotated[str, EVENT_STATUSES]


class EventOpenedNoticeDoc(EventNoticeDoc):
    next: Annotated[str | None, "The tournament that follows by its rule; null: this one has been opened."]


class EventDueNoticeDoc(EventNoticeDoc):
    act: Annotated[str, EVENT_ACTS, "What is waited for: the first three from an entrant, the others from an officer."]
    stage: Annotated[int, "From 1."]
    round: Annotated[int | None, "From 1; null for an appeal."]
    table: Annotated[str | None, "The own table, `round.pod`, of a bid."]
    ruling: Annotated[int | None, "The contested ruling."]
    until: Annotated[int | None, "End of the time for it, ms since 1970 UTC; null: until an officer goes on."]
    again: Annotated[bool, "`rank`: true if the round has official standings, to be replaced."]


class EventPlaceNoticeDoc(EventNoticeDoc):
    stage: Annotated[int, "From 1."]
    round: Annotated[int, "From 1."]
    table: Annotated[str | None, "`round.pod`."]


class EventRoundNoticeDoc(EventPlaceNoticeDoc):
    game: Annotated[str | None, "The game of the table; null: a bye."]
    seat: Annotated[int | None, "The own seat, from 0."]
    opponents: Annotated[list[str], "Player ids of the others, by seat."]
    deadline: Annotated[int | None, "Deadline of a decision already owed, ms since 1970 UTC."]


class EventLeftNoticeDoc(EventNoticeDoc):
    player: Annotated[str, "The entrant's player id."]
    how: Annotated[str, EVENT_DEPARTURES]
    stage: Annotated[int | None, "Of the entrant's next or present table, from 1; null without one."]
    round: Annotated[int | None, "From 1."]
    table: Annotated[str | None, "`round.pod`."]


class EventDrawnNoticeDoc(EventPlaceNoticeDoc):
    tables: Annotated[int, "Tables of the round, or 1 of a queue."]
    byes: Annotated[int, "Entrants with a bye."]


class EventVoidedNoticeDoc(EventPlaceNoticeDoc):
    how: Annotated[str, (VOID, AVERAGE), "`void`: as if not played; `average`: a credit as for a bye."]


class EventReportedNoticeDoc(EventPlaceNoticeDoc):
    players: Annotated[list[str], "Player ids by seat."]
    places: Annotated[list[int], "Places by seat."]


class EventRuledNoticeDoc(EventNoticeDoc):
    ruling: Annotated[int, "The ruling: the version of its record."]
    act: Annotated[str, (*RULING_ACTS, "answered"), "Act of the officer; `answered`: the own appeal has an answer."]
    outcome: Annotated[str | None, OUTCOMES, "The answer to an appeal; null for other acts."]
    stage: Annotated[int, "From 1."]
    place: Annotated[int | None, "The own place in the official standings of the stage; null without one."]
    former: Annotated[int | None, "The own place there before the act."]


class EventLeaderDoc(TypedDict):
    player: str
    place: Annotated[int, "From 1; shared places are equal."]


class EventOverNoticeDoc(EventNoticeDoc):
    place: Annotated[int | None, "The own place in the last official standings; null without one."]
    leaders: Annotated[list[EventLeaderDoc], "Of feeds: the first three."]


class EventRankedNoticeDoc(EventOverNoticeDoc):
    stage: Annotated[int, "From 1."]
    round: Annotated[int, "From 1."]
    digest: Annotated[str, "Digest of the standings."]


DATA = {
    "turn.due": (TurnNoticeDoc, "An own decision is open."),
    "deadline.near": (TurnNoticeDoc, "A deadline is one hour away, or half of its time if shorter."),
    "game.over": (TableNoticeDoc, "A game of a player or director has ended, or its table was closed."),
    "seat.left": (SeatNoticeDoc, "A player has left a seat at a table of a player or officer."),
    "challenge.made": (ChallengeNoticeDoc, "A challenge has arrived."),
    "appeal.made": (AppealNoticeDoc, "A seat appeals at a table of an officer."),
    "appeal.answered": (AnswerNoticeDoc, "An officer has answered an appeal at the table of a player."),
    "proposal.made": (ProposalNoticeDoc, "A player proposes something that needs the consent of an own seat."),
    "table.changed": (ChangeNoticeDoc, "The table has a new record."),
    "table.opened": (TableNoticeDoc, "A public table was opened."),
    "table.started": (TableNoticeDoc, "A game began at a public table."),
    "table.closed": (TableNoticeDoc, "A public table was closed."),
    "event.opened": (EventOpenedNoticeDoc, "A tournament takes entrants."),
    "event.due": (EventDueNoticeDoc, "A tournament waits for an act of an entrant or officer."),
    "event.round": (EventRoundNoticeDoc, "An entrant has a table, or a bye, in a round that begins."),
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

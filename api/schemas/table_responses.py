"""Schemas of tables: opened games, seats, challenges, summaries, the lobby."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.play_responses import AccountSchema, SeatSchema
from api.schemas.response_fields import (
    INT,
    LISTINGS,
    STATUSES,
    UNDO_POLICIES,
    PageSchema,
    ResponseSchema,
    WrittenSchema,
    one_of,
    required_int,
    required_str,
    word_map,
)
from api.schemas.schema_builder import JsonSchemaField, tuple_of


class NewGameDocSchema(WrittenSchema):
    token = fields.String(
        metadata={
            "description": "The director's token, for guests. Sent only here and in repetitions with the same key."
        }
    )
    player = required_str()
    invitation = fields.String(metadata={"description": "Secret needed to take a seat, for `listing: invitation`."})


class NewGamesDocSchema(ResponseSchema):
    items = fields.List(fields.Nested(NewGameDocSchema), required=True)


class ChallengeDocSchema(ResponseSchema):
    game = required_str()
    to = required_str(metadata={"description": "The challenged name or player id, whether or not it exists."})
    seat = fields.Integer(required=True, allow_none=True)
    at = required_int()
    until = required_int(metadata={"description": "Expiry, ms."})
    answer = one_of("open", "accepted", "declined", "past")


class ChallengesSchema(ResponseSchema):
    items = fields.List(fields.Nested(ChallengeDocSchema), required=True)


class RematchDocSchema(ResponseSchema):
    game = required_str(metadata={"description": "The new table, with the ruleset, options and terms of the old one."})
    player = required_str()
    seat = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The seat reserved for the caller: the next one in order."},
    )
    token = fields.String(metadata={"description": "The director's token, if a guest opened the table."})


class TokenDocSchema(WrittenSchema):
    seat = required_int()
    token = required_str(
        metadata={"description": "The seat's token. Sent only here and in repetitions with the same key."}
    )


class SeatDocSchema(WrittenSchema):
    seat = required_int()
    token = fields.String(
        metadata={"description": "The seat's token, for guests. Sent only here and in repetitions with the same key."}
    )
    player = required_str()


class EndingSchema(ResponseSchema):
    reason = one_of(
        "finished", "abandoned", "void", "agreed", metadata={"description": "`finished`: ended by the rules."}
    )
    by = one_of("engine", "director", "clock")
    finished = fields.Boolean(required=True, metadata={"description": "True if there are final places."})


class PaceSchema(ResponseSchema):
    seconds = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "Seconds by deadline class."},
    )
    grace = fields.Integer()
    bank = fields.Integer()
    vacation = fields.Integer()


class MissLimitsSchema(ResponseSchema):
    row = required_int(metadata={"description": "On end."})
    all = required_int(metadata={"description": "Altogether."})


class SummarySchema(ResponseSchema):
    game = required_str()
    ruleset = required_str()
    options = fields.Dict(required=True)
    listing = one_of(*LISTINGS)
    undo = one_of(*UNDO_POLICIES, required=False)
    status = one_of(*STATUSES)
    set_aside = fields.Boolean(
        metadata={"description": "True if a later record cannot be shown. An operator must repair it."}
    )
    damaged = fields.Integer(
        metadata={"description": "First damaged version, 0 for the seed. The document shows the state before it."}
    )
    version = required_int()
    opened = required_int()
    at = required_int()
    seed_hash = required_str()
    pace = fields.Nested(PaceSchema, required=True)
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    seatings = fields.List(
        JsonSchemaField(tuple_of(INT, INT, {"type": "string"})),
        metadata={"description": "Changes of players: version, seat, new player or an empty string."},
    )
    undone = fields.List(
        JsonSchemaField(tuple_of(INT, INT)),
        metadata={"description": "Rewinds: version restored, version of the rewind. Versions between are undone."},
    )
    names = word_map(required=True, metadata={"description": "Player -> name, if given."})
    title = fields.String(metadata={"description": "Title of the table."})
    note = fields.String(metadata={"description": "The director's note."})
    rematch = fields.String(metadata={"description": "The rematch's game id."})
    powers = word_map(required=True, metadata={"description": "Seat -> id of its power, in games with powers."})
    waiting_for = fields.List(fields.Integer(), required=True)
    waiting_engine = fields.Boolean(required=True)
    waiting_since = required_int()
    due = fields.Integer(required=True, allow_none=True)
    accounts = fields.List(fields.Nested(AccountSchema), metadata={"description": "Time banks and vacations."})
    hold = fields.Integer(metadata={"description": "Seconds to hold an abandoned seat."})
    several = fields.Boolean(metadata={"description": "True if one person may take several seats."})
    delay = fields.Integer(metadata={"description": "Spectators' delay, seconds."})
    officers = fields.String(
        metadata={"description": "`neutral`: a director who has a seat needs the players' consent; else `any`."}
    )
    misses = fields.Nested(
        MissLimitsSchema,
        allow_none=True,
        metadata={"description": "Missed deadlines after which a seat counts as vacant; null: never."},
    )
    ending = fields.Nested(EndingSchema, allow_none=True, metadata={"description": "Closing of the game; null before."})


class LobbySchema(PageSchema):
    items = fields.List(fields.Nested(SummarySchema), required=True)


class MineSchema(SummarySchema):
    roles = fields.List(
        fields.Raw(metadata={"type": ["integer", "string"]}),
        required=True,
        metadata={"description": "The person's roles: a seat number, `director`, or both."},
    )
    turn = fields.Boolean(required=True, metadata={"description": "True if a decision of an own seat is open."})
    left = fields.Integer(
        required=True, allow_none=True, metadata={"description": "ms until the own default is played. null: no limit."}
    )


class MyGamesSchema(PageSchema):
    items = fields.List(fields.Nested(MineSchema), required=True)


class TicketSchema(ResponseSchema):
    ticket = required_str()
    seconds = required_int()


class CookieDocSchema(ResponseSchema):
    path = required_str(metadata={"description": "The stream's path."})
    seconds = required_int()

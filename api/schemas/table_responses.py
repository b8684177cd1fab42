"""Schemas of tables: opened games, seats, challenges, summaries, the lobby."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.play_responses import AccountSchema, SeatSchema
from api.schemas.response_fields import (
    LISTINGS,
    STATUSES,
    UNDO_POLICIES,
    Out,
    PageSchema,
    WrittenSchema,
    one_of,
    required_int,
    required_str,
    word_map,
)


class NewGameDocSchema(WrittenSchema):
    token = fields.String(
        metadata={"description": "The director's token, for guests; shown in this answer and its repetitions alone."}
    )
    player = required_str()
    invitation = fields.String(metadata={"description": "Lets people take a seat; for `listing: invitation`."})


class NewGamesDocSchema(Out):
    items = fields.List(fields.Nested(NewGameDocSchema), required=True)


class ChallengeDocSchema(Out):
    game = required_str()
    to = required_str(
        metadata={"description": "The name or player's id that was asked; whether anybody is called so is not told."}
    )
    seat = fields.Integer(required=True, allow_none=True)
    at = required_int()
    until = required_int(metadata={"description": "Until when it stands, ms."})
    answer = one_of("open", "accepted", "declined", "past")


class ChallengesSchema(Out):
    items = fields.List(fields.Nested(ChallengeDocSchema), required=True)


class RematchDocSchema(Out):
    game = required_str(
        metadata={"description": "The new table, with the ruleset, options and terms of the one before."}
    )
    player = required_str()
    seat = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The seat that is kept for whoever asks: the next one."},
    )
    token = fields.String(metadata={"description": "The director's token, for the guest who opened the table."})


class TokenDocSchema(WrittenSchema):
    seat = required_int()
    token = required_str(metadata={"description": "The seat's token; shown in this answer and its repetitions alone."})


class SeatDocSchema(WrittenSchema):
    seat = required_int()
    token = fields.String(
        metadata={"description": "The seat's token, for guests; shown in this answer and its repetitions alone."}
    )
    player = required_str()


class EndingSchema(Out):
    reason = one_of("finished", "abandoned", "void", metadata={"description": "`finished`: by the rules."})
    by = one_of("engine", "director", "clock")
    finished = fields.Boolean(required=True, metadata={"description": "Whether there are final places."})


class PaceSchema(Out):
    seconds = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "By deadline class."}
    )
    grace = fields.Integer()
    bank = fields.Integer()
    vacation = fields.Integer()


class SummarySchema(Out):
    game = required_str()
    ruleset = required_str()
    options = fields.Dict(required=True)
    listing = one_of(*LISTINGS)
    undo = one_of(*UNDO_POLICIES, required=False)
    status = one_of(*STATUSES)
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    damaged = fields.Integer(
        metadata={"description": "The first version that is damaged, 0 for the seed: this is what was before it."}
    )
    version = required_int()
    opened = required_int()
    at = required_int()
    seed_hash = required_str()
    pace = fields.Nested(PaceSchema, required=True)
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    names = word_map(required=True, metadata={"description": "Player -> name, for those who gave one."})
    title = fields.String(metadata={"description": "What the director calls the table."})
    note = fields.String(metadata={"description": "What the director says of it."})
    rematch = fields.String(metadata={"description": "The table at which the same people play again."})
    powers = word_map(
        required=True, metadata={"description": "Seat -> id of the power that it plays, where the game has such."}
    )
    waiting_for = fields.List(fields.Integer(), required=True)
    waiting_engine = fields.Boolean(required=True)
    waiting_since = required_int()
    due = fields.Integer(required=True, allow_none=True)
    accounts = fields.List(fields.Nested(AccountSchema), metadata={"description": "Banks of time, and vacations."})
    hold = fields.Integer(metadata={"description": "Seconds for which a seat that is left is kept."})
    several = fields.Boolean(metadata={"description": "Whether one person may take several seats."})
    delay = fields.Integer(metadata={"description": "By how many seconds later spectators see what is played."})
    ending = fields.Nested(
        EndingSchema, allow_none=True, metadata={"description": "How the game was closed; null before."}
    )


class LobbySchema(PageSchema):
    items = fields.List(fields.Nested(SummarySchema), required=True)


class MineSchema(SummarySchema):
    roles = fields.List(
        fields.Raw(metadata={"type": ["integer", "string"]}),
        required=True,
        metadata={"description": "What the person is there: a seat, `director`, or both."},
    )
    turn = fields.Boolean(required=True, metadata={"description": "Whether one owes a decision, as one's seats know."})
    left = fields.Integer(
        required=True, allow_none=True, metadata={"description": "ms until one's default is played; null for no limit."}
    )


class MyGamesSchema(PageSchema):
    items = fields.List(fields.Nested(MineSchema), required=True)


class TicketSchema(Out):
    ticket = required_str()
    seconds = required_int()


class CookieDocSchema(Out):
    path = required_str(metadata={"description": "The stream that it opens."})
    seconds = required_int()

"""Schemas of tables: opened games, seats, challenges, summaries, the lobby."""

from __future__ import annotations

from typing import get_args

from marshmallow import fields

from api.schemas.play_responses import AccountSchema, AppealDocSchema, SeatSchema, appeals_field, pause_field
from api.schemas.query_args import NEEDS
from api.schemas.response_fields import (
    INT,
    LISTINGS,
    STATUSES,
    UNDO_POLICIES,
    ImportedSchema,
    OriginSchema,
    PageSchema,
    ResponseSchema,
    WrittenSchema,
    int_map,
    one_of,
    required_int,
    required_str,
    word_map,
)
from api.schemas.schema_builder import JsonSchemaField, tuple_of
from domain.kernel.game.appeals import Outcome
from domain.kernel.game.officers import OFFICES
from domain.kernel.game.rulings import ENDINGS


class NewGameDocSchema(WrittenSchema):
    token = fields.String(
        metadata={
            "description": "The director's token, for guests. Sent only here and in repetitions with the same key."
        }
    )
    player = required_str()
    invitation = fields.String(metadata={"description": "Secret needed to take a seat, for `listing: invitation`."})


class ForkDocSchema(WrittenSchema):
    player = required_str()
    origin = fields.Nested(OriginSchema, required=True)


class ImportDocSchema(ResponseSchema):
    game = required_str(metadata={"description": "The id of the imported game here."})
    ruleset = required_str()
    version = required_int()
    at = required_int(metadata={"description": "Time of the import, ms."})


class ImportsSchema(ResponseSchema):
    items = fields.List(fields.Nested(ImportDocSchema), required=True)


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
        "finished",
        "abandoned",
        "void",
        "agreed",
        *ENDINGS,
        metadata={"description": "`finished`: ended by the rules. From `adjourned` on: ended by a ruling."},
    )
    by = one_of("engine", "director", "clock")
    finished = fields.Boolean(required=True, metadata={"description": "True if the rules gave the final places."})
    ruling = fields.Integer(metadata={"description": "Version of the ruling that ended the game."})
    ranked = fields.Boolean(metadata={"description": "True if that ruling gives final places."})
    forfeits = fields.List(fields.Integer(), metadata={"description": "Seats that forfeited."})
    penalties = int_map(metadata={"description": "Seat -> penalty points, apart from the points of the game."})


class RulingDocSchema(ResponseSchema):
    version = required_int()
    at = required_int()
    final_at = required_int(metadata={"description": "Until then it can be withdrawn; then the game is closed."})
    reason = one_of(*ENDINGS)
    places = fields.List(fields.Integer(), required=True, metadata={"description": "Place of each seat, or empty."})
    forfeits = fields.List(fields.Integer(), required=True)
    penalties = int_map(required=True, metadata={"description": "Seat -> penalty points."})


def ruling_field() -> fields.Nested:
    """Return the member `ruling` of a document of a game."""
    return fields.Nested(
        RulingDocSchema,
        allow_none=True,
        metadata={"description": "A ruling that has ended play and can be withdrawn; null: none."},
    )


class DeskAppealSchema(AppealDocSchema):
    status = one_of("open", "lapsed")


class AppealOfficerSchema(ResponseSchema):
    player = required_str()
    name = fields.String(required=True, allow_none=True)
    office = one_of(*OFFICES)
    reason = fields.String(required=True, allow_none=True, metadata={"description": "null after erasure."})


class AppealAnswerSchema(ResponseSchema):
    version = required_int(metadata={"description": "Version of the answer."})
    at = required_int()
    officer = fields.Nested(AppealOfficerSchema, required=True, allow_none=True)


class FullAppealSchema(AppealDocSchema):
    status = one_of(
        "open",
        "lapsed",
        *get_args(Outcome),
        metadata={"description": "`lapsed`: nobody has answered in time, so that the decision stands."},
    )
    reason = fields.String(required=True, allow_none=True, metadata={"description": "null after erasure."})
    answered_by = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Answerer: `officer`: another one than the author. `owner`: the author, for want of another "
            "officer. `nobody`: all officers have a stake. null: lapsed."
        },
    )
    answer = fields.Nested(AppealAnswerSchema, required=True, allow_none=True)


class AppealsSchema(ResponseSchema):
    items = fields.List(fields.Nested(FullAppealSchema), required=True)


class AppealTimesDocSchema(ResponseSchema):
    appeal = required_int(metadata={"description": "Seconds to appeal."})
    answer = required_int(metadata={"description": "Seconds to answer."})


class DailyHourSchema(ResponseSchema):
    hour = required_str(metadata={"description": "Time of day, `HH:MM`."})
    zone = required_str(metadata={"description": "Name of the time zone (IANA)."})
    days_off = fields.List(
        fields.Integer(),
        required=True,
        metadata={"description": "Days of the week without deadlines, 1 (Monday) to 7 (ISO 8601)."},
    )


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
    daily = fields.Nested(DailyHourSchema, metadata={"description": "Hour of the day of all deadlines."})


class MissLimitsSchema(ResponseSchema):
    row = required_int(metadata={"description": "On end."})
    all = required_int(metadata={"description": "Altogether."})


class OfficeHolderSchema(ResponseSchema):
    player = required_str()
    office = one_of(*OFFICES)


class OfficerDocSchema(OfficeHolderSchema):
    name = fields.String(required=True, allow_none=True)
    offered = fields.Boolean(required=True, metadata={"description": "True if the person has not accepted yet."})


class OfficersSchema(ResponseSchema):
    items = fields.List(fields.Nested(OfficerDocSchema), required=True)


class OfferDocSchema(ResponseSchema):
    game = required_str()
    player = required_str()
    role = one_of(*OFFICES)
    by = required_str(metadata={"description": "Player id of the officer who offers the role."})
    name = fields.String(required=True, allow_none=True, metadata={"description": "Name of that officer."})
    reason = fields.String(required=True, allow_none=True)
    at = required_int(metadata={"description": "Time of the offer, ms."})


class OffersSchema(ResponseSchema):
    items = fields.List(fields.Nested(OfferDocSchema), required=True)


class OfficeSchema(ResponseSchema):
    game = required_str()
    office = one_of(*OFFICES)


class MyOfficesSchema(ResponseSchema):
    items = fields.List(fields.Nested(OfficeSchema), required=True, metadata={"description": "Roles that you have."})
    offers = fields.List(
        fields.Nested(OfferDocSchema), required=True, metadata={"description": "Roles that you may accept."}
    )


class DeskDecisionSchema(ResponseSchema):
    seats = fields.List(fields.Integer(), required=True, metadata={"description": "The seats that must move."})
    engine = fields.Boolean(required=True, metadata={"description": "True for work of the service."})
    since = required_int()
    silence = required_int(metadata={"description": "ms since the decision was opened."})
    deadline = fields.Integer(required=True, allow_none=True)
    due = fields.Integer(required=True, allow_none=True, metadata={"description": "Time of the first default, ms."})
    left = fields.Integer(required=True, allow_none=True, metadata={"description": "ms until the first default."})


class DeskSeatSchema(ResponseSchema):
    seat = required_int()
    absent = fields.Boolean(required=True, metadata={"description": "True if a player has missed too many deadlines."})
    held = fields.Integer(required=True, allow_none=True, metadata={"description": "End of the hold, ms."})


class DeskRequestSchema(ResponseSchema):
    id = required_str()
    work = one_of("rewind", "proposal")
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "The seat that asks."})
    act = fields.String(required=True, allow_none=True, metadata={"description": "The act of a proposal."})
    at = required_int()
    missing = fields.List(fields.Integer(), required=True, metadata={"description": "Seats without an answer."})


class DeskTableSchema(ResponseSchema):
    game = required_str()
    ruleset = required_str()
    title = required_str(metadata={"description": "Title of the table, or empty."})
    status = one_of("open", "running", "over")
    version = required_int()
    opened = required_int()
    office = one_of(*OFFICES)
    needs = fields.List(
        one_of(*NEEDS),
        required=True,
        metadata={"description": "What waits for an officer."},
    )
    decision = fields.Nested(DeskDecisionSchema, required=True, allow_none=True)
    pause = pause_field()
    ruling = ruling_field()
    empty = fields.List(fields.Nested(DeskSeatSchema), required=True, metadata={"description": "Seats to fill."})
    pending = fields.List(
        fields.Nested(DeskRequestSchema), required=True, metadata={"description": "Undo requests and proposals."}
    )
    appeals = fields.List(
        fields.Nested(DeskAppealSchema), required=True, metadata={"description": "Appeals without an answer."}
    )
    damaged = fields.Integer(required=True, allow_none=True, metadata={"description": "First damaged version."})


class DeskSchema(PageSchema):
    now = required_int(metadata={"description": "The service's clock, ms."})
    tables = required_int(metadata={"description": "Number of unfinished tables, whatever the filters."})
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "Number of tables for each value of `needs`, whatever the filters."},
    )
    items = fields.List(fields.Nested(DeskTableSchema), required=True)


class RuledItemSchema(ResponseSchema):
    game = required_str()
    version = fields.Integer(required=True, allow_none=True)
    position = fields.Integer(required=True, allow_none=True)
    refused = fields.String(
        required=True, allow_none=True, metadata={"description": "Code of the refusal at this table, or null."}
    )


class ManyRuledSchema(ResponseSchema):
    items = fields.List(fields.Nested(RuledItemSchema), required=True)
    more = fields.Boolean(
        required=True, metadata={"description": "True if there are tables left: go on with `after`, the last id."}
    )


class RelatedSchema(ResponseSchema):
    players = fields.List(fields.String(), required=True)


class TournamentPlaceSchema(ResponseSchema):
    tournament = required_str()
    stage = required_int()
    round = required_int()
    pod = required_int()


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
    conceded = fields.Boolean(
        metadata={"description": "Of `GET /v1/games/{game}`: True if you have conceded the running game."}
    )
    origin = fields.Nested(OriginSchema, metadata={"description": "Only of forks: this game is an analysis."})
    tournament = fields.Nested(
        TournamentPlaceSchema,
        metadata={
            "description": "At a tournament's table: its place, from 1. Of the game itself, the lobby and your games."
        },
    )
    imported = fields.Nested(ImportedSchema, metadata={"description": "Only of games from a file."})
    powers = word_map(required=True, metadata={"description": "Seat -> id of its power, in games with powers."})
    waiting_for = fields.List(fields.Integer(), required=True)
    waiting_engine = fields.Boolean(required=True)
    waiting_since = required_int()
    deadline = fields.Integer(
        allow_none=True, metadata={"description": "First deadline of the seats that must move, before grace and bank."}
    )
    due = fields.Integer(required=True, allow_none=True)
    accounts = fields.List(fields.Nested(AccountSchema), metadata={"description": "Time banks and vacations."})
    pause = pause_field()
    hold = fields.Integer(metadata={"description": "Seconds to hold an abandoned seat."})
    several = fields.Boolean(metadata={"description": "True if one person may take several seats."})
    delay = fields.Integer(metadata={"description": "Spectators' delay, seconds."})
    talk = one_of(
        "free",
        "public",
        "by_phase",
        "none",
        required=False,
        metadata={"description": "What players may write to each other; absent: nothing."},
    )
    papers = one_of("own", "pass_on", required=False)
    after = one_of("kept", "published", required=False)
    officers = fields.String(
        metadata={"description": "`neutral`: a director who has a seat needs the players' consent; else `any`."}
    )
    offices = fields.List(
        fields.Nested(OfficeHolderSchema),
        metadata={"description": "Officers that records name. Its first owner is named once the table is handed over."},
    )
    misses = fields.Nested(
        MissLimitsSchema,
        allow_none=True,
        metadata={"description": "Missed deadlines after which a seat counts as vacant; null: never."},
    )
    appeals = appeals_field()
    appeal_times = fields.Nested(
        AppealTimesDocSchema, allow_none=True, metadata={"description": "Times for appeals; null: no appeals."}
    )
    ending = fields.Nested(EndingSchema, allow_none=True, metadata={"description": "Closing of the game; null before."})
    ruling = ruling_field()


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

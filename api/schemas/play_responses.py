"""Schemas of play: boards, decisions, moves, the move builder, undo requests."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.response_fields import (
    INT,
    STATUSES,
    VIEWER,
    ImportedSchema,
    OriginSchema,
    ResponseSchema,
    WrittenSchema,
    fact_list,
    one_of,
    required_int,
    required_str,
)
from api.schemas.schema_builder import JsonSchemaField, ref, tuple_of
from domain.kernel.records.record import KINDS
from domain.types import Json


class OutcomeSchema(ResponseSchema):
    version = required_int()
    kind = one_of(*KINDS)
    at = required_int()
    facts = fact_list(required=True)
    draws = fields.List(
        JsonSchemaField(tuple_of({"type": "string"}, {})), required=True, metadata={"description": "Label, value."}
    )


class MovedSchema(WrittenSchema):
    records = fields.List(
        fields.Nested(OutcomeSchema), required=True, metadata={"description": "Parts visible to the seat."}
    )


class DryRunSchema(ResponseSchema):
    legal = fields.Boolean(required=True)
    chance = fields.Boolean(metadata={"description": "The move would draw random results."})
    barrier = fields.Boolean(metadata={"description": "Undo would need the consent of other people, if there are any."})
    undo = one_of(
        "alone",
        "consent",
        "never",
        metadata={"description": "What it takes to undo the move before anything else happens, at this table."},
    )
    facts = fact_list(metadata={"description": "Resulting facts visible to the seat."})
    told = fields.List(
        fields.String(),
        metadata={"description": "These facts, or the first draw, as sentences in the language of the request."},
    )
    depends = fields.Boolean(metadata={"description": "The result depends on data hidden from the seat."})


class DecisionSchema(ResponseSchema):
    id = required_str()
    kind = required_str()
    must = fields.List(fields.Integer(), required=True)
    may = fields.List(fields.Integer(), required=True)
    done = fields.List(fields.Integer(), required=True)
    engine = fields.Boolean(required=True)
    clock = required_str()
    context = fields.Dict(required=True)
    deadline = fields.Integer(
        allow_none=True, metadata={"description": "ms since 1970 UTC; null while the clock is stopped."}
    )
    due = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "Seat -> time of its default, after grace, bank and vacation."},
    )
    job = fields.String(metadata={"description": "Job of the engine. Its status: `/v1/jobs/{job}`."})


class SeatSchema(ResponseSchema):
    seat = required_int()
    player = fields.String(required=True, allow_none=True)
    nonce_hash = required_str()
    nonce = required_str()
    vacant = fields.Boolean(required=True)
    absent = fields.Boolean(
        metadata={"description": "True if the seat's player missed too many deadlines. Anybody may take the seat."}
    )
    held = fields.Integer(
        allow_none=True,
        metadata={
            "description": "End of the seat's hold, ms. Until then, its clock is stopped and no default is played."
        },
    )


class PauseDocSchema(ResponseSchema):
    since = required_int(metadata={"description": "Its beginning, ms."})
    until = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Its end, ms; then it is over. null: until somebody resumes the game."},
    )
    moves = fields.Boolean(required=True, metadata={"description": "True if seats may move meanwhile."})


def pause_field() -> fields.Nested:
    """Return the member `pause` of a document of a game."""
    return fields.Nested(
        PauseDocSchema,
        allow_none=True,
        metadata={"description": "Pause at the last record: no time runs until its end. null: none."},
    )


class AppealDocSchema(ResponseSchema):
    version = required_int(metadata={"description": "Version of the contested decision."})
    appeal = required_int(metadata={"description": "Version of the appeal."})
    seat = required_int(metadata={"description": "The seat that appeals."})
    at = required_int()
    answer_by = required_int(metadata={"description": "End of the time to answer, ms; then the decision stands."})


def appeals_field() -> fields.List[Json]:
    """Return the member `appeals` of a document of a game."""
    return fields.List(
        fields.Nested(AppealDocSchema),
        metadata={"description": "Appeals without an answer, open ones and lapsed ones: the newest 50."},
    )


class BoardSchema(ResponseSchema):
    game = required_str()
    ruleset = required_str()
    viewer = JsonSchemaField(VIEWER, required=True, metadata={"description": "A seat, or `public`."})
    version = required_int(metadata={"description": "The version at which this board last changed."})
    head = required_str(metadata={"description": "Hash of the public part of that version's record, hex."})
    status = one_of(*STATUSES)
    set_aside = fields.Boolean(
        metadata={"description": "True if a later record cannot be shown. An operator must repair it."}
    )
    damaged = fields.Integer(
        metadata={"description": "First damaged version, 0 for the seed. The document shows the state before it."}
    )
    at = required_int()
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    pause = pause_field()
    appeals = appeals_field()
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)
    public = fields.Raw(required=True, metadata={"description": "Data visible to everybody."})
    own = fields.Raw(metadata={"description": "Additional data of the seat; all data after the close."})
    origin = fields.Nested(OriginSchema, metadata={"description": "Only of forks: this game is an analysis."})
    imported = fields.Nested(ImportedSchema, metadata={"description": "Only of games from a file."})


class BoardPartsSchema(ResponseSchema):
    game = required_str()
    viewer = JsonSchemaField(VIEWER, required=True)
    version = required_int(metadata={"description": "The version at which the board last changed."})
    parts = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "Value of each of `fields`, or null."},
    )


class DecisionsSchema(ResponseSchema):
    game = required_str()
    version = required_int()
    viewer = JsonSchemaField(VIEWER, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class OptionSchema(ResponseSchema):
    value = fields.Raw(required=True, allow_none=True)
    cost = fields.Dict()
    ends = fields.Boolean(metadata={"description": "This pick advances the game."})
    label = fields.String(metadata={"description": "Key of the ruleset's texts."})
    text = fields.String(metadata={"description": "The label or sentence in the requested language."})


class ChoiceSchema(ResponseSchema):
    field = required_str()
    text = fields.String(metadata={"description": "The question in the requested language, if the texts have it."})
    kind = one_of(
        "one",
        "some",
        "range",
        metadata={"description": "Number of options to pick: one or some; or a number in a range."},
    )
    options = fields.List(fields.Nested(OptionSchema))
    lo = fields.Integer()
    hi = fields.Integer()


class BuilderAnswerSchema(ResponseSchema):
    choice = fields.Nested(ChoiceSchema, allow_none=True, required=True)
    move = JsonSchemaField(
        ref("Move"), allow_none=True, required=True, metadata={"description": "The complete move, ready to send."}
    )
    text = fields.String(
        allow_none=True, metadata={"description": "The complete move as a sentence in the requested language."}
    )


class FurtherAnswerSchema(BuilderAnswerSchema):
    picks = fields.List(JsonSchemaField({}), required=True, metadata={"description": "All picks up to this answer."})


class NextSchema(BuilderAnswerSchema):
    game = required_str()
    version = required_int()
    decision = required_str()
    moves = fields.List(
        JsonSchemaField(ref("Move")),
        metadata={"description": "With `all`: complete moves, in the order of the options."},
    )
    texts = fields.List(
        fields.String(),
        metadata={"description": "With `all`: the sentence of each of `moves`, in the requested language."},
    )
    count = fields.Integer(
        allow_none=True, metadata={"description": "With `all`: number of moves. null: too many to count."}
    )
    ahead = fields.List(
        fields.Nested(FurtherAnswerSchema),
        metadata={"description": "With `ahead`: answers to further picks, each after those to fewer picks."},
    )
    looked = fields.Boolean(
        metadata={"description": "Directors: true if the response contains hidden data. The log then records a look."}
    )


class AccountSchema(ResponseSchema):
    seat = required_int()
    bank = required_int(metadata={"description": "Remaining time bank, ms, as of the last record."})
    vacation = required_int(metadata={"description": "Remaining vacation days."})
    back = fields.Integer(
        required=True, allow_none=True, metadata={"description": "End of the current vacation, ms. null: none."}
    )


class ToldSchema(ResponseSchema):
    version = required_int()
    text = fields.List(fields.String(), required=True, metadata={"description": "The record in sentences."})


class RewindEffectSchema(ResponseSchema):
    to = required_int(metadata={"description": "The version to go back to."})
    version = required_int(metadata={"description": "Version of the request. The rewind fails on any other version."})
    undone = fields.List(fields.Integer(), required=True, metadata={"description": "Versions to undo."})
    draws = fields.List(
        JsonSchemaField(tuple_of(INT, {"type": "string"}, {})),
        required=True,
        metadata={"description": "Public draws: version, label, value."},
    )
    fresh = fields.Boolean(
        required=True, metadata={"description": "True: whatever nobody has seen is drawn anew, with other chance."}
    )
    consents = fields.List(
        fields.Integer(), required=True, metadata={"description": "Seats whose consent is required."}
    )


class RewindPreviewSchema(RewindEffectSchema):
    told = fields.List(
        fields.Nested(ToldSchema),
        required=True,
        metadata={"description": "The newest records to undo, in sentences, as you know them."},
    )


class RewindDocSchema(RewindEffectSchema):
    id = required_str()
    game = required_str()
    seat = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The requesting seat. null: the director."}
    )
    until = required_int(metadata={"description": "Time, ms, at which the request ends if consents are missing."})
    job = required_str(metadata={"description": "URL of the job: `/v1/jobs/{id}`."})


class MotionSchema(RewindDocSchema):
    status = one_of(
        "open", "queued", "done", "declined", "failed", metadata={"description": "`open`: consents are missing."}
    )
    agreed = fields.List(fields.Integer(), required=True)
    declined = fields.List(fields.Integer(), required=True)
    hidden = fields.List(
        JsonSchemaField(tuple_of(INT, {"type": "string"})),
        metadata={"description": "Officers who have looked: secrets learnt by seats (version, audience)."},
    )
    told = fields.List(
        fields.Nested(ToldSchema),
        metadata={"description": "While it is open: the newest records to undo, in sentences, as you know them."},
    )


class ProposalSchema(ResponseSchema):
    id = required_str()
    game = required_str()
    seat = required_int(metadata={"description": "The seat that proposed it."})
    act = fields.Dict(required=True, metadata={"description": "The command: `act` with its members, as proposed."})
    version = required_int(metadata={"description": "Version of the game when it was proposed."})
    consents = fields.List(
        fields.Integer(), required=True, metadata={"description": "Seats whose consent is required."}
    )
    agreed = fields.List(fields.Integer(), required=True)
    declined = fields.List(fields.Integer(), required=True)
    until = required_int(
        metadata={"description": "Time, ms, after which a seat that has neither answered nor played has no vote."}
    )
    status = one_of(
        "open", "queued", "done", "declined", "failed", metadata={"description": "`open`: consents are missing."}
    )
    job = required_str(metadata={"description": "URL of the job: `/v1/jobs/{id}`."})


class ProposalsSchema(ResponseSchema):
    items = fields.List(fields.Nested(ProposalSchema), required=True)


class RewindsSchema(ResponseSchema):
    items = fields.List(fields.Nested(MotionSchema), required=True)


class LookDocSchema(WrittenSchema):
    board = fields.Nested(BoardSchema, required=True, metadata={"description": "The board with all data in `own`."})

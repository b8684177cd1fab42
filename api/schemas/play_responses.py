"""Schemas of play: boards, decisions, moves, the move builder, undo requests."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.response_fields import (
    INT,
    STATUSES,
    VIEWER,
    Out,
    WrittenSchema,
    fact_list,
    one_of,
    required_int,
    required_str,
)
from api.schemas.schema_builder import Shaped, ref, row
from domain.kernel.records.record import KINDS


class OutcomeSchema(Out):
    version = required_int()
    kind = one_of(*KINDS)
    at = required_int()
    facts = fact_list(required=True)
    draws = fields.List(Shaped(row({"type": "string"}, {})), required=True, metadata={"description": "Label, value."})


class MovedSchema(WrittenSchema):
    records = fields.List(
        fields.Nested(OutcomeSchema), required=True, metadata={"description": "What the seat may read of them."}
    )


class DryRunSchema(Out):
    legal = fields.Boolean(required=True)
    chance = fields.Boolean(metadata={"description": "It would draw; what, nobody knows."})
    barrier = fields.Boolean(metadata={"description": "Undo would not be free any more."})
    facts = fact_list(metadata={"description": "What it would make true, as the seat knows it."})
    depends = fields.Boolean(metadata={"description": "What comes of it depends on what the seat does not know."})


class DecisionSchema(Out):
    id = required_str()
    kind = required_str()
    must = fields.List(fields.Integer(), required=True)
    may = fields.List(fields.Integer(), required=True)
    done = fields.List(fields.Integer(), required=True)
    engine = fields.Boolean(required=True)
    clock = required_str()
    context = fields.Dict(required=True)
    deadline = fields.Integer(allow_none=True, metadata={"description": "ms since 1970 UTC; null while it stands."})
    due = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "Seat -> when its default is played: grace, bank, vacation counted in."},
    )
    job = fields.String(metadata={"description": "Of the engine's work: `/v1/jobs/{job}` tells how it stands."})


class SeatSchema(Out):
    seat = required_int()
    player = fields.String(required=True, allow_none=True)
    nonce_hash = required_str()
    nonce = required_str()
    vacant = fields.Boolean(required=True)
    held = fields.Integer(
        allow_none=True,
        metadata={"description": "Until when the seat is held, ms: no time of it runs, no default is played for it."},
    )


class BoardSchema(Out):
    game = required_str()
    ruleset = required_str()
    viewer = Shaped(VIEWER, required=True, metadata={"description": "A seat, or `public`."})
    version = required_int(metadata={"description": "The version at which this board last changed."})
    status = one_of(*STATUSES)
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    damaged = fields.Integer(
        metadata={"description": "The first version that is damaged, 0 for the seed: this is what was before it."}
    )
    at = required_int()
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)
    public = fields.Raw(required=True, metadata={"description": "What everybody sees."})
    own = fields.Raw(metadata={"description": "What the seat sees besides; once closed, everything."})


class BoardPartsSchema(Out):
    game = required_str()
    viewer = Shaped(VIEWER, required=True)
    version = required_int(metadata={"description": "The version at which the board last changed."})
    parts = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "What stands at each of `fields`; null where there is nothing."},
    )


class DecisionsSchema(Out):
    game = required_str()
    version = required_int()
    viewer = Shaped(VIEWER, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class OptionSchema(Out):
    value = fields.Raw(required=True, allow_none=True)
    cost = fields.Dict()
    ends = fields.Boolean(metadata={"description": "Picking it brings the game on."})
    label = fields.String(metadata={"description": "Key of the ruleset's texts."})
    text = fields.String(metadata={"description": "The label in the language asked for."})


class ChoiceSchema(Out):
    field = required_str()
    kind = one_of("one", "some", "range", metadata={"description": "How many of the options; or a number."})
    options = fields.List(fields.Nested(OptionSchema))
    lo = fields.Integer()
    hi = fields.Integer()


class NextSchema(Out):
    game = required_str()
    version = required_int()
    decision = required_str()
    choice = fields.Nested(ChoiceSchema, allow_none=True, required=True)
    move = Shaped(
        ref("Move"), allow_none=True, required=True, metadata={"description": "The finished move, to be posted."}
    )
    moves = fields.List(
        Shaped(ref("Move")),
        metadata={"description": "With `all`: finished moves, in the order in which the options are offered."},
    )
    count = fields.Integer(
        allow_none=True, metadata={"description": "With `all`: how many moves there are; null: too many to count."}
    )
    looked = fields.Boolean(
        metadata={"description": "Of a director: whether it shows what is hidden, and so stands in the log as a look."}
    )


class AccountSchema(Out):
    seat = required_int()
    bank = required_int(metadata={"description": "ms that the seat may be late, as of the last record."})
    vacation = required_int(metadata={"description": "Days that it has left."})
    back = fields.Integer(
        required=True, allow_none=True, metadata={"description": "When its vacation ends, ms; null: it has none now."}
    )


class RewindDocSchema(Out):
    id = required_str()
    game = required_str()
    to = required_int(metadata={"description": "The version to go back to."})
    version = required_int(
        metadata={"description": "The version that the request has named; it is done on no other one."}
    )
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "Who asks; null: the director."})
    undone = fields.List(fields.Integer(), required=True, metadata={"description": "Versions that would not count."})
    draws = fields.List(
        Shaped(row(INT, {"type": "string"}, {})),
        required=True,
        metadata={"description": "Seen by all: version, label, value."},
    )
    consents = fields.List(fields.Integer(), required=True, metadata={"description": "Seats that must agree."})
    job = required_str(metadata={"description": "Where the job is: `/v1/jobs/{id}`."})


class MotionSchema(RewindDocSchema):
    status = one_of(
        "open", "queued", "done", "declined", "failed", metadata={"description": "`open`: seats must agree."}
    )
    agreed = fields.List(fields.Integer(), required=True)
    declined = fields.List(fields.Integer(), required=True)
    hidden = fields.List(
        Shaped(row(INT, {"type": "string"})),
        metadata={"description": "What single seats have learnt (version, audience); the director's."},
    )


class RewindsSchema(Out):
    items = fields.List(fields.Nested(MotionSchema), required=True)


class LookDocSchema(WrittenSchema):
    board = fields.Nested(BoardSchema, required=True, metadata={"description": "With everything in `own`."})

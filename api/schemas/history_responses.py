"""Schemas of timelines, records, scores, jobs, audits, proofs and rulesets."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.play_responses import BoardSchema, DecisionSchema
from api.schemas.problem_responses import ProblemSchema
from api.schemas.response_fields import (
    AUTHORS,
    INT,
    Out,
    PageSchema,
    fact_list,
    one_of,
    required_int,
    required_str,
    word_map,
)
from api.schemas.schema_builder import Shaped, ref, row
from api.schemas.table_responses import EndingSchema
from domain.kernel.records.record import KINDS


class EntryBodySchema(Out):
    act = fields.String()
    ms = fields.Integer()
    days = fields.Integer()
    to = fields.Integer()
    hold = fields.Integer()
    reason = fields.String()


class OwnEntrySchema(Out):
    version = required_int()
    at = required_int()
    acts = fields.List(Shaped(row(INT, ref("Move"))), required=True, metadata={"description": "Seat, move."})
    facts = fact_list(required=True)
    text = fields.List(fields.String(), required=True)


class ChapterSchema(Out):
    turn = required_int(metadata={"description": "A War, a decade, a game turn or a turn; 0 before the first."})
    round = required_int(metadata={"description": "In the turn; 0 where rounds have no heading."})
    phase = required_str(metadata={"description": "Empty where phases have no heading."})
    title = required_str(metadata={"description": "Its heading; empty in a game that has none."})


class HeadingSchema(Out):
    line = required_int(metadata={"description": "Before which line of `text` it stands, from 0."})
    text = required_str()


class EntrySchema(Out):
    version = required_int()
    kind = one_of(*KINDS)
    at = required_int()
    seat = fields.Integer(allow_none=True)
    by = Shaped({"type": "string", "enum": list(AUTHORS)}, allow_none=True)
    body = fields.Nested(EntryBodySchema, metadata={"description": "What the kind of record adds."})
    acts = fields.List(Shaped(row(INT, ref("ShownMove"))), metadata={"description": "Seat, move."})
    facts = fact_list()
    text = fields.List(fields.String())
    chapter = fields.Nested(ChapterSchema, metadata={"description": "Where in the game the record ends."})
    headings = fields.List(fields.Nested(HeadingSchema), metadata={"description": "Where chapters begin in `text`."})
    own = fields.List(fields.Nested(OwnEntrySchema), metadata={"description": "What only the seat may read of it."})
    to = fields.Integer(metadata={"description": "Of a rewind: the version gone back to."})
    consent = fields.List(fields.Integer(), metadata={"description": "Of a rewind: the seats that have agreed."})
    reason = fields.String(allow_none=True, metadata={"description": "Of a rewind; null once it is erased."})


class TimelineSchema(PageSchema):
    items = fields.List(fields.Nested(EntrySchema), required=True)


class DigestTurnSchema(Out):
    title = required_str()
    chapter = fields.Nested(ChapterSchema, required=True)
    first = required_int(metadata={"description": "The first version of it that is told."})
    last = required_int(metadata={"description": "The last one."})
    lines = fields.List(fields.String(), required=True, metadata={"description": "What was won and lost."})
    standings = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "By seat: what each has at its end, and how much more than before."},
    )


class DigestSchema(Out):
    game = required_str()
    version = required_int()
    after = required_int()
    turns = fields.List(fields.Nested(DigestTurnSchema), required=True)


class RecordsSchema(PageSchema):
    items = fields.List(
        Shaped(ref("Record")), required=True, metadata={"description": "Public parts, as they are hashed."}
    )


class ScoreSchema(Out):
    seat = required_int()
    place = required_int()
    points = required_int()
    detail = Shaped(ref("ScoreDetail"), required=True)


class ScoresSchema(Out):
    game = required_str()
    version = required_int()
    final = fields.Boolean(required=True, metadata={"description": "Whether the rules have ended the game."})
    ending = fields.Nested(
        EndingSchema, allow_none=True, metadata={"description": "How the game was closed; null before."}
    )
    scores = fields.List(fields.Nested(ScoreSchema), required=True)


class ProgressSchema(Out):
    done = required_int()
    of = required_int()


class JobSchema(Out):
    id = required_str()
    work = one_of("resolve", "rewind", "audit", "rebuild")
    game = fields.String(required=True, allow_none=True)
    status = one_of(
        "waiting", "queued", "running", "done", "failed", metadata={"description": "`waiting`: for consents."}
    )
    version = fields.Integer(metadata={"description": "Once done: the newest version that it stored."})
    position = fields.Integer(metadata={"description": "Once done: of that record, in the log."})
    progress = fields.Nested(ProgressSchema)
    proved = fields.Boolean(metadata={"description": "Of an audit."})
    problem = fields.Nested(ProblemSchema, metadata={"description": "Why it failed."})


class ReportSchema(Out):
    game = required_str()
    ruleset = required_str()
    records = required_int()
    head = required_str(metadata={"description": "Hash of the last record, hex."})
    packs = required_int()
    openings = required_int()
    boards = required_int()
    draws = required_int()
    decided = required_int()
    closed = fields.Boolean(required=True)


class AuditFaultSchema(Out):
    code = required_str()
    version = required_int()
    detail = required_str()


class AuditSchema(Out):
    proved = fields.Boolean(required=True)
    report = fields.Nested(ReportSchema, metadata={"description": "What was proved, in numbers."})
    fault = fields.Nested(AuditFaultSchema, metadata={"description": "The first fault."})


class HeadSchema(Out):
    size = required_int(metadata={"description": "Records in the tree."})
    position = required_int(metadata={"description": "How far the log was read."})
    root = required_str(metadata={"description": "Root of the tree, hex."})
    path = fields.List(fields.String(), metadata={"description": "With `since`: the consistency proof, hex."})


class InclusionSchema(HeadSchema):
    game = required_str()
    version = required_int()
    record = required_str(metadata={"description": "Hash of the public part, hex; the leaf is SHA-256(00, record)."})
    leaf = required_int(metadata={"description": "Number of the record in the log, from 0."})
    path = fields.List(fields.String(), required=True, metadata={"description": "From the leaf upwards, hex."})


class ResumeSchema(Out):
    game = required_str()
    version = required_int()
    position = required_int(metadata={"description": "How far the views have read."})
    now = required_int(metadata={"description": "The service's clock, ms, to which deadlines refer."})
    board = fields.Nested(BoardSchema, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class RulesetLineSchema(Out):
    name = required_str()
    title = required_str()
    prefix = required_str()
    seats = fields.List(fields.Integer(), required=True)


class RulesetsSchema(Out):
    items = fields.List(fields.Nested(RulesetLineSchema), required=True)


class RefusalSchema(Out):
    code = Shaped(ref("ProblemCode"), required=True)
    rule = required_str()
    text = fields.String(required=True, allow_none=True)


class RulesetSchema(RulesetLineSchema):
    undo = fields.Boolean(required=True)
    options = fields.Dict(required=True, metadata={"description": "Name -> `schema`, `default`, `rule`, `text`."})
    paces = fields.Dict(
        keys=fields.String(),
        values=fields.Dict(keys=fields.String(), values=fields.Integer()),
        required=True,
        metadata={"description": "Preset -> deadline class -> seconds."},
    )
    clocks = word_map(required=True, metadata={"description": "Kind of decision -> deadline class."})
    moves = fields.Dict(required=True, metadata={"description": "Type -> `schema`, `at`, `by`, `hidden`, `rule`."})
    facts = fields.Dict(required=True, metadata={"description": "Kind -> `schema`, `text`; the kernel's last."})
    decisions = fields.Dict(required=True, metadata={"description": "Kind -> `schema` of the context, `clock`."})
    sights = fields.Dict(
        required=True,
        metadata={
            "description": "Schemas: `board` of a board's `public`; `own` of what a seat sees besides; "
            "`hidden` of what no seat sees before the end; `detail` of a score."
        },
    )
    codes = fields.List(fields.Nested(RefusalSchema), required=True)


class ResultSchema(Out):
    game = required_str()
    ruleset = required_str()
    seat = required_int()
    player = required_str()
    place = fields.Integer(required=True, allow_none=True, metadata={"description": "null: the game was not finished."})
    points = fields.Integer(required=True, allow_none=True)
    reason = one_of("finished", "abandoned", "void", metadata={"description": "Why it was closed."})
    by = one_of("engine", "director", "clock")
    at = required_int(metadata={"description": "When it was closed, ms."})


class ResultsSchema(PageSchema):
    player = required_str()
    name = fields.String(required=True, allow_none=True)
    finished = required_int(metadata={"description": "How many of the player's games were finished."})
    unfinished = required_int(metadata={"description": "How many were closed before their end."})
    items = fields.List(fields.Nested(ResultSchema), required=True)

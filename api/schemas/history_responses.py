"""Schemas of timelines, records, scores, jobs, audits, proofs and rulesets."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.play_responses import BoardSchema, DecisionSchema
from api.schemas.problem_responses import ProblemSchema
from api.schemas.response_fields import (
    AUTHORS,
    INT,
    VIEWER,
    PageSchema,
    ResponseSchema,
    fact_list,
    one_of,
    required_int,
    required_str,
    word_map,
)
from api.schemas.schema_builder import JsonSchemaField, ref, tuple_of
from api.schemas.table_responses import DailyHourSchema, EndingSchema
from domain.kernel.game.officers import OFFICES
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.records.record import KINDS


class EntryBodySchema(ResponseSchema):
    act = fields.String()
    ms = fields.Integer()
    days = fields.Integer()
    to = fields.Integer()
    hold = fields.Integer()
    reason = fields.String()
    seats = fields.List(fields.Integer(), metadata={"description": "Moved deadlines: the seats whose deadline it is."})
    later = fields.Integer(metadata={"description": "Moved deadlines: seconds."})
    earlier = fields.Integer(metadata={"description": "Moved deadlines: seconds."})
    conceded = fields.Boolean(metadata={"description": "`left`: the player concedes."})
    player = fields.String(metadata={"description": "`deputed`: the person."})
    role = fields.String(metadata={"description": "`deputed`: the role from now on, `none` for its end."})
    cause = fields.String(metadata={"description": "`deputed`: `inherited`, if nobody gave the role."})
    daily = fields.Nested(DailyHourSchema, metadata={"description": "`opened`, `pace`: the hour of all deadlines."})


class OwnEntrySchema(ResponseSchema):
    version = required_int()
    at = required_int()
    acts = fields.List(
        JsonSchemaField(tuple_of(INT, ref("Move"))), required=True, metadata={"description": "Seat, move."}
    )
    facts = fact_list(required=True)
    text = fields.List(fields.String(), required=True)


class ChapterSchema(ResponseSchema):
    turn = required_int(metadata={"description": "Number of the War, decade or turn; 0 before the first."})
    round = required_int(metadata={"description": "Round in the turn; 0 if rounds have no heading."})
    phase = required_str(metadata={"description": "Phase; empty if phases have no heading."})
    title = required_str(metadata={"description": "Heading; empty in games without headings."})


class HeadingSchema(ResponseSchema):
    line = required_int(metadata={"description": "The heading precedes this line of `text`, from 0."})
    text = required_str()


class EntryOfficerSchema(ResponseSchema):
    player = required_str()
    name = fields.String(required=True, allow_none=True, metadata={"description": "null without a name."})
    office = one_of(*OFFICES)
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "null if none was given, or after erasure."}
    )


class EntrySchema(ResponseSchema):
    version = required_int()
    head = required_str(metadata={"description": "Hash of the record's public part, hex."})
    kind = one_of(*KINDS)
    at = required_int()
    seat = fields.Integer(allow_none=True)
    by = JsonSchemaField({"type": "string", "enum": list(AUTHORS)}, allow_none=True)
    body = fields.Nested(EntryBodySchema, metadata={"description": "Additional data of this kind of record."})
    undone = fields.Boolean(metadata={"description": "True if a later rewind has undone this version."})
    acts = fields.List(JsonSchemaField(tuple_of(INT, ref("ShownMove"))), metadata={"description": "Seat, move."})
    facts = fact_list()
    text = fields.List(fields.String())
    chapter = fields.Nested(ChapterSchema, metadata={"description": "Chapter at the end of the record."})
    headings = fields.List(fields.Nested(HeadingSchema), metadata={"description": "Starts of chapters in `text`."})
    own = fields.List(fields.Nested(OwnEntrySchema), metadata={"description": "Parts visible to the seat only."})
    officer = fields.Nested(EntryOfficerSchema, metadata={"description": "The officer behind the record."})
    to = fields.Integer(metadata={"description": "Rewinds: the version restored."})
    consent = fields.List(fields.Integer(), metadata={"description": "Rewinds: seats that agreed."})
    reason = fields.String(
        allow_none=True, metadata={"description": "Rewinds and appeals: the reason; null after erasure."}
    )


class BattleSideSchema(ResponseSchema):
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "null for a party without a seat."})
    who = fields.String(required=True, allow_none=True, metadata={"description": "Id of a party without a seat."})
    name = required_str()
    dice = fields.List(
        fields.List(fields.Integer()), required=True, metadata={"description": "Values, a list for each round."}
    )
    strength = fields.Integer(required=True, allow_none=True, metadata={"description": "null where there is none."})
    reasons = fields.List(fields.String(), required=True, metadata={"description": "Parts of the strength, in words."})
    force = fields.List(fields.String(), required=True, metadata={"description": "Units before the battle, in words."})
    lost = fields.List(fields.String(), required=True, metadata={"description": "Losses, in words."})


class BattleSchema(ResponseSchema):
    version = required_int(metadata={"description": "The last version that tells of it."})
    region = required_str()
    stage = fields.String(
        required=True, allow_none=True, metadata={"description": "Kind of battle where a combat has several."}
    )
    winner = JsonSchemaField(
        {"type": "string", "enum": ["attacker", "defender", "tie"]},
        required=True,
        allow_none=True,
        metadata={"description": "null while nobody has won, or where the rules name no winner."},
    )
    open = fields.Boolean(required=True, metadata={"description": "True until it is over."})
    text = required_str(metadata={"description": "Who has beaten whom, and where."})
    sentences = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The lines of `text` of the entries that it stands for."},
    )
    sides = fields.List(
        fields.Nested(BattleSideSchema), required=True, metadata={"description": "The attacker, then the defender."}
    )


class TimelineSchema(PageSchema):
    items = fields.List(fields.Nested(EntrySchema), required=True)
    battles = fields.List(
        fields.Nested(BattleSchema),
        metadata={"description": "The battles that these entries tell, without undone ones."},
    )


class DigestTurnSchema(ResponseSchema):
    title = required_str()
    chapter = fields.Nested(ChapterSchema, required=True)
    first = required_int(metadata={"description": "First version covered."})
    last = required_int(metadata={"description": "Last version covered."})
    lines = fields.List(fields.String(), required=True, metadata={"description": "Gains and losses."})
    standings = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "By seat: holdings at the end, and changes."},
    )
    rulings = fields.List(
        fields.String(),
        metadata={"description": "Commands of officers, with their author and reason, also undone ones."},
    )
    figures = fields.List(
        fields.Dict(keys=fields.String(), values=fields.Integer()),
        metadata={"description": "By seat: `points` and the ruleset's figures at the end, as numbers for charts."},
    )


class DigestSchema(ResponseSchema):
    game = required_str()
    version = required_int()
    after = required_int()
    turns = fields.List(fields.Nested(DigestTurnSchema), required=True)


class BoardChangesSchema(ResponseSchema):
    game = required_str()
    viewer = JsonSchemaField(VIEWER, required=True)
    before = fields.Integer(
        data_key="from", required=True, metadata={"description": "Version of the board that the patch applies to."}
    )
    after = fields.Integer(
        data_key="to", required=True, metadata={"description": "Version of the board that the patch makes."}
    )
    patch = JsonSchemaField({"type": "object"}, metadata={"description": "JSON merge patch (RFC 7396)."})
    board = JsonSchemaField(ref("Board"), metadata={"description": "The board of `to`, where no patch saves anything."})
    turns = fields.List(
        fields.Nested(DigestTurnSchema),
        required=True,
        metadata={"description": "Digest of the versions after the earlier one, up to the later one."},
    )


class RecordsSchema(PageSchema):
    items = fields.List(
        JsonSchemaField(ref("Record")), required=True, metadata={"description": "Public parts, in their hashed form."}
    )


class ScoreSchema(ResponseSchema):
    seat = required_int()
    place = required_int()
    points = required_int()
    detail = JsonSchemaField(ref("ScoreDetail"), required=True)
    alive = fields.Boolean(metadata={"description": "False if the seat was eliminated; in games with elimination."})
    solo = fields.Boolean(metadata={"description": "True if the seat won alone; in games with shared victories."})
    forfeited = fields.Boolean(metadata={"description": "After a ruling: true if the seat forfeited the game."})
    penalty = fields.Integer(metadata={"description": "Penalty points by ruling, apart from `points`."})


class ScoresSchema(ResponseSchema):
    game = required_str()
    version = required_int()
    final = fields.Boolean(required=True, metadata={"description": "True if these are final places."})
    ending = fields.Nested(EndingSchema, allow_none=True, metadata={"description": "Closing of the game; null before."})
    scores = fields.List(fields.Nested(ScoreSchema), required=True)


class ProgressSchema(ResponseSchema):
    done = required_int()
    of = required_int()


class JobSchema(ResponseSchema):
    id = required_str()
    work = one_of("resolve", "rewind", "proposal", "audit", "rebuild")
    game = fields.String(required=True, allow_none=True)
    status = one_of(
        "waiting", "queued", "running", "done", "failed", metadata={"description": "`waiting`: needs consents."}
    )
    version = fields.Integer(metadata={"description": "When done: the newest version stored."})
    position = fields.Integer(metadata={"description": "When done: that record's log position."})
    progress = fields.Nested(ProgressSchema)
    proved = fields.Boolean(metadata={"description": "Audits only: the result."})
    problem = fields.Nested(ProblemSchema, metadata={"description": "Reason of a failure."})


class ReportSchema(ResponseSchema):
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


class AuditFaultSchema(ResponseSchema):
    code = required_str()
    version = required_int()
    detail = required_str()


class AuditSchema(ResponseSchema):
    proved = fields.Boolean(required=True)
    report = fields.Nested(ReportSchema, metadata={"description": "Counts of checked items."})
    fault = fields.Nested(AuditFaultSchema, metadata={"description": "The first fault."})


class HeadSchema(ResponseSchema):
    size = required_int(metadata={"description": "Records in the tree."})
    position = required_int(metadata={"description": "Log position of the last record in the tree."})
    root = required_str(metadata={"description": "Root of the tree, hex."})
    path = fields.List(fields.String(), metadata={"description": "Consistency proof for `since`, hex."})
    verifier = fields.String(metadata={"description": "SHA-256 of `/v1/verifier.py`, hex."})


class InclusionSchema(HeadSchema):
    game = required_str()
    version = required_int()
    record = required_str(metadata={"description": "Hash of the public part, hex; the leaf is SHA-256(00, record)."})
    leaf = required_int(metadata={"description": "Number of the record in the log, from 0."})
    path = fields.List(fields.String(), required=True, metadata={"description": "Hashes from the leaf upwards, hex."})


class ResumeSchema(ResponseSchema):
    game = required_str()
    version = required_int()
    position = required_int(metadata={"description": "Log position of the views."})
    now = required_int(metadata={"description": "The service's clock, ms. Deadlines use it."})
    board = fields.Nested(BoardSchema, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class RulesetLineSchema(ResponseSchema):
    name = required_str()
    title = required_str()
    prefix = required_str()
    seats = fields.List(fields.Integer(), required=True)


class RulesetsSchema(ResponseSchema):
    items = fields.List(fields.Nested(RulesetLineSchema), required=True)


class RefusalSchema(ResponseSchema):
    code = JsonSchemaField(ref("ProblemCode"), required=True)
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
    facts = fields.Dict(required=True, metadata={"description": "Kind -> `schema`, `text`. Kernel facts come last."})
    decisions = fields.Dict(required=True, metadata={"description": "Kind -> `schema` of the context, `clock`."})
    sights = fields.Dict(
        required=True,
        metadata={
            "description": "Schemas: `board` of a board's `public`; `own` of a seat's additional data; "
            "`hidden` of data hidden from all seats before the end; `detail` of a score."
        },
    )
    codes = fields.List(fields.Nested(RefusalSchema), required=True)


class ResultSchema(ResponseSchema):
    game = required_str()
    ruleset = required_str()
    seat = required_int()
    player = required_str()
    place = fields.Integer(required=True, allow_none=True, metadata={"description": "null: not finished."})
    points = fields.Integer(required=True, allow_none=True)
    reason = one_of(
        "finished", "abandoned", "void", "agreed", *ENDINGS, metadata={"description": "Reason of the closing."}
    )
    by = one_of("engine", "director", "clock")
    conceded = fields.Boolean(metadata={"description": "True if the player conceded: without place and points."})
    forfeited = fields.Boolean(metadata={"description": "True if a ruling says that the seat forfeited."})
    penalty = fields.Integer(metadata={"description": "Penalty points by ruling, apart from `points`."})
    at = required_int(metadata={"description": "Closing time, ms."})


class ResultsSchema(PageSchema):
    player = required_str()
    name = fields.String(required=True, allow_none=True)
    finished = required_int(metadata={"description": "Number of the player's finished games."})
    unfinished = required_int(metadata={"description": "Number of games closed before their end."})
    conceded = fields.Integer(metadata={"description": "Number of games that the player conceded."})
    items = fields.List(fields.Nested(ResultSchema), required=True)

"""The shapes of answers, which are documented and compared in tests.

Answers are written as they are rendered, never dumped through these schemas: that costs a hundred times more. A client
must expect members that it does not know.
"""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, fields


class Out(Schema):
    """An answer: further members may come."""

    class Meta:
        unknown = EXCLUDE


class ProblemSchema(Schema):
    class Meta:
        unknown = INCLUDE

    type = fields.String(required=True, metadata={"description": "Where the code is explained."})
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True, metadata={"description": "Stable, for programs."})
    detail = fields.String(metadata={"description": "A sentence for people, in their language where there is one."})
    instance = fields.String()
    rule = fields.String(metadata={"description": "The number on the game's rules page."})
    figures = fields.Dict(metadata={"description": "The refused seat's own figures."})
    also = fields.List(fields.Dict(), metadata={"description": "Further checks that failed: code and rule."})
    errors = fields.List(fields.Dict(), metadata={"description": "Where a request does not fit: `at`, `message`."})


def _int(**more: Any) -> fields.Integer:
    return fields.Integer(required=True, **more)


def _str(**more: Any) -> fields.String:
    return fields.String(required=True, **more)


class WrittenSchema(Out):
    game = _str()
    version = _int(metadata={"description": "The newest version after this request."})
    position = _int(metadata={"description": "In the log; reads may `wait` for it."})


class NewGameDocSchema(WrittenSchema):
    token = _str(metadata={"description": "The director's token; shown in this answer and its repetitions alone."})
    player = _str()
    invitation = fields.String(metadata={"description": "Lets people take a seat; for `listing: invitation`."})


class TokenDocSchema(WrittenSchema):
    seat = _int()
    token = _str(metadata={"description": "The seat's token; shown in this answer and its repetitions alone."})


class SeatDocSchema(WrittenSchema):
    seat = _int()
    token = _str(metadata={"description": "The seat's token; shown in this answer and its repetitions alone."})
    player = _str()


class MoveOrDryRunSchema(Out):
    class Meta:
        unknown = EXCLUDE
        extra = {"anyOf": [{"required": ["version", "position", "records"]}, {"required": ["legal"]}]}  # noqa: RUF012

    game = fields.String()
    version = fields.Integer()
    position = fields.Integer()
    records = fields.List(fields.Dict(), metadata={"description": "What the seat may read of them."})
    legal = fields.Boolean()
    chance = fields.Boolean(metadata={"description": "It would draw; what, nobody knows."})
    barrier = fields.Boolean(metadata={"description": "Undo would not be free any more."})
    facts = fields.List(fields.Dict(), metadata={"description": "What it would make true, as the seat knows it."})
    depends = fields.Boolean(metadata={"description": "What comes of it depends on what the seat does not know."})


class DecisionSchema(Out):
    id = _str()
    kind = _str()
    must = fields.List(fields.Integer(), required=True)
    may = fields.List(fields.Integer(), required=True)
    done = fields.List(fields.Integer(), required=True)
    engine = fields.Boolean(required=True)
    clock = _str()
    context = fields.Dict(required=True)
    deadline = fields.Integer(allow_none=True, metadata={"description": "ms since 1970 UTC; null while it stands."})
    due = fields.Dict(metadata={"description": "Seat -> when its default is played: grace, bank, vacation counted in."})
    job = fields.String(metadata={"description": "Of the engine's work: `/v1/jobs/{job}` tells how it stands."})


class SeatSchema(Out):
    seat = _int()
    player = fields.String(required=True, allow_none=True)
    nonce_hash = _str()
    nonce = _str()
    vacant = fields.Boolean(required=True)
    held = fields.Integer(
        allow_none=True,
        metadata={"description": "Until when the seat is held, ms: no time of it runs, no default is played for it."},
    )


class BoardSchema(Out):
    game = _str()
    ruleset = _str()
    viewer = fields.Raw(required=True, metadata={"description": "A seat, or `public`.", "type": ["integer", "string"]})
    version = _int(metadata={"description": "The version at which this board last changed."})
    status = _str()
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    at = _int()
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)
    public = fields.Raw(required=True, metadata={"description": "What everybody sees."})
    own = fields.Raw(metadata={"description": "What the seat sees besides; once closed, everything."})


class DecisionsSchema(Out):
    game = _str()
    version = _int()
    viewer = fields.Raw(required=True, metadata={"type": ["integer", "string"]})
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class OptionSchema(Out):
    value = fields.Raw(required=True, allow_none=True)
    cost = fields.Dict()
    ends = fields.Boolean(metadata={"description": "Picking it brings the game on."})
    label = fields.String(metadata={"description": "Key of the ruleset's texts."})
    text = fields.String(metadata={"description": "The label in the language asked for."})


class ChoiceSchema(Out):
    field = _str()
    kind = _str(metadata={"description": "`one` of the options, `some` of them, or a `range`."})
    options = fields.List(fields.Nested(OptionSchema))
    lo = fields.Integer()
    hi = fields.Integer()


class NextSchema(Out):
    game = _str()
    version = _int()
    decision = _str()
    choice = fields.Nested(ChoiceSchema, allow_none=True, required=True)
    move = fields.Dict(allow_none=True, required=True, metadata={"description": "The finished move, to be posted."})
    looked = fields.Boolean(
        metadata={"description": "Of a director: whether it shows what is hidden, and so stands in the log as a look."}
    )


class AccountSchema(Out):
    seat = _int()
    bank = _int(metadata={"description": "ms that the seat may be late, as of the last record."})
    vacation = _int(metadata={"description": "Days that it has left."})
    back = fields.Integer(
        required=True, allow_none=True, metadata={"description": "When its vacation ends, ms; null: it has none now."}
    )


class EndingSchema(Out):
    reason = _str(metadata={"description": "`finished` by the rules, or `abandoned`, `void`."})
    by = _str(metadata={"enum": ["engine", "director", "clock"]})
    finished = fields.Boolean(required=True, metadata={"description": "Whether there are final places."})


class SummarySchema(Out):
    game = _str()
    ruleset = _str()
    options = fields.Dict(required=True)
    listing = _str()
    undo = fields.String()
    status = _str()
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    version = _int()
    opened = _int()
    at = _int()
    seed_hash = _str()
    pace = fields.Dict(required=True)
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    names = fields.Dict(required=True, metadata={"description": "Player -> name, for those who gave one."})
    powers = fields.Dict(
        required=True, metadata={"description": "Seat -> id of the power that it plays, where the game has such."}
    )
    waiting_for = fields.List(fields.Integer(), required=True)
    waiting_engine = fields.Boolean(required=True)
    waiting_since = _int()
    due = fields.Integer(required=True, allow_none=True)
    accounts = fields.List(fields.Nested(AccountSchema), metadata={"description": "Banks of time, and vacations."})
    hold = fields.Integer(metadata={"description": "Seconds for which a seat that is left is kept."})
    several = fields.Boolean(metadata={"description": "Whether one person may take several seats."})
    ending = fields.Nested(
        EndingSchema, allow_none=True, metadata={"description": "How the game was closed; null before."}
    )


class PageSchema(Out):
    next = fields.String(required=True, allow_none=True, metadata={"description": "Address of the next page."})


class LobbySchema(PageSchema):
    items = fields.List(fields.Nested(SummarySchema), required=True)


class MineSchema(SummarySchema):
    roles = fields.List(
        fields.Raw(metadata={"type": ["integer", "string"]}),
        required=True,
        metadata={"description": "What the person is there: a seat, `director`, or both."},
    )


class MyGamesSchema(PageSchema):
    items = fields.List(fields.Nested(MineSchema), required=True)


class EntrySchema(Out):
    version = _int()
    kind = _str()
    at = _int()
    seat = fields.Integer(allow_none=True)
    by = fields.String(allow_none=True)
    body = fields.Dict(
        metadata={"description": "What the kind of record adds: `act`, `ms`, `days`, `to`, `hold`, `reason`."}
    )
    acts = fields.List(fields.Raw())
    facts = fields.List(fields.Dict())
    text = fields.List(fields.String())
    own = fields.List(fields.Dict(), metadata={"description": "What only the seat may read of it."})
    to = fields.Integer(metadata={"description": "Of a rewind: the version gone back to."})
    consent = fields.List(fields.Integer(), metadata={"description": "Of a rewind: the seats that have agreed."})
    reason = fields.String(allow_none=True, metadata={"description": "Of a rewind; null once it is erased."})


class TimelineSchema(PageSchema):
    items = fields.List(fields.Nested(EntrySchema), required=True)


class RecordsSchema(PageSchema):
    items = fields.List(fields.Dict(), required=True, metadata={"description": "Public parts, as they are hashed."})


class ScoreSchema(Out):
    seat = _int()
    place = _int()
    points = _int()
    detail = fields.Dict(required=True)


class ScoresSchema(Out):
    game = _str()
    version = _int()
    final = fields.Boolean(required=True, metadata={"description": "Whether the rules have ended the game."})
    ending = fields.Nested(
        EndingSchema, allow_none=True, metadata={"description": "How the game was closed; null before."}
    )
    scores = fields.List(fields.Nested(ScoreSchema), required=True)


class RewindDocSchema(Out):
    id = _str()
    game = _str()
    to = _int(metadata={"description": "The version to go back to."})
    version = _int(metadata={"description": "The version that the request has named; it is done on no other one."})
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "Who asks; null: the director."})
    undone = fields.List(fields.Integer(), required=True, metadata={"description": "Versions that would not count."})
    draws = fields.List(fields.Raw(), required=True, metadata={"description": "Seen by all: version, label, value."})
    consents = fields.List(fields.Integer(), required=True, metadata={"description": "Seats that must agree."})
    job = _str(metadata={"description": "Where the job is: `/v1/jobs/{id}`."})


class MotionSchema(RewindDocSchema):
    status = _str(metadata={"description": "`open` (seats must agree), `queued`, `done`, `declined`, `failed`."})
    agreed = fields.List(fields.Integer(), required=True)
    declined = fields.List(fields.Integer(), required=True)
    hidden = fields.List(
        fields.Raw(), metadata={"description": "What single seats have learnt (version, audience); the director's."}
    )


class RewindsSchema(Out):
    items = fields.List(fields.Nested(MotionSchema), required=True)


class ProgressSchema(Out):
    done = _int()
    of = _int()


class JobSchema(Out):
    id = _str()
    work = _str(metadata={"description": "`resolve`, `rewind`, `audit` or `rebuild`."})
    game = fields.String(required=True, allow_none=True)
    status = _str(metadata={"description": "`waiting` (for consents), `queued`, `running`, `done`, `failed`."})
    version = fields.Integer(metadata={"description": "Once done: the newest version that it stored."})
    position = fields.Integer(metadata={"description": "Once done: of that record, in the log."})
    progress = fields.Nested(ProgressSchema)
    proved = fields.Boolean(metadata={"description": "Of an audit."})
    problem = fields.Nested(ProblemSchema, metadata={"description": "Why it failed."})


class LookDocSchema(WrittenSchema):
    board = fields.Nested(BoardSchema, required=True, metadata={"description": "With everything in `own`."})


class AuditSchema(Out):
    proved = fields.Boolean(required=True)
    report = fields.Dict(metadata={"description": "What was proved, in numbers."})
    fault = fields.Dict(metadata={"description": "`code`, `version`, `detail` of the first fault."})


class HeadSchema(Out):
    size = _int(metadata={"description": "Records in the tree."})
    position = _int(metadata={"description": "How far the log was read."})
    root = _str(metadata={"description": "Root of the tree, hex."})
    path = fields.List(fields.String(), metadata={"description": "With `since`: the consistency proof, hex."})


class InclusionSchema(HeadSchema):
    game = _str()
    version = _int()
    record = _str(metadata={"description": "Hash of the public part, hex; the leaf is SHA-256(00, record)."})
    leaf = _int(metadata={"description": "Number of the record in the log, from 0."})
    path = fields.List(fields.String(), required=True, metadata={"description": "From the leaf upwards, hex."})


class ResumeSchema(Out):
    game = _str()
    version = _int()
    position = _int(metadata={"description": "How far the views have read."})
    now = _int(metadata={"description": "The service's clock, ms, to which deadlines refer."})
    board = fields.Nested(BoardSchema, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class TicketSchema(Out):
    ticket = _str()
    seconds = _int()


class CookieDocSchema(Out):
    path = _str(metadata={"description": "The stream that it opens."})
    seconds = _int()


class RulesetLineSchema(Out):
    name = _str()
    title = _str()
    prefix = _str()
    seats = fields.List(fields.Integer(), required=True)


class RulesetsSchema(Out):
    items = fields.List(fields.Nested(RulesetLineSchema), required=True)


class RulesetSchema(RulesetLineSchema):
    undo = fields.Boolean(required=True)
    options = fields.Dict(required=True, metadata={"description": "Name -> `schema`, `default`, `rule`, `text`."})
    paces = fields.Dict(required=True)
    clocks = fields.Dict(required=True)
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
    codes = fields.List(fields.Dict(), required=True, metadata={"description": "`code`, `rule`, `text` of refusals."})


class ResultSchema(Out):
    game = _str()
    ruleset = _str()
    seat = _int()
    place = fields.Integer(required=True, allow_none=True, metadata={"description": "null: the game was not finished."})
    points = fields.Integer(required=True, allow_none=True)
    reason = _str(metadata={"description": "Why it was closed: `finished`, `abandoned`, `void`."})
    by = _str(metadata={"enum": ["engine", "director", "clock"]})
    at = _int(metadata={"description": "When it was closed, ms."})


class ResultsSchema(Out):
    player = _str()
    name = fields.String(required=True, allow_none=True)
    finished = _int(metadata={"description": "How many of the items were finished."})
    unfinished = _int(metadata={"description": "How many were closed before their end."})
    items = fields.List(fields.Nested(ResultSchema), required=True)


class CodeSchema(Out):
    code = _str()
    status = _int()
    title = _str()
    rules = fields.Dict(metadata={"description": "Ruleset -> rule number, for codes of games."})


class StatusSchema(Out):
    status = _str()


class ReadySchema(StatusSchema):
    behind = _int(metadata={"description": "Records that no view shows yet."})
    set_aside = _int(metadata={"description": "Games of which a record could not be shown."})
    redis = _str(
        metadata={"enum": ["up", "away"], "description": "Turns and deadlines go on also while it is away."},
    )

"""The shapes of answers, which are documented and compared in tests.

Answers are written as they are rendered, never dumped through these schemas: that costs a hundred times more. A client
must expect members that it does not know.
"""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, fields, validate

from api.shapes import Shaped, ref, row
from domain.kernel.record import KINDS

_STATUS = ("open", "running", "over", "closed")
_BY = ("seat", "clock", "engine", "director")
_LISTING = ("public", "unlisted", "invitation")
_UNDO = ("free", "consent", "director", "none")
_INT, _VIEWER = {"type": "integer"}, {"type": ["integer", "string"]}


class Out(Schema):
    """An answer: further members may come."""

    class Meta:
        unknown = EXCLUDE


class FaultSchema(Schema):
    at = fields.String(required=True, metadata={"description": "A JSON pointer."})
    message = fields.String(required=True)


class FailedCheckSchema(Schema):
    code = Shaped(ref("ProblemCode"), required=True)
    rule = fields.String(required=True)


class ProblemSchema(Schema):
    class Meta:
        unknown = INCLUDE

    type = fields.String(
        required=True,
        metadata={"description": "Where the code is explained.", "examples": ["/v1/problems/stale_version"]},
    )
    title = fields.String(required=True, metadata={"examples": ["The game has moved on"]})
    status = fields.Integer(required=True, metadata={"examples": [412]})
    code = Shaped(
        ref("ProblemCode"),
        required=True,
        metadata={"description": "Stable, for programs.", "examples": ["stale_version"]},
    )
    detail = fields.String(metadata={"description": "A sentence for people, in their language."})
    instance = fields.String()
    rule = fields.String(metadata={"description": "The number on the game's rules page.", "examples": ["SOE-5.2"]})
    figures = fields.Dict(metadata={"description": "The refused seat's own figures."})
    also = fields.List(fields.Nested(FailedCheckSchema), metadata={"description": "Further checks that failed."})
    errors = fields.List(fields.Nested(FaultSchema), metadata={"description": "Where a request does not fit."})
    version = fields.Integer(metadata={"description": "Of `stale_version` and `unknown_version`: the newest one."})
    expected = fields.Integer(metadata={"description": "Of `stale_version`: the one that was named."})
    decision = fields.String(metadata={"description": "Of `decision_closed`."})
    factors = fields.List(
        fields.String(), metadata={"description": "Of `second_factor_required`: kinds of which one must be shown."}
    )
    request = fields.String(metadata={"description": "Of `internal_error`: what the log knows it by."})
    behind = fields.Integer(metadata={"description": "Of `not_ready`: records that no view shows yet."})


def _int(**more: Any) -> fields.Integer:
    return fields.Integer(required=True, **more)


def _str(**more: Any) -> fields.String:
    return fields.String(required=True, **more)


def _among(*values: str, required: bool = True, **more: Any) -> fields.String:
    return fields.String(required=required, validate=validate.OneOf(values), **more)


def _words(**more: Any) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.String(), **more)


def _facts(**more: Any) -> fields.List[Any]:
    return fields.List(Shaped(ref("Fact")), **more)


class WrittenSchema(Out):
    game = _str()
    version = _int(metadata={"description": "The newest version after this request."})
    position = _int(metadata={"description": "In the log; reads may `wait` for it."})


class NewGameDocSchema(WrittenSchema):
    token = fields.String(
        metadata={"description": "The director's token, for guests; shown in this answer and its repetitions alone."}
    )
    player = _str()
    invitation = fields.String(metadata={"description": "Lets people take a seat; for `listing: invitation`."})


class NewGamesDocSchema(Out):
    items = fields.List(fields.Nested(NewGameDocSchema), required=True)


class ChallengeDocSchema(Out):
    game = _str()
    to = _str(
        metadata={"description": "The name or player's id that was asked; whether anybody is called so is not told."}
    )
    seat = fields.Integer(required=True, allow_none=True)
    at = _int()
    until = _int(metadata={"description": "Until when it stands, ms."})
    answer = _among("open", "accepted", "declined", "past")


class ChallengesSchema(Out):
    items = fields.List(fields.Nested(ChallengeDocSchema), required=True)


class RematchDocSchema(Out):
    game = _str(metadata={"description": "The new table, with the ruleset, options and terms of the one before."})
    player = _str()
    seat = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The seat that is kept for whoever asks: the next one."},
    )
    token = fields.String(metadata={"description": "The director's token, for the guest who opened the table."})


class TokenDocSchema(WrittenSchema):
    seat = _int()
    token = _str(metadata={"description": "The seat's token; shown in this answer and its repetitions alone."})


class SeatDocSchema(WrittenSchema):
    seat = _int()
    token = fields.String(
        metadata={"description": "The seat's token, for guests; shown in this answer and its repetitions alone."}
    )
    player = _str()


class OutcomeSchema(Out):
    version = _int()
    kind = _among(*KINDS)
    at = _int()
    facts = _facts(required=True)
    draws = fields.List(Shaped(row({"type": "string"}, {})), required=True, metadata={"description": "Label, value."})


class MovedSchema(WrittenSchema):
    records = fields.List(
        fields.Nested(OutcomeSchema), required=True, metadata={"description": "What the seat may read of them."}
    )


class DryRunSchema(Out):
    legal = fields.Boolean(required=True)
    chance = fields.Boolean(metadata={"description": "It would draw; what, nobody knows."})
    barrier = fields.Boolean(metadata={"description": "Undo would not be free any more."})
    facts = _facts(metadata={"description": "What it would make true, as the seat knows it."})
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
    due = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "Seat -> when its default is played: grace, bank, vacation counted in."},
    )
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
    viewer = Shaped(_VIEWER, required=True, metadata={"description": "A seat, or `public`."})
    version = _int(metadata={"description": "The version at which this board last changed."})
    status = _among(*_STATUS)
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    damaged = fields.Integer(
        metadata={"description": "The first version that is damaged, 0 for the seed: this is what was before it."}
    )
    at = _int()
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)
    public = fields.Raw(required=True, metadata={"description": "What everybody sees."})
    own = fields.Raw(metadata={"description": "What the seat sees besides; once closed, everything."})


class BoardPartsSchema(Out):
    game = _str()
    viewer = Shaped(_VIEWER, required=True)
    version = _int(metadata={"description": "The version at which the board last changed."})
    parts = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "What stands at each of `fields`; null where there is nothing."},
    )


class DecisionsSchema(Out):
    game = _str()
    version = _int()
    viewer = Shaped(_VIEWER, required=True)
    decisions = fields.List(fields.Nested(DecisionSchema), required=True)


class OptionSchema(Out):
    value = fields.Raw(required=True, allow_none=True)
    cost = fields.Dict()
    ends = fields.Boolean(metadata={"description": "Picking it brings the game on."})
    label = fields.String(metadata={"description": "Key of the ruleset's texts."})
    text = fields.String(metadata={"description": "The label in the language asked for."})


class ChoiceSchema(Out):
    field = _str()
    kind = _among("one", "some", "range", metadata={"description": "How many of the options; or a number."})
    options = fields.List(fields.Nested(OptionSchema))
    lo = fields.Integer()
    hi = fields.Integer()


class NextSchema(Out):
    game = _str()
    version = _int()
    decision = _str()
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
    seat = _int()
    bank = _int(metadata={"description": "ms that the seat may be late, as of the last record."})
    vacation = _int(metadata={"description": "Days that it has left."})
    back = fields.Integer(
        required=True, allow_none=True, metadata={"description": "When its vacation ends, ms; null: it has none now."}
    )


class EndingSchema(Out):
    reason = _among("finished", "abandoned", "void", metadata={"description": "`finished`: by the rules."})
    by = _among("engine", "director", "clock")
    finished = fields.Boolean(required=True, metadata={"description": "Whether there are final places."})


class PaceSchema(Out):
    seconds = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "By deadline class."}
    )
    grace = fields.Integer()
    bank = fields.Integer()
    vacation = fields.Integer()


class SummarySchema(Out):
    game = _str()
    ruleset = _str()
    options = fields.Dict(required=True)
    listing = _among(*_LISTING)
    undo = _among(*_UNDO, required=False)
    status = _among(*_STATUS)
    set_aside = fields.Boolean(metadata={"description": "A later record cannot be shown: an operator must help."})
    damaged = fields.Integer(
        metadata={"description": "The first version that is damaged, 0 for the seed: this is what was before it."}
    )
    version = _int()
    opened = _int()
    at = _int()
    seed_hash = _str()
    pace = fields.Nested(PaceSchema, required=True)
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    names = _words(required=True, metadata={"description": "Player -> name, for those who gave one."})
    title = fields.String(metadata={"description": "What the director calls the table."})
    note = fields.String(metadata={"description": "What the director says of it."})
    rematch = fields.String(metadata={"description": "The table at which the same people play again."})
    powers = _words(
        required=True, metadata={"description": "Seat -> id of the power that it plays, where the game has such."}
    )
    waiting_for = fields.List(fields.Integer(), required=True)
    waiting_engine = fields.Boolean(required=True)
    waiting_since = _int()
    due = fields.Integer(required=True, allow_none=True)
    accounts = fields.List(fields.Nested(AccountSchema), metadata={"description": "Banks of time, and vacations."})
    hold = fields.Integer(metadata={"description": "Seconds for which a seat that is left is kept."})
    several = fields.Boolean(metadata={"description": "Whether one person may take several seats."})
    delay = fields.Integer(metadata={"description": "By how many seconds later spectators see what is played."})
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
    turn = fields.Boolean(required=True, metadata={"description": "Whether one owes a decision, as one's seats know."})
    left = fields.Integer(
        required=True, allow_none=True, metadata={"description": "ms until one's default is played; null for no limit."}
    )


class MyGamesSchema(PageSchema):
    items = fields.List(fields.Nested(MineSchema), required=True)


class EntryBodySchema(Out):
    act = fields.String()
    ms = fields.Integer()
    days = fields.Integer()
    to = fields.Integer()
    hold = fields.Integer()
    reason = fields.String()


class OwnEntrySchema(Out):
    version = _int()
    at = _int()
    acts = fields.List(Shaped(row(_INT, ref("Move"))), required=True, metadata={"description": "Seat, move."})
    facts = _facts(required=True)
    text = fields.List(fields.String(), required=True)


class ChapterSchema(Out):
    turn = _int(metadata={"description": "A War, a decade, a game turn or a turn; 0 before the first."})
    round = _int(metadata={"description": "In the turn; 0 where rounds have no heading."})
    phase = _str(metadata={"description": "Empty where phases have no heading."})
    title = _str(metadata={"description": "Its heading; empty in a game that has none."})


class HeadingSchema(Out):
    line = _int(metadata={"description": "Before which line of `text` it stands, from 0."})
    text = _str()


class EntrySchema(Out):
    version = _int()
    kind = _among(*KINDS)
    at = _int()
    seat = fields.Integer(allow_none=True)
    by = Shaped({"type": "string", "enum": list(_BY)}, allow_none=True)
    body = fields.Nested(EntryBodySchema, metadata={"description": "What the kind of record adds."})
    acts = fields.List(Shaped(row(_INT, ref("ShownMove"))), metadata={"description": "Seat, move."})
    facts = _facts()
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
    title = _str()
    chapter = fields.Nested(ChapterSchema, required=True)
    first = _int(metadata={"description": "The first version of it that is told."})
    last = _int(metadata={"description": "The last one."})
    lines = fields.List(fields.String(), required=True, metadata={"description": "What was won and lost."})
    standings = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "By seat: what each has at its end, and how much more than before."},
    )


class DigestSchema(Out):
    game = _str()
    version = _int()
    after = _int()
    turns = fields.List(fields.Nested(DigestTurnSchema), required=True)


class RecordsSchema(PageSchema):
    items = fields.List(
        Shaped(ref("Record")), required=True, metadata={"description": "Public parts, as they are hashed."}
    )


class ScoreSchema(Out):
    seat = _int()
    place = _int()
    points = _int()
    detail = Shaped(ref("ScoreDetail"), required=True)


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
    draws = fields.List(
        Shaped(row(_INT, {"type": "string"}, {})),
        required=True,
        metadata={"description": "Seen by all: version, label, value."},
    )
    consents = fields.List(fields.Integer(), required=True, metadata={"description": "Seats that must agree."})
    job = _str(metadata={"description": "Where the job is: `/v1/jobs/{id}`."})


class MotionSchema(RewindDocSchema):
    status = _among(
        "open", "queued", "done", "declined", "failed", metadata={"description": "`open`: seats must agree."}
    )
    agreed = fields.List(fields.Integer(), required=True)
    declined = fields.List(fields.Integer(), required=True)
    hidden = fields.List(
        Shaped(row(_INT, {"type": "string"})),
        metadata={"description": "What single seats have learnt (version, audience); the director's."},
    )


class RewindsSchema(Out):
    items = fields.List(fields.Nested(MotionSchema), required=True)


class ProgressSchema(Out):
    done = _int()
    of = _int()


class JobSchema(Out):
    id = _str()
    work = _among("resolve", "rewind", "audit", "rebuild")
    game = fields.String(required=True, allow_none=True)
    status = _among(
        "waiting", "queued", "running", "done", "failed", metadata={"description": "`waiting`: for consents."}
    )
    version = fields.Integer(metadata={"description": "Once done: the newest version that it stored."})
    position = fields.Integer(metadata={"description": "Once done: of that record, in the log."})
    progress = fields.Nested(ProgressSchema)
    proved = fields.Boolean(metadata={"description": "Of an audit."})
    problem = fields.Nested(ProblemSchema, metadata={"description": "Why it failed."})


class LookDocSchema(WrittenSchema):
    board = fields.Nested(BoardSchema, required=True, metadata={"description": "With everything in `own`."})


class ReportSchema(Out):
    game = _str()
    ruleset = _str()
    records = _int()
    head = _str(metadata={"description": "Hash of the last record, hex."})
    packs = _int()
    openings = _int()
    boards = _int()
    draws = _int()
    decided = _int()
    closed = fields.Boolean(required=True)


class AuditFaultSchema(Out):
    code = _str()
    version = _int()
    detail = _str()


class AuditSchema(Out):
    proved = fields.Boolean(required=True)
    report = fields.Nested(ReportSchema, metadata={"description": "What was proved, in numbers."})
    fault = fields.Nested(AuditFaultSchema, metadata={"description": "The first fault."})


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


class RefusalSchema(Out):
    code = Shaped(ref("ProblemCode"), required=True)
    rule = _str()
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
    clocks = _words(required=True, metadata={"description": "Kind of decision -> deadline class."})
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
    game = _str()
    ruleset = _str()
    seat = _int()
    player = _str()
    place = fields.Integer(required=True, allow_none=True, metadata={"description": "null: the game was not finished."})
    points = fields.Integer(required=True, allow_none=True)
    reason = _among("finished", "abandoned", "void", metadata={"description": "Why it was closed."})
    by = _among("engine", "director", "clock")
    at = _int(metadata={"description": "When it was closed, ms."})


class ResultsSchema(PageSchema):
    player = _str()
    name = fields.String(required=True, allow_none=True)
    finished = _int(metadata={"description": "How many of the player's games were finished."})
    unfinished = _int(metadata={"description": "How many were closed before their end."})
    items = fields.List(fields.Nested(ResultSchema), required=True)


class CodeSchema(Out):
    code = Shaped(ref("ProblemCode"), required=True)
    status = _int()
    title = _str()
    rules = _words(metadata={"description": "Ruleset -> rule number, for codes of games."})


class StatusSchema(Out):
    status = _among("ok")


class ReadySchema(StatusSchema):
    behind = _int(metadata={"description": "Records that no view shows yet."})
    set_aside = _int(metadata={"description": "Games of which a record could not be shown."})
    redis = _str(
        metadata={"enum": ["up", "away"], "description": "Turns and deadlines go on also while it is away."},
    )
    streams = _str(
        metadata={"enum": ["up", "away"], "description": "The process for streams; boards can be read without it."},
    )
    clock_offset = _int(
        metadata={"description": "Seconds by which the service is ahead of the machine's clock that is most wrong."}
    )

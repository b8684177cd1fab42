"""Declared documents: timelines, records, scores, jobs, audits, proofs and rulesets."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from api.schemas.common_documents import PageDoc
from domain.kernel.narration.battle_texts import BattleDoc
from domain.kernel.proof.verify import ReportDoc
from domain.kernel.rules.flow import DecisionDoc
from domain.kernel.rules.ruleset import ScoreDoc
from domain.kernel.schema.document_members import (
    AnyBoard,
    JsonSchema,
    ProblemBody,
    ProblemCode,
    PublicRecord,
)
from domain.types import Doc, Json, Viewer
from projections.game_documents import BoardDoc, ChapterDoc, EndingDoc, EntryDoc, ResultDoc


class TimelineDoc(PageDoc):
    items: list[EntryDoc]
    battles: NotRequired[Annotated[list[BattleDoc], "The battles that these entries tell, without undone ones."]]


class DigestTurnDoc(TypedDict):
    title: str
    chapter: ChapterDoc
    first: Annotated[int, "First version covered."]
    last: Annotated[int, "Last version covered."]
    lines: Annotated[list[str], "Gains and losses."]
    standings: Annotated[list[str], "By seat: holdings at the end, and changes."]
    rulings: NotRequired[Annotated[list[str], "Commands of officers, with their author and reason, also undone ones."]]
    figures: NotRequired[
        Annotated[
            list[dict[str, int]], "By seat: `points` and the ruleset's figures at the end, as numbers for charts."
        ]
    ]


class DigestDoc(TypedDict):
    game: str
    version: int
    after: int
    turns: list[DigestTurnDoc]


BoardChangesDoc = TypedDict(
    "BoardChangesDoc",
    {
        "game": str,
        "viewer": Viewer,
        "from": Annotated[int, "Version of the board that the patch applies to."],
        "to": Annotated[int, "Version of the board that the patch makes."],
        "patch": NotRequired[Annotated[Json, JsonSchema({"type": "object"}), "JSON merge patch (RFC 7396)."]],
        "board": NotRequired[Annotated[AnyBoard, "The board of `to`, where no patch saves anything."]],
        "turns": Annotated[list[DigestTurnDoc], "Digest of the versions after the earlier one, up to the later one."],
    },
)


class RecordsDoc(PageDoc):
    items: Annotated[list[PublicRecord], "Public parts, in their hashed form."]


class ScoresDoc(TypedDict):
    game: str
    version: int
    final: Annotated[bool, "True if these are final places."]
    ending: NotRequired[Annotated[EndingDoc | None, "Closing of the game; null before."]]
    scores: list[ScoreDoc]


class ProgressDoc(TypedDict):
    done: int
    of: int


class JobStatusDoc(TypedDict):
    status: Annotated[Literal["waiting", "queued", "running", "done", "failed"], "`waiting`: needs consents."]
    version: NotRequired[Annotated[int, "When done: the newest version stored."]]
    position: NotRequired[Annotated[int, "When done: that record's log position."]]
    progress: NotRequired[ProgressDoc]
    proved: NotRequired[Annotated[bool, "Audits only: the result."]]
    problem: NotRequired[Annotated[ProblemBody, "Reason of a failure."]]


class JobDoc(JobStatusDoc):
    id: str
    work: Annotated[str, ("resolve", "rewind", "proposal", "audit", "rebuild")]
    game: str | None


class AuditFaultDoc(TypedDict):
    code: str
    version: int
    detail: str


class AuditDoc(TypedDict):
    proved: bool
    report: NotRequired[Annotated[ReportDoc, "Counts of checked items."]]
    fault: NotRequired[Annotated[AuditFaultDoc, "The first fault."]]


class TreeDoc(TypedDict):
    size: Annotated[int, "Records in the tree."]
    position: Annotated[int, "Log position of the last record in the tree."]
    root: Annotated[str, "Root of the tree, hex."]


class HeadDoc(TreeDoc):
    path: NotRequired[Annotated[list[str], "Consistency proof for `since`, hex."]]
    verifier: NotRequired[Annotated[str, "SHA-256 of `/v1/verifier.py`, hex."]]


class InclusionDoc(TreeDoc):
    path: Annotated[list[str], "Hashes from the leaf upwards, hex."]
    verifier: NotRequired[Annotated[str, "SHA-256 of `/v1/verifier.py`, hex."]]
    game: str
    version: int
    record: Annotated[str, "Hash of the public part, hex; the leaf is SHA-256(00, record)."]
    leaf: Annotated[int, "Number of the record in the log, from 0."]


class ResumeDoc(TypedDict):
    game: str
    version: int
    position: Annotated[int, "Log position of the views."]
    now: Annotated[int, "The service's clock, ms. Deadlines use it."]
    board: BoardDoc
    decisions: list[DecisionDoc]


class RulesetLineDoc(TypedDict):
    name: str
    title: str
    prefix: str
    seats: list[int]
    bots: Annotated[list[str], "Players of the service, from the weakest to the strongest."]


class RulesetsDoc(TypedDict):
    items: list[RulesetLineDoc]


class PlayingTimeDoc(TypedDict):
    seats: int
    longest: Annotated[int, "Seconds of the pace for the longest decision; 0 without deadlines."]
    games: Annotated[int, "Newest finished games of this service that tell it."]
    minutes: Annotated[tuple[int, int], "From the opening to the end: the middle half of these games."]


class AnswersDoc(TypedDict):
    games: Annotated[int, "Simulated games that tell it."]
    least: Annotated[int, "Decisions of one seat, with the number of seats that asks for the fewest."]
    most: Annotated[int, "With the number of seats that asks for the most."]
    unit: Annotated[dict[str, str], "Language -> in which time, such as a round."]


class HelpLineDoc(TypedDict):
    text: Annotated[str, "A sentence about a thing."]
    rule: Annotated[str, "The number of its rule; empty without one."]


class RulesetHelpDoc(TypedDict):
    decisions: Annotated[dict[str, list[str]], "Decision -> what it is for, and what to weigh."]
    things: Annotated[dict[str, HelpLineDoc], "Id of a region, piece or card -> a sentence about it."]


class RefusalDoc(TypedDict):
    code: ProblemCode
    rule: str
    text: str | None


class RulesetDoc(RulesetLineDoc):
    minutes: NotRequired[Annotated[tuple[int, int], "Declared length of a live game, minutes: least and most."]]
    answers: NotRequired[Annotated[AnswersDoc, "Decisions of one seat in a turn."]]
    playing_times: Annotated[list[PlayingTimeDoc], "Usual lengths of games finished here, where there are five."]
    undo: bool
    options: Annotated[Doc, "Name -> `schema`, `default`, `rule`, `text`."]
    paces: Annotated[dict[str, dict[str, int]], "Preset -> deadline class -> seconds."]
    clocks: Annotated[dict[str, str], "Kind of decision -> deadline class."]
    moves: Annotated[Doc, "Type -> `schema`, `at`, `by`, `hidden`, `rule`."]
    facts: Annotated[Doc, "Kind -> `schema`, `text`. Kernel facts come last."]
    decisions: Annotated[Doc, "Kind -> `schema` of the context, `clock`."]
    sights: Annotated[
        Doc,
        "Schemas: `board` of a board's `public`; `own` of a seat's additional data; "
        "`hidden` of data hidden from all seats before the end; `detail` of a score.",
    ]
    codes: list[RefusalDoc]


class ResultsDoc(PageDoc):
    player: str
    name: str | None
    guest: Annotated[bool, "True for somebody without an account: anybody may have taken this name."]
    finished: Annotated[int, "Number of the player's finished games."]
    unfinished: Annotated[int, "Number of games closed before their end."]
    conceded: NotRequired[Annotated[int, "Number of games that the player conceded."]]
    items: list[ResultDoc]

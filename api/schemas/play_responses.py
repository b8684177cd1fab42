"""Declared documents of play: decisions, moves, the move builder, undo requests."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from api.schemas.common_documents import WrittenDoc
from domain.kernel.records.record import KINDS
from domain.kernel.rules.choices import ChoiceDoc
from domain.kernel.rules.flow import DecisionDoc
from domain.kernel.schema.document_members import Fact, Move
from domain.types import Doc, Json, Viewer
from projections.game_documents import BoardDoc

RequestStatus = Literal["open", "queued", "done", "declined", "failed"]


class OutcomeDoc(TypedDict):
    version: int
    kind: Annotated[str, KINDS]
    at: int
    facts: list[Fact]
    draws: Annotated[list[tuple[str, Json]], "Label, value."]


class MovedDoc(WrittenDoc):
    records: Annotated[list[OutcomeDoc], "Parts visible to the seat."]


class DryRunDoc(TypedDict):
    legal: bool
    chance: NotRequired[Annotated[bool, "The move would draw random results."]]
    barrier: NotRequired[Annotated[bool, "Undo would need the consent of other people, if there are any."]]
    undo: Annotated[
        Literal["alone", "consent", "never"],
        "What it takes to undo the move before anything else happens, at this table.",
    ]
    facts: NotRequired[Annotated[list[Fact], "Resulting facts visible to the seat."]]
    told: NotRequired[
        Annotated[list[str], "These facts, or the first draw, as sentences in the language of the request."]
    ]
    depends: NotRequired[Annotated[bool, "The result depends on data hidden from the seat."]]


class BoardPartsDoc(TypedDict):
    game: str
    viewer: Viewer
    version: Annotated[int, "The version at which the board last changed."]
    parts: Annotated[Doc, "Value of each of `fields`, or null."]


class DecisionsDoc(TypedDict):
    game: str
    version: int
    viewer: Viewer
    decisions: list[DecisionDoc]


class BuilderAnswerDoc(TypedDict):
    choice: ChoiceDoc | None
    move: Annotated[Move | None, "The complete move, ready to send."]
    text: NotRequired[Annotated[str | None, "The complete move as a sentence in the requested language."]]
    loan: NotRequired[Annotated[str, "What the bank lends for the move, as a sentence. It may be due only later."]]


class FurtherAnswerDoc(BuilderAnswerDoc):
    picks: Annotated[list[Json], "All picks up to this answer."]


class NextDoc(BuilderAnswerDoc):
    game: str
    version: int
    decision: str
    moves: NotRequired[Annotated[list[Move], "With `all`: complete moves, in the order of the options."]]
    texts: NotRequired[Annotated[list[str], "With `all`: the sentence of each of `moves`, in the requested language."]]
    count: NotRequired[Annotated[int | None, "With `all`: number of moves. null: too many to count."]]
    ahead: NotRequired[
        Annotated[list[FurtherAnswerDoc], "With `ahead`: answers to further picks, each after those to fewer picks."]
    ]
    looked: NotRequired[
        Annotated[bool, "Directors: true if the response contains hidden data. The log then records a look."]
    ]


class SuggestionDoc(TypedDict):
    game: str
    version: int
    decision: str
    move: Annotated[Move | None, "A legal move of the heuristic bot, made from your view. null: it knows none."]
    text: Annotated[str | None, "The move as a sentence."]
    reason: Annotated[str, "Why the bot makes such a move, in a sentence. It may be empty."]


class ToldDoc(TypedDict):
    version: int
    text: Annotated[list[str], "The record in sentences."]


class RewindEffectDoc(TypedDict):
    to: Annotated[int, "The version to go back to."]
    version: Annotated[int, "Version of the request. The rewind fails on any other version."]
    undone: Annotated[list[int], "Versions to undo."]
    draws: Annotated[list[tuple[int, str, Json]], "Public draws: version, label, value."]
    fresh: Annotated[bool, "True: whatever nobody has seen is drawn anew, with other chance."]
    consents: Annotated[list[int], "Seats whose consent is required."]


class RewindPreviewDoc(RewindEffectDoc):
    told: Annotated[list[ToldDoc], "The newest records to undo, in sentences, as you know them."]


class RewindDoc(RewindEffectDoc):
    id: str
    game: str
    seat: Annotated[int | None, "The requesting seat. null: the director."]
    until: Annotated[int, "Time, ms, at which the request ends if consents are missing."]
    job: Annotated[str, "URL of the job: `/v1/jobs/{id}`."]


class MotionDoc(RewindDoc):
    status: Annotated[RequestStatus, "`open`: consents are missing."]
    agreed: list[int]
    declined: list[int]
    hidden: NotRequired[
        Annotated[list[tuple[int, str]], "Officers who have looked: secrets learnt by seats (version, audience)."]
    ]
    told: NotRequired[
        Annotated[list[ToldDoc], "While it is open: the newest records to undo, in sentences, as you know them."]
    ]


class ProposalDoc(TypedDict):
    id: str
    game: str
    seat: Annotated[int, "The seat that proposed it."]
    act: Annotated[Doc, "The command: `act` with its members, as proposed."]
    version: Annotated[int, "Version of the game when it was proposed."]
    consents: Annotated[list[int], "Seats whose consent is required."]
    agreed: list[int]
    declined: list[int]
    until: Annotated[int, "Time, ms, after which a seat that has neither answered nor played has no vote."]
    status: Annotated[RequestStatus, "`open`: consents are missing."]
    job: Annotated[str, "URL of the job: `/v1/jobs/{id}`."]


class ProposalsDoc(TypedDict):
    items: list[ProposalDoc]


class RewindsDoc(TypedDict):
    items: list[MotionDoc]


class LookDoc(WrittenDoc):
    board: Annotated[BoardDoc, "The board with all data in `own`."]

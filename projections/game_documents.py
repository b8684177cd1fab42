"""Declared documents of a game: its summary, its boards with their decisions, and its timeline."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from domain.kernel.game.officers import OFFICES
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.records.record import KINDS
from domain.kernel.rules.flow import DecisionDoc
from domain.kernel.schema.document_members import LISTINGS, STATUSES, UNDO_POLICIES, Author, Fact, Move, ShownMove
from domain.types import Doc, Json, Viewer


class OriginDoc(TypedDict):
    game: Annotated[str, "The game from which the fork began."]
    version: int
    head: Annotated[str, "Hash of that version's record, hex."]
    known_to: NotRequired[Annotated[Viewer, "A seat, or `public`: the fork began from what it knew. Absent: from all."]]
    imported: NotRequired[Annotated[bool, "True if the origin was read from a file."]]


class ImportedDoc(TypedDict):
    game: Annotated[str, "The id of the game in its file."]
    head: Annotated[str, "Hash of its last record, hex."]


class SeatDoc(TypedDict):
    seat: int
    player: str | None
    nonce_hash: str
    nonce: str
    vacant: bool
    agent: NotRequired[Annotated[bool, "True if a program that declares itself has played for this player."]]
    absent: NotRequired[
        Annotated[bool, "True if the seat's player missed too many deadlines. Anybody may take the seat."]
    ]
    held: NotRequired[
        Annotated[int | None, "End of the seat's hold, ms. Until then, its clock is stopped and no default is played."]
    ]


class PauseDoc(TypedDict):
    since: Annotated[int, "Its beginning, ms."]
    until: Annotated[int | None, "Its end, ms; then it is over. null: until somebody resumes the game."]
    moves: Annotated[bool, "True if seats may move meanwhile."]


class AppealDoc(TypedDict):
    version: Annotated[int, "Version of the contested decision."]
    appeal: Annotated[int, "Version of the appeal."]
    seat: Annotated[int, "The seat that appeals."]
    at: int
    answer_by: Annotated[int, "End of the time to answer, ms; then the decision stands."]


class ProvenanceDoc(TypedDict):
    origin: NotRequired[Annotated[OriginDoc, "Only of forks: this game is an analysis."]]
    imported: NotRequired[Annotated[ImportedDoc, "Only of games from a file."]]


class BoardDoc(ProvenanceDoc):
    game: str
    ruleset: str
    viewer: Annotated[Viewer, "A seat, or `public`."]
    version: Annotated[int, "The version at which this board last changed."]
    head: Annotated[str, "Hash of the public part of that version's record, hex."]
    status: Annotated[str, STATUSES]
    set_aside: NotRequired[Annotated[bool, "True if a later record cannot be shown. An operator must repair it."]]
    damaged: NotRequired[
        Annotated[int, "First damaged version, 0 for the seed. The document shows the state before it."]
    ]
    at: int
    seats: list[SeatDoc]
    pause: NotRequired[Annotated[PauseDoc | None, "Pause at the last record: no time runs until its end. null: none."]]
    appeals: NotRequired[
        Annotated[list[AppealDoc], "Appeals without an answer, open ones and lapsed ones: the newest 50."]
    ]
    decisions: list[DecisionDoc]
    public: Annotated[Json, "Data visible to everybody."]
    own: NotRequired[Annotated[Json, "Additional data of the seat; all data after the close."]]


class AccountDoc(TypedDict):
    seat: int
    bank: Annotated[int, "Remaining time bank, ms, as of the last record."]
    vacation: Annotated[int, "Remaining vacation days."]
    back: Annotated[int | None, "End of the current vacation, ms. null: none."]


class DailyHourDoc(TypedDict):
    hour: Annotated[str, "Time of day, `HH:MM`."]
    zone: Annotated[str, "Name of the time zone (IANA)."]
    days_off: Annotated[list[int], "Days of the week without deadlines, 1 (Monday) to 7 (ISO 8601)."]


class PaceDoc(TypedDict):
    seconds: Annotated[dict[str, int], "Seconds by deadline class."]
    grace: NotRequired[int]
    bank: NotRequired[int]
    vacation: NotRequired[int]
    daily: NotRequired[Annotated[DailyHourDoc, "Hour of the day of all deadlines."]]


class MissLimitsDoc(TypedDict):
    row: Annotated[int, "On end."]
    all: Annotated[int, "Altogether."]


class OfficeHolderDoc(TypedDict):
    player: str
    office: Annotated[str, OFFICES]


class AppealTimesDoc(TypedDict):
    appeal: Annotated[int, "Seconds to appeal."]
    answer: Annotated[int, "Seconds to answer."]


class EndingDoc(TypedDict):
    reason: Annotated[
        str,
        ("finished", "abandoned", "void", "agreed", *ENDINGS),
        "`finished`: ended by the rules. From `adjourned` on: ended by a ruling.",
    ]
    by: Annotated[str, ("engine", "director", "clock")]
    finished: Annotated[bool, "True if the rules gave the final places."]
    ruling: NotRequired[Annotated[int, "Version of the ruling that ended the game."]]
    ranked: NotRequired[Annotated[bool, "True if that ruling gives final places."]]
    forfeits: NotRequired[Annotated[list[int], "Seats that forfeited."]]
    penalties: NotRequired[Annotated[dict[str, int], "Seat -> penalty points, apart from the points of the game."]]


class RulingDoc(TypedDict):
    version: int
    at: int
    final_at: Annotated[int, "Until then it can be withdrawn; then the game is closed."]
    reason: Annotated[str, ENDINGS]
    places: Annotated[list[int], "Place of each seat, or empty."]
    forfeits: list[int]
    penalties: Annotated[dict[str, int], "Seat -> penalty points."]


class TournamentPlaceDoc(TypedDict):
    tournament: str
    stage: int
    round: int
    pod: int


class StoredSummaryDoc(ProvenanceDoc):
    """The summary of a game as views have it: without names, texts and the place in a tournament."""

    game: str
    ruleset: str
    options: Doc
    listing: Annotated[str, LISTINGS]
    status: Annotated[str, STATUSES]
    set_aside: NotRequired[Annotated[bool, "True if a later record cannot be shown. An operator must repair it."]]
    damaged: NotRequired[
        Annotated[int, "First damaged version, 0 for the seed. The document shows the state before it."]
    ]
    version: int
    opened: int
    at: int
    seed_hash: str
    pace: PaceDoc
    seats: list[SeatDoc]
    seatings: NotRequired[
        Annotated[list[tuple[int, int, str]], "Changes of players: version, seat, new player or an empty string."]
    ]
    undone: NotRequired[
        Annotated[
            list[tuple[int, int]], "Rewinds: version restored, version of the rewind. Versions between are undone."
        ]
    ]
    powers: Annotated[dict[str, str], "Seat -> id of its power, in games with powers."]
    waiting_for: list[int]
    waiting_engine: bool
    waiting_since: int
    deadline: NotRequired[Annotated[int | None, "First deadline of the seats that must move, before grace and bank."]]
    due: int | None
    accounts: NotRequired[Annotated[list[AccountDoc], "Time banks and vacations."]]
    pause: NotRequired[Annotated[PauseDoc | None, "Pause at the last record: no time runs until its end. null: none."]]
    hold: NotRequired[Annotated[int, "Seconds to hold an abandoned seat."]]
    several: NotRequired[Annotated[bool, "True if one person may take several seats."]]
    delay: NotRequired[Annotated[int, "Spectators' delay, seconds."]]
    talk: NotRequired[
        Annotated[
            Literal["free", "public", "by_phase", "none"], "What players may write to each other; absent: nothing."
        ]
    ]
    papers: NotRequired[Literal["own", "pass_on"]]
    after: NotRequired[Literal["kept", "published"]]
    names_hidden: NotRequired[Annotated[bool, "True if nobody is told who sits where until the game is closed."]]
    officers: NotRequired[
        Annotated[str, "`neutral`: a director who has a seat needs the players' consent; else `any`."]
    ]
    offices: NotRequired[
        Annotated[
            list[OfficeHolderDoc], "Officers that records name. Its first owner is named once the table is handed over."
        ]
    ]
    standing_orders: NotRequired[
        Annotated[
            Literal["allowed", "refused", "shown"],
            "Whether seats may decide beforehand; absent: they may, except in a tournament.",
        ]
    ]
    suggestions: NotRequired[Annotated[bool, "True if a seat may ask the bot for a move now: `/suggestion`."]]
    time_limit: NotRequired[Annotated[int, "Seconds of play after which the table is adjourned."]]
    limit_end: NotRequired[Annotated[int | None, "Time of that end, ms; null while no clock runs."]]
    last_turn: NotRequired[Annotated[int, "Seconds after it for playing the current turn to its end; absent: none."]]
    misses: NotRequired[
        Annotated[MissLimitsDoc | None, "Missed deadlines after which a seat counts as vacant; null: never."]
    ]
    appeals: NotRequired[
        Annotated[list[AppealDoc], "Appeals without an answer, open ones and lapsed ones: the newest 50."]
    ]
    appeal_times: NotRequired[Annotated[AppealTimesDoc | None, "Times for appeals; null: no appeals."]]
    ending: NotRequired[Annotated[EndingDoc | None, "Closing of the game; null before."]]
    ruling: NotRequired[Annotated[RulingDoc | None, "A ruling that has ended play and can be withdrawn; null: none."]]


class SummaryDoc(StoredSummaryDoc):
    undo: NotRequired[Annotated[str, UNDO_POLICIES]]
    names: Annotated[dict[str, str], "Player -> name, if given."]
    guests: NotRequired[
        Annotated[list[str], "Those of them without an account: anybody may have taken this name. Absent without any."]
    ]
    title: NotRequired[Annotated[str, "Title of the table."]]
    note: NotRequired[Annotated[str, "The director's note."]]
    rematch: NotRequired[Annotated[str, "The rematch's game id."]]
    conceded: NotRequired[Annotated[bool, "Of `GET /v1/games/{game}`: True if you have conceded the running game."]]
    tournament: NotRequired[
        Annotated[
            TournamentPlaceDoc,
            "At a tournament's table: its place, from 1. Of the game itself, the lobby and your games.",
        ]
    ]


class ChapterDoc(TypedDict):
    turn: Annotated[int, "Number of the War, decade or turn; 0 before the first."]
    round: Annotated[int, "Round in the turn; 0 if rounds have no heading."]
    phase: Annotated[str, "Phase; empty if phases have no heading."]
    title: Annotated[str, "Heading; empty in games without headings."]


class HeadingDoc(TypedDict):
    line: Annotated[int, "The heading precedes this line of `text`, from 0."]
    text: str


Tells = Annotated[
    list[int | None], "For each line of `text` the index in `facts` of the first fact that it tells; null for none."
]


class OwnEntryDoc(TypedDict):
    version: int
    at: int
    acts: Annotated[list[tuple[int, Move]], "Seat, move."]
    facts: list[Fact]
    text: list[str]
    tells: Tells


class EntryOfficerDoc(TypedDict):
    player: str
    name: Annotated[str | None, "null without a name."]
    office: Annotated[str, OFFICES]
    reason: Annotated[str | None, "null if none was given, or after erasure."]


class EntryBodyDoc(TypedDict):
    act: NotRequired[str]
    ms: NotRequired[int]
    days: NotRequired[int]
    to: NotRequired[int]
    hold: NotRequired[int]
    reason: NotRequired[str]
    seats: NotRequired[Annotated[list[int], "Moved deadlines: the seats whose deadline it is."]]
    later: NotRequired[Annotated[int, "Moved deadlines: seconds."]]
    earlier: NotRequired[Annotated[int, "Moved deadlines: seconds."]]
    conceded: NotRequired[Annotated[bool, "`left`: the player concedes."]]
    player: NotRequired[Annotated[str, "`deputed`: the person."]]
    role: NotRequired[Annotated[str, "`deputed`: the role from now on, `none` for its end."]]
    cause: NotRequired[Annotated[str, "`deputed`: `inherited`, if nobody gave the role."]]
    daily: NotRequired[Annotated[DailyHourDoc, "`opened`, `pace`: the hour of all deadlines."]]


class EntryDoc(TypedDict):
    version: int
    head: Annotated[str, "Hash of the record's public part, hex."]
    kind: Annotated[str, KINDS]
    at: int
    seat: NotRequired[int | None]
    by: NotRequired[Author | None]
    body: NotRequired[Annotated[EntryBodyDoc, "Additional data of this kind of record."]]
    undone: NotRequired[Annotated[bool, "True if a later rewind has undone this version."]]
    acts: NotRequired[Annotated[list[tuple[int, ShownMove]], "Seat, move."]]
    facts: NotRequired[list[Fact]]
    text: NotRequired[list[str]]
    tells: NotRequired[Tells]
    chapter: NotRequired[Annotated[ChapterDoc, "Chapter at the end of the record."]]
    headings: NotRequired[Annotated[list[HeadingDoc], "Starts of chapters in `text`."]]
    own: NotRequired[Annotated[list[OwnEntryDoc], "Parts visible to the seat only."]]
    officer: NotRequired[Annotated[EntryOfficerDoc, "The officer behind the record."]]
    to: NotRequired[Annotated[int, "Rewinds: the version restored."]]
    consent: NotRequired[Annotated[list[int], "Rewinds: seats that agreed."]]
    reason: NotRequired[Annotated[str | None, "Rewinds and appeals: the reason; null after erasure."]]


class ResultDoc(TypedDict):
    game: str
    ruleset: str
    seat: int
    player: str
    place: Annotated[int | None, "null: not finished."]
    points: int | None
    reason: Annotated[str, ("finished", "abandoned", "void", "agreed", *ENDINGS), "Reason of the closing."]
    by: Annotated[str, ("engine", "director", "clock")]
    conceded: NotRequired[Annotated[bool, "True if the player conceded: without place and points."]]
    forfeited: NotRequired[Annotated[bool, "True if a ruling says that the seat forfeited."]]
    penalty: NotRequired[Annotated[int, "Penalty points by ruling, apart from `points`."]]
    at: Annotated[int, "Closing time, ms."]

"""Declared documents of tournaments."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from api.schemas.common_documents import PageDoc
from domain.tournaments.aggregate.point_parts import PointPartDoc
from domain.tournaments.aggregate.tournament import STATUSES
from domain.tournaments.aggregate.tournament_ruling_commands import ROLES
from domain.tournaments.explain import ExplainedDoc
from domain.tournaments.standings import TournamentStandingDoc
from domain.types import Doc
from projections.tournament_documents import EnteredScoresDoc, TournamentRulingDoc, TournamentSummaryDoc


class TournamentWrittenDoc(TypedDict):
    tournament: str
    version: Annotated[int, "The newest version after this request."]
    head: Annotated[str, "Hash of the last record of this write, hex."]
    position: Annotated[int, "Log position, for `wait` in reads."]


class SubstituteOfferDoc(TypedDict):
    tournament: str
    by: Annotated[str, "Player id of the entrant."]
    player: Annotated[str, "Player id of the other person."]
    at: Annotated[int, "Time of the question, ms."]
    name: Annotated[str | None, "Name of the other person."]


class SubstitutionsDoc(TypedDict):
    offers: Annotated[list[SubstituteOfferDoc], "Questions to you."]
    asked: Annotated[list[SubstituteOfferDoc], "Your questions to others."]


class FollowedEventDoc(TypedDict):
    tournament: Annotated[str, "The newest event of the series."]
    title: str | None


class FollowedSeriesDoc(TypedDict):
    items: list[FollowedEventDoc]


class AnnouncementDoc(TypedDict):
    announcement: str
    game: Annotated[str | None, "The only table to read it; null: everybody reads it."]
    by: Annotated[str, "Player id of the officer."]
    name: Annotated[str | None, "Name of the officer."]
    text: str
    at: Annotated[int, "Time, ms."]


class AnnouncementsDoc(TypedDict):
    items: list[AnnouncementDoc]


class EventOfferDoc(TypedDict):
    tournament: str
    player: Annotated[str, "Player id of the person asked."]
    part: Annotated[str, ("entrant", *ROLES)]
    at: Annotated[int, "Time of the question, ms."]
    name: Annotated[str | None, "Name of the other person."]


class EventOffersDoc(TypedDict):
    items: list[EventOfferDoc]


class ImportedLineDoc(TypedDict):
    line: Annotated[int, "Number of the line, from 1; that of the columns counts."]
    name: str
    state: Annotated[str, ("entered", "invited", "refused")]
    reason: Annotated[str | None, "Of a refused line."]
    entrant: Annotated[int | None, "Number of a new entrant."]
    code: Annotated[str | None, "The claim code of a new entrant, shown once."]


class EntrantsImportedDoc(TypedDict):
    tournament: str
    version: int
    lines: list[ImportedLineDoc]


class EntryClaimDoc(TypedDict):
    tournament: str
    entrant: int
    code: Annotated[str, "Shown once."]


class EntryClaimedDoc(TypedDict):
    tournament: str
    entrant: Annotated[int | None, "Your number; null after the code of a hall."]


class EventCodeDoc(TypedDict):
    tournament: str
    code: Annotated[str, "Shown once."]
    people: Annotated[int, "People who may use it."]
    until: Annotated[int, "Its end, ms."]


class PhaseChangedDoc(TournamentWrittenDoc):
    works: NotRequired[Annotated[bool, "After the check-in: false if the draw makes no tables of those present."]]
    nearest: NotRequired[Annotated[list[int], "Then: the nearest numbers of entrants with which it does."]]


class EventStepDoc(TypedDict):
    step: Annotated[
        str,
        ("open_checkin", "close_checkin", "draw", "open_bids", "make_tables", "report", "rank", "finish"),
    ]
    stage: int
    round: Annotated[int | None, "null: of no single round."]


class EventCheckInDoc(TypedDict):
    open: bool
    since: Annotated[int | None, "Time of the last opening, ms."]
    present: Annotated[int, "Entrants who have checked in."]
    missing: Annotated[list[int], "Entrants who have not; after the draw, those whom the next one leaves out."]
    works: NotRequired[Annotated[bool, "False if the first draw makes no tables of those present."]]
    nearest: NotRequired[Annotated[list[int], "Then: the nearest numbers of entrants with which it does."]]


class EventNoncesDoc(TypedDict):
    until: Annotated[int, "Time until which the draw waits for them, ms."]
    missing: Annotated[list[int], "Entrants who may still show a nonce."]


class EventBidsDoc(TypedDict):
    round: int
    until: Annotated[int, "End of the time for bids or lists, ms."]
    missing: Annotated[list[int], "Entrants without one."]


class EventTableDoc(TypedDict):
    stage: int
    round: int
    table: Annotated[str, "`round.pod`."]
    entrants: Annotated[list[int], "By seat."]
    game: Annotated[str | None, "null: not made yet."]
    state: Annotated[str, ("unmade", "playing", "paused", "ruled", "closed", "elsewhere")]
    scores: NotRequired[Annotated[EnteredScoresDoc | None, "Of a table elsewhere: scores before they are its result."]]
    ends_at: Annotated[int | None, "End by the time limit, ms; null without one, and in a pause."]
    moved_at: Annotated[int | None, "Time of the last record, ms."]
    due: Annotated[int | None, "Time at which a default move is due, ms."]
    empty: Annotated[list[int], "Seats without a player, or whose player is absent."]


class EventAppealDoc(TypedDict):
    ruling: int
    entrant: Annotated[int, "Its author."]
    at: int
    may_answer: Annotated[bool, "True if you may answer it."]


class EventByeDoc(TypedDict):
    round: int
    entrant: int


class EventQuestionDoc(TypedDict):
    entrant: int
    player: Annotated[str, "Player id of the person asked."]
    at: int


class EventWithdrawalDoc(TypedDict):
    entrant: int
    at: int
    game: Annotated[str | None, "The entrant's table in play."]


class EventHallDoc(TypedDict):
    people: Annotated[int, "People who may still use it."]
    until: Annotated[int, "Its end, ms."]


class EventDeskDoc(TypedDict):
    """Everything to do for the officers of a tournament."""

    tournament: str
    version: int
    now: int
    status: Annotated[str, STATUSES]
    steps: Annotated[list[EventStepDoc], "What may be done now, in the order of an event."]
    check_in: EventCheckInDoc
    nonces: EventNoncesDoc | None
    bids: list[EventBidsDoc]
    tables: Annotated[list[EventTableDoc], "Tables without a result. `closed` ones wait for their report."]
    appeals: Annotated[list[EventAppealDoc], "Appeals without an answer."]
    byes: Annotated[list[EventByeDoc], "Byes wanted for rounds to come."]
    substitutes: Annotated[list[EventQuestionDoc], "Entrants who have asked a substitute, without an answer so far."]
    withdrawals: Annotated[list[EventWithdrawalDoc], "Since the last draw, or with a table in play."]
    offers: NotRequired[Annotated[list[EventOfferDoc], "Invitations and offices without an answer so far."]]
    unclaimed: NotRequired[Annotated[list[int], "Imported entrants without an account."]]
    code: NotRequired[Annotated[EventHallDoc | None, "What is left of the code of the hall."]]


class DivisionAddedDoc(TournamentWrittenDoc):
    division: Annotated[str, "Id of the new event."]


class TournamentRuledDoc(TournamentWrittenDoc):
    ruling: Annotated[int, "Number of the ruling: made, or taken back."]


class TablesMadeDoc(TypedDict):
    tournament: str
    version: int
    left: Annotated[int, "Tables still missing: repeat the request."]


class ReportedDoc(TypedDict):
    tournament: str
    version: int
    pods: Annotated[list[int], "Pods with a new result."]


class AdjournedDoc(TypedDict):
    tournament: str
    version: int
    pods: Annotated[list[int], "Pods whose games this has ended."]
    refused: Annotated[list[int], "Pods where you may not rule."]


class TournamentPausedDoc(TypedDict):
    tournament: str
    version: int
    pods: Annotated[list[str], "Tables that this has stopped, or let go on: `stage/round.pod`."]
    refused: Annotated[list[str], "Tables where you may not rule."]


class TournamentEnteredDoc(TournamentWrittenDoc):
    entrant: Annotated[int, "Number of the entrant, from 0."]


class TournamentsDoc(PageDoc):
    items: list[TournamentSummaryDoc]


class StandingsDoc(TypedDict):
    tournament: str
    version: int
    official: bool
    stage: int
    names: NotRequired[Annotated[dict[str, str], "Number of an entrant -> name, if given."]]
    standings: list[TournamentStandingDoc]
    running: Annotated[list[str], "Tables without a result: until then provisional."]
    digest: NotRequired[Annotated[str, "Digest of official standings."]]
    unranked: NotRequired[Annotated[Doc, "Of a ladder or arena: entrant -> tables that count, too few for a place."]]


class MovedPlaceDoc(TypedDict):
    entrant: int
    before: Annotated[int, "Place before the ruling; 0: without a place."]
    after: Annotated[int, "Place by the ruling; 0: without a place."]
    ticks_before: int
    ticks_after: int
    sentences: Annotated[list[str], "The reason of the new place, beside its neighbour, or of none."]


class RulingPreviewDoc(TypedDict):
    tournament: str
    version: int
    stage: int
    digest: Annotated[str, "The ETag: the ruling names it in If-Match."]
    moved: list[MovedPlaceDoc]
    standings: list[TournamentStandingDoc]
    advancing: Annotated[list[int] | None, "Entrants of the next stage by the ruling. null: those stay."]


class TournamentRulingsDoc(TypedDict):
    tournament: str
    version: int
    names: Annotated[dict[str, str], "Player -> name, if given."]
    items: list[TournamentRulingDoc]


class ToldPartDoc(PointPartDoc):
    sentence: str


class EntrantPointsDoc(TypedDict):
    entrant: int
    place: Annotated[int, "0: without a place."]
    ticks: Annotated[int, "Points in ticks, as the standings have them."]
    parts: Annotated[list[ToldPartDoc], "In order of rounds, penalties last."]
    sentence: Annotated[str, "How the points follow from the parts."]


class ExplanationDoc(ExplainedDoc):
    sentences: list[str]
    points: NotRequired[Annotated[list[EntrantPointsDoc], "Of both, the first one first."]]


class EntrantTableDoc(TypedDict):
    table: Annotated[str, "`round.pod`."]
    round: int
    game: str | None
    elsewhere: NotRequired[Annotated[bool, "True if it is played outside of the service: no game proves it."]]
    seat: Annotated[int, "The entrant's own."]
    entrants: Annotated[list[int | None], "By seat."]
    places: list[int]
    points: Annotated[list[int], "Game points by seat."]
    annulled: Annotated[str, "`void`, `average`, or empty."]


class OpponentDoc(TypedDict):
    entrant: int
    tables: list[str]


class EntrantCardDoc(EntrantPointsDoc):
    tournament: str
    version: int
    stage: int
    player: str
    withdrawn: bool
    excluded: bool
    names: Annotated[dict[str, str], "Number of an entrant -> name, if given."]
    tables: list[EntrantTableDoc]
    opponents: list[OpponentDoc]
    places: Annotated[list[int | None], "In the official standings after each round; null: without a place."]


class MeetingDoc(TypedDict):
    a: int
    b: int
    tables: list[str]


class MeetingsDoc(TypedDict):
    tournament: str
    version: int
    stage: int
    names: Annotated[dict[str, str], "Number of an entrant -> name, if given."]
    entrants: Annotated[list[int], "Entrants with a part in the stage."]
    meetings: list[MeetingDoc]

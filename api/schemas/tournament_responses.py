"""Declared documents of tournaments."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from api.schemas.common_documents import PageDoc
from domain.tournaments.aggregate.point_parts import PointPartDoc
from domain.tournaments.explain import ExplainedDoc
from domain.tournaments.standings import TournamentStandingDoc
from domain.types import Doc
from projections.tournament_documents import TournamentRulingDoc, TournamentSummaryDoc


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

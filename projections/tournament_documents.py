"""Declared documents of a tournament: its summary, itself, its rounds and its rulings."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from domain.tournaments.aggregate.clock_commands import CLOCK_STEPS
from domain.tournaments.aggregate.tournament import STATUSES
from domain.tournaments.aggregate.tournament_ruling_commands import ROLES
from domain.tournaments.results import WANTED_BYES
from domain.tournaments.scoring import SCORINGS
from domain.tournaments.terms import BOTS, ELSEWHERE, FORMATS, RELATIONS, SEATINGS, SEEDS
from domain.types import Doc, Json


class StoredTournamentDoc(TypedDict):
    """The summary of a tournament as views have it: without names and texts."""

    tournament: str
    version: int
    status: Annotated[str, STATUSES]
    director: Annotated[str, "Player id of the organiser."]
    ruleset: str
    format: Annotated[str, FORMATS]
    entrants: Annotated[int, "Entrants who have not withdrawn."]
    capacity: int
    stage: NotRequired[Annotated[int, "The current stage. Format, rounds and ranked are its own."]]
    rounds: int | None
    ranked: Annotated[int, "Rounds with official standings."]
    whole: NotRequired[Annotated[bool, "True once every round of every stage has official standings."]]
    at: int
    set_aside: NotRequired[Annotated[bool, "True if a later record cannot be shown."]]
    damaged: NotRequired[Annotated[int, "First damaged version."]]


class TournamentSummaryDoc(StoredTournamentDoc):
    names: Annotated[dict[str, str], "Player -> name, if given."]
    title: NotRequired[str]
    note: NotRequired[str]


class AdvanceDoc(TypedDict):
    first: int
    wild_cards: int


class TournamentOfficerDoc(TypedDict):
    player: str
    office: Annotated[str, ROLES]


class TournamentStageDoc(TypedDict):
    format: Annotated[str, FORMATS]
    rounds: int | None
    concurrent: int
    scoring: Annotated[str, SCORINGS]
    unit: int
    lists: Doc
    total: str
    ties: list[str]
    advance: list[AdvanceDoc]
    entrants: int | None
    seating: NotRequired[Annotated[str, SEATINGS]]
    bidding: NotRequired[Annotated[int, "Seconds to file bids or lists of seats."]]
    bid_rate: NotRequired[Annotated[int, "Ticks of handicap for a whole bid."]]
    relations: NotRequired[Annotated[str, RELATIONS]]
    seeds: NotRequired[Annotated[str, SEEDS]]
    wanted_bye: NotRequired[Annotated[str, WANTED_BYES]]
    patience: NotRequired[Annotated[int, "Of a ladder or arena: most seconds to wait for a full table."]]
    window: NotRequired[Annotated[int, "Of a ladder or arena: seconds during which a table counts."]]


class QueueLeftDoc(TypedDict):
    days: Annotated[int, "Days (UTC) with tables for which the chain has a draw."]
    tables: Annotated[int, "Tables."]


class TournamentQueueDoc(TypedDict):
    waiting: Annotated[int, "Number of entrants who wait for a table."]
    next_at: Annotated[int | None, "Time of the next table if nobody else comes, ms."]
    closed: NotRequired[Annotated[bool, "True while nobody may wait."]]
    left: NotRequired[Annotated[QueueLeftDoc, "What may still be made."]]
    ends_at: NotRequired[
        Annotated[int | None, "End of the time for tables, ms: the chain has no draw left; else null."]
    ]


class TournamentSeatsDoc(TypedDict):
    least: int
    most: int
    preferred: int


class RatingBandDoc(TypedDict):
    least: Annotated[int | None, "Hundredths of a rating."]
    most: Annotated[int | None, "Hundredths of a rating."]
    tables: Annotated[int, "Least number of rated tables."]


class DivisionDoc(TypedDict):
    tournament: str
    name: str


class TournamentChainDoc(TypedDict):
    draws: Annotated[int, "Number of draws of the chain."]
    used: int
    secrets: Annotated[list[str], "s_0, then the secret of each draw, hex."]
    key: Annotated[str, "Key of the last draw, hex, or empty."]


class EntrantDoc(TypedDict):
    entrant: int
    player: str
    withdrawn: bool
    excluded: Annotated[bool, "True after a ruling."]
    substitutes: Annotated[list[str], "Their player ids."]
    waiting: Annotated[bool, "True on the waiting list."]
    queued: Annotated[bool, "True in the queue of a ladder or arena."]
    may_queue: Annotated[bool, "True if the entrant may wait in it."]
    checked_in: bool
    takes_part: bool
    left_out: NotRequired[Annotated[bool, "True if the next draw leaves the entrant out, who may come back."]]
    nonce_hash: str
    nonce: Annotated[str, "The nonce as shown, or empty."]


class ScheduleDoc(TypedDict):
    rule: str
    zone: str
    start: Annotated[str, "First time of the rule, on the zone's clock."]
    number: Annotated[int, "Number of this event along the rule, from 1."]
    at: Annotated[int, "Time of this event, ms. The next one is opened then."]
    next_at: Annotated[int | None, "Time of the next event, ms; null: this is the last."]
    follows: Annotated[str | None, "The event before."]
    next: Annotated[str | None, "The next event, once opened."]


class StageTimetableDoc(TypedDict):
    stage: int
    starts: Annotated[list[int], "Start of each round, ms since 1970 UTC."]
    opens: Annotated[int, "The check-in opens as many seconds before a start."]
    closes: Annotated[int, "It closes as many seconds before a start, and the draw follows by itself."]
    each: Annotated[bool, "True if each round has a check-in; else the first alone."]
    warning: Annotated[int, "Seconds from the warning to the end of a round; 0: none."]
    extension: Annotated[int, "Seconds by which a round goes on once at its end; 0: none."]


class ClockActDoc(TypedDict):
    act: Annotated[str, CLOCK_STEPS]
    stage: int
    round: int
    at: Annotated[int, "Its time, ms."]


class TermChangeDoc(TypedDict):
    at: Annotated[str, "Pointer of the term in the record."]
    before: Json
    after: Json


class TermAmendmentDoc(TypedDict):
    version: int
    at: int
    officer: Annotated[str, "Player id of its author."]
    reason: str | None
    changes: list[TermChangeDoc]


class TournamentDoc(TournamentSummaryDoc):
    head: Annotated[str, "Hash of the last record."]
    seats: TournamentSeatsDoc
    options: Doc
    table: Annotated[Doc, "Terms of each game."]
    listing: Annotated[str, ("public", "unlisted")]
    stages: list[TournamentStageDoc]
    chain: TournamentChainDoc
    reveal: int
    band: NotRequired[Annotated[RatingBandDoc | None, "Ratings of those who enter by themselves; null: everybody."]]
    division: NotRequired[Annotated[str | None, "Name of the division, of an event that is one."]]
    division_of: NotRequired[Annotated[str | None, "The event with this division."]]
    divisions: NotRequired[Annotated[list[DivisionDoc], "Further divisions, each an event of its own."]]
    elsewhere: NotRequired[Annotated[str | None, ELSEWHERE, "Tables outside of the service; null: there are none."]]
    bots: NotRequired[Annotated[str, BOTS, "Whether programs may play: none, or those that declare themselves."]]
    takes_late: NotRequired[Annotated[bool, "True if people may enter for the next draw."]]
    queue: NotRequired[Annotated[TournamentQueueDoc | None, "Of a ladder or arena, else null."]]
    schedule: NotRequired[Annotated[ScheduleDoc | None, "Of a repeating event, else null."]]
    timetable: NotRequired[Annotated[StageTimetableDoc | None, "Of the current stage, else null."]]
    clock: NotRequired[Annotated[ClockActDoc | None, "The next act of the service by the timetable."]]
    paused_at: NotRequired[Annotated[int | None, "Beginning of the pause, ms."]]
    amendments: NotRequired[Annotated[list[TermAmendmentDoc], "Changes of the terms, the first one first."]]
    nonces_until: Annotated[int | None, "Time until which nonces may be shown, ms."]
    people: list[EntrantDoc]
    plan: Annotated[str, "Name of the design or search, or empty before the draw."]
    officers: list[TournamentOfficerDoc]


class EnteredScoresDoc(TypedDict):
    scores: Annotated[int, "Version of the record that entered them: a confirmation names it."]
    at: Annotated[int, "Time of their entry, ms."]
    places: Annotated[list[int], "By seat."]
    points: Annotated[list[int], "By seat."]
    confirmed: Annotated[list[int], "Entrants who have confirmed them."]
    missing: Annotated[list[int], "Entrants of the table who have not."]
    settles_at: Annotated[int, "From then on an officer may settle them, ms."]


class PodDoc(TypedDict):
    table: Annotated[str, "`round.pod`."]
    entrants: Annotated[list[int], "By seat."]
    game: str | None
    elsewhere: NotRequired[Annotated[bool, "True if it is played outside of the service: no game proves it."]]
    scores: NotRequired[Annotated[EnteredScoresDoc | None, "Of a table elsewhere: scores before they are its result."]]
    attempt: Annotated[int, "2 and more: the table is played again."]
    annulled: Annotated[str, "`void`, `average`, or empty."]
    reported: bool
    ends_at: NotRequired[Annotated[int | None, "Planned end of the game by the time limit, ms; pauses move it."]]
    places: list[int]
    points: list[int]
    decisions: Annotated[list[list[int]], "By seat: decisions of its entrant or substitutes, and all of them."]
    absent: Annotated[list[int], "Seats without ticks: their entrants made less than half of the decisions."]
    lapses: Annotated[list[int], "Missed deadlines by seat."]
    seated: NotRequired[Annotated[bool, "False until bids or lists have given the seats."]]
    bids: NotRequired[
        Annotated[list[list[int] | None], "By seat: the opened bid or list, null for none. Empty before."]
    ]
    handicaps: NotRequired[Annotated[list[int], "Ticks by seat, after bids."]]


class RoundDoc(TypedDict):
    stage: int
    round: int
    pods: list[PodDoc]
    byes: list[int]
    relations: NotRequired[
        Annotated[list[tuple[int, int, str]], "Pairs of entrants with a class of weight: `apart` or `near`."]
    ]
    together: NotRequired[
        Annotated[list[tuple[int, int, str]], "Those of them in one pod: the draw could not avoid it."]
    ]
    starts_at: NotRequired[Annotated[int | None, "Start by the timetable, ms."]]
    ends_at: NotRequired[Annotated[int | None, "End of its last table in play by the clock, ms; pauses move it."]]
    extended: NotRequired[Annotated[bool, "True once the end has been put off."]]
    bids_until: NotRequired[Annotated[int | None, "Time until which bids or lists may be filed, ms. null: not opened."]]
    filed: NotRequired[Annotated[list[int], "Entrants who have filed one."]]
    ended: bool
    ranked: bool
    outdated: NotRequired[Annotated[bool, "True if its official standings have changed since: rank the round again."]]


class EntrantPlacesDoc(TypedDict):
    entrant: int
    places: Annotated[list[int | None], "By round; null: without a place after it."]
    ticks: Annotated[list[int | None], "Points in ticks, by round."]


class TournamentAppealDoc(TypedDict):
    version: int
    entrant: Annotated[int, "Number of the entrant who contests the ruling."]
    at: int
    reason: str | None
    outcome: Annotated[str | None, "`upheld` or `overturned`; null before the answer."]
    officer: str | None
    answered_at: int | None
    answer: Annotated[str | None, "The officer's reason."]


class TournamentRulingDoc(TypedDict):
    ruling: Annotated[int, "Number of the ruling: the version of its record."]
    act: Annotated[str, ("placed", "annulled", "penalised", "excluded")]
    at: int
    officer: Annotated[str, "Player id of its author."]
    reason: str | None
    restored: Annotated[bool, "True once it has been taken back."]
    appeal: NotRequired[Annotated[TournamentAppealDoc | None, "The one to be answered next, or the last."]]
    appeals: NotRequired[Annotated[list[TournamentAppealDoc], "One of each entrant at most."]]
    stage: int
    round: NotRequired[int]
    pod: NotRequired[int]
    attempt: NotRequired[int]
    places: NotRequired[list[int]]
    how: NotRequired[str]
    entrant: NotRequired[int]
    ticks: NotRequired[int]
    results: NotRequired[str]


class PlacesByRoundDoc(TypedDict):
    tournament: str
    version: int
    stage: int
    rounds: Annotated[list[int], "Rounds with official standings."]
    entrants: Annotated[list[EntrantPlacesDoc], "In order of the last standings."]

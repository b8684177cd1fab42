"""Declared documents of notices: the data of events at tables and tournaments, as webhooks send it."""

from __future__ import annotations

from typing import Annotated, TypedDict

from domain.kernel.game.appeals import Outcome
from domain.kernel.records.record import KINDS
from domain.kernel.schema.document_members import STATUSES
from domain.tournaments.aggregate.tournament import STATUSES as EVENT_STATUSES
from domain.tournaments.aggregate.tournament_appeal_commands import OUTCOMES
from domain.tournaments.results import AVERAGE, VOID

EVENT_ACTS = ("check_in", "nonce", "bid", "rank", "answer", "come_back", "too_few", "confirm")
"""Acts of entrants and officers."""

EVENT_CHANGES = ("timetable", "amended", "paused", "resumed", "round_ends", "extended")
"""Changes of an event: of its times and terms, and the near end of a round."""

DEPARTURES = ("left", "conceded", "removed", "vacated")
"""Causes of an empty seat."""

EVENT_DEPARTURES = ("withdrew", "excluded")
"""Departures of entrants."""

RULING_ACTS = ("placed", "annulled", "penalised", "excluded", "restored")
"""Acts of a ruling."""


class NoticeTestDoc(TypedDict):
    webhook: Annotated[str, "The webhook's id."]


class TableNoticeDoc(TypedDict):
    """Public data of a table."""

    game: str
    ruleset: str
    version: Annotated[int, "Version of the event's record."]
    status: Annotated[str, STATUSES]


class ChangeNoticeDoc(TableNoticeDoc):
    kind: Annotated[str, KINDS, "Kind of the record."]
    head: Annotated[str, "Hash of the record's public part, hex."]


class TurnNoticeDoc(TableNoticeDoc):
    seat: Annotated[int, "The own seat."]
    decision: Annotated[str, "Kind of the open decision."]
    deadline: Annotated[int | None, "Deadline, ms since 1970 UTC; null without one."]


class SeatNoticeDoc(TableNoticeDoc):
    leaver: Annotated[int, "The seat that was left."]
    how: Annotated[
        str,
        DEPARTURES,
        "`removed`: by an officer; `vacated`: the seat was left before, and its hold has ended without a substitute.",
    ]
    until: Annotated[int | None, "End of the hold for a substitute, ms since 1970 UTC; null without one."]


class AppealNoticeDoc(TableNoticeDoc):
    contested: Annotated[int, "Version of the contested decision."]
    deadline: Annotated[int, "End of the time to answer, ms since 1970 UTC."]


class AnswerNoticeDoc(TableNoticeDoc):
    contested: Annotated[int, "Version of the contested decision."]
    outcome: Outcome


class ProposalNoticeDoc(TableNoticeDoc):
    seat: Annotated[int, "The own seat, with a vote."]
    proposal: Annotated[str, "Id of the proposal."]
    act: Annotated[str, "The proposed command, such as `pause`."]
    deadline: Annotated[int, "End of the time to vote, ms since 1970 UTC."]


class MessageNoticeDoc(TypedDict):
    """Nothing of the messages: neither their number nor a writer."""

    game: str
    ruleset: str
    seat: Annotated[int, "The own seat."]


class ReportNoticeDoc(TypedDict):
    """Nothing of the report."""

    game: str
    ruleset: str


class SilenceNoticeDoc(TypedDict):
    game: str
    ruleset: str
    seat: Annotated[int, "The own seat."]
    deadline: Annotated[int, "End of the silence, ms since 1970 UTC."]


class OrderNoticeDoc(TypedDict):
    """Nothing of what the order says."""

    game: str
    ruleset: str
    seat: Annotated[int, "The own seat."]
    order: Annotated[str, "Id of the standing order."]
    acts: Annotated[int, "Moves that it has made."]
    reason: Annotated[str, "Why it has ended; empty while it stands."]


class ChallengeNoticeDoc(TypedDict):
    game: str
    seat: Annotated[int | None, "The reserved seat. null: any free seat."]
    until: Annotated[int, "Expiry, ms since 1970 UTC."]


class EventNoticeDoc(TypedDict):
    """Public data of a tournament."""

    tournament: str
    ruleset: str
    version: Annotated[int, "Version of the event's record."]
    status: Annotated[str, EVENT_STATUSES]


class EventAnnouncedNoticeDoc(EventNoticeDoc):
    game: Annotated[str | None, "The only table to which it is said; null: to all."]
    announcement: Annotated[str, "Its id. The page of the event has the words."]


class EventOpenedNewsDoc(TypedDict):
    next: Annotated[str | None, "The tournament that follows by its rule; null: this one has been opened."]


class EventOpenedNoticeDoc(EventNoticeDoc, EventOpenedNewsDoc): ...


class EventDueNewsDoc(TypedDict):
    act: Annotated[str, EVENT_ACTS, "What is waited for: the first three, `come_back` and `confirm` from an entrant."]
    stage: Annotated[int, "From 1."]
    round: Annotated[int | None, "From 1; null for an appeal."]
    table: Annotated[str | None, "The own table, `round.pod`, of a bid or of scores."]
    ruling: Annotated[int | None, "The contested ruling."]
    until: Annotated[int | None, "End of the time for it, ms since 1970 UTC; null: until an officer goes on."]
    again: Annotated[bool, "`rank`: true if the round has official standings, to be replaced."]


class EventDueNoticeDoc(EventNoticeDoc, EventDueNewsDoc): ...


class EventChangedNewsDoc(TypedDict):
    act: Annotated[str, EVENT_CHANGES]
    stage: Annotated[int | None, "Of a timetable or a round, from 1."]
    round: Annotated[int | None, "From 1."]
    until: Annotated[int | None, "Next start, or end of the round, ms since 1970 UTC."]


class EventChangedNoticeDoc(EventNoticeDoc, EventChangedNewsDoc): ...


class EventPlaceNewsDoc(TypedDict):
    stage: Annotated[int, "From 1."]
    round: Annotated[int, "From 1."]
    table: Annotated[str | None, "`round.pod`."]


class EventPlaceNoticeDoc(EventNoticeDoc, EventPlaceNewsDoc): ...


class EventSeatNewsDoc(EventPlaceNewsDoc):
    game: Annotated[str | None, "The game of the table; null: a bye, or a table elsewhere."]
    seat: Annotated[int | None, "The own seat, from 0."]
    opponents: Annotated[list[str], "Player ids of the others, by seat."]


class EventRoundNoticeDoc(EventNoticeDoc, EventSeatNewsDoc):
    deadline: Annotated[int | None, "Deadline of a decision already owed, ms since 1970 UTC."]


class EventLeftNewsDoc(TypedDict):
    player: Annotated[str, "The entrant's player id."]
    how: Annotated[str, EVENT_DEPARTURES]
    stage: Annotated[int | None, "Of the entrant's next or present table, from 1; null without one."]
    round: Annotated[int | None, "From 1."]
    table: Annotated[str | None, "`round.pod`."]


class EventLeftNoticeDoc(EventNoticeDoc, EventLeftNewsDoc): ...


class EventDrawnNewsDoc(EventPlaceNewsDoc):
    tables: Annotated[int, "Tables of the round, or 1 of a queue."]
    byes: Annotated[int, "Entrants with a bye."]


class EventDrawnNoticeDoc(EventNoticeDoc, EventDrawnNewsDoc): ...


class EventVoidedNewsDoc(EventPlaceNewsDoc):
    how: Annotated[str, (VOID, AVERAGE), "`void`: as if not played; `average`: a credit as for a bye."]


class EventVoidedNoticeDoc(EventNoticeDoc, EventVoidedNewsDoc): ...


class EventReportedNewsDoc(EventPlaceNewsDoc):
    players: Annotated[list[str], "Player ids by seat."]
    places: Annotated[list[int], "Places by seat."]


class EventReportedNoticeDoc(EventNoticeDoc, EventReportedNewsDoc): ...


class EventRuledNewsDoc(TypedDict):
    ruling: Annotated[int, "The ruling: the version of its record."]
    act: Annotated[str, (*RULING_ACTS, "answered"), "Act of the officer; `answered`: the own appeal has an answer."]
    outcome: Annotated[str | None, OUTCOMES, "The answer to an appeal; null for other acts."]
    stage: Annotated[int, "From 1."]
    place: Annotated[int | None, "The own place in the official standings of the stage; null without one."]
    former: Annotated[int | None, "The own place there before the act."]
    table: Annotated[str | None, "Table of the ruling, `round.pod`; null for one on an entrant."]
    players: Annotated[list[str], "`placed`: player ids by seat of the table; else empty."]
    places: Annotated[list[int], "`placed`: the new places by seat."]
    ticks: Annotated[int | None, "`penalised`: ticks subtracted."]
    reason: Annotated[str | None, "Salted hash of the reason, as in the record."]


class EventRuledNoticeDoc(EventNoticeDoc, EventRuledNewsDoc): ...


class EventLeaderDoc(TypedDict):
    player: str
    place: Annotated[int, "From 1; shared places are equal."]


class EventOverNewsDoc(TypedDict):
    place: Annotated[int | None, "The own place in the last official standings; null without one."]
    leaders: Annotated[list[EventLeaderDoc], "Of feeds: the first three."]


class EventOverNoticeDoc(EventNoticeDoc, EventOverNewsDoc): ...


class EventRankedNewsDoc(EventOverNewsDoc):
    stage: Annotated[int, "From 1."]
    round: Annotated[int, "From 1."]
    digest: Annotated[str, "Digest of the standings."]


class EventRankedNoticeDoc(EventNoticeDoc, EventRankedNewsDoc): ...

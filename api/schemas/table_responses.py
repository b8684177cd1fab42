"""Declared documents of tables: opened games, seats, challenges, rulings, the desk, the lobby."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict, get_args

from api.schemas.common_documents import PageDoc, WrittenDoc
from api.schemas.query_args import NEEDS
from domain.kernel.game.appeals import Outcome
from domain.kernel.game.officers import OFFICES
from domain.service.principals import Role
from projections.game_documents import AppealDoc, OfficeHolderDoc, OriginDoc, PauseDoc, RulingDoc, SummaryDoc


class NewGameDoc(WrittenDoc):
    token: NotRequired[
        Annotated[str, "The director's token, for guests. Sent only here and in repetitions with the same key."]
    ]
    player: str
    invitation: NotRequired[Annotated[str, "Secret needed to take a seat, for `listing: invitation`."]]


class ForkDoc(WrittenDoc):
    player: str
    origin: OriginDoc


class ImportDoc(TypedDict):
    game: Annotated[str, "The id of the imported game here."]
    ruleset: str
    version: int
    at: Annotated[int, "Time of the import, ms."]


class ImportsDoc(TypedDict):
    items: list[ImportDoc]


class NewGamesDoc(TypedDict):
    items: list[NewGameDoc]


class ChallengeDoc(TypedDict):
    game: str
    to: Annotated[str, "The challenged name or player id, whether or not it exists."]
    seat: int | None
    at: int
    until: Annotated[int, "Expiry, ms."]
    answer: Annotated[str, ("open", "accepted", "declined", "past")]


class ChallengesDoc(TypedDict):
    items: list[ChallengeDoc]


class RematchDoc(TypedDict):
    game: Annotated[str, "The new table, with the ruleset, options and terms of the old one."]
    player: str
    seat: Annotated[int | None, "The seat reserved for the caller: the next one in order."]
    token: NotRequired[Annotated[str, "The director's token, if a guest opened the table."]]


class TokenDoc(WrittenDoc):
    seat: int
    token: Annotated[str, "The seat's token. Sent only here and in repetitions with the same key."]


class TakenSeatDoc(WrittenDoc):
    seat: int
    token: NotRequired[
        Annotated[str, "The seat's token, for guests. Sent only here and in repetitions with the same key."]
    ]
    player: str


class DeskAppealDoc(AppealDoc):
    status: Literal["open", "lapsed"]


class AppealOfficerDoc(TypedDict):
    player: str
    name: str | None
    office: Annotated[str, OFFICES]
    reason: Annotated[str | None, "null after erasure."]


class AppealAnswerDoc(TypedDict):
    version: Annotated[int, "Version of the answer."]
    at: int
    officer: AppealOfficerDoc | None


class FullAppealDoc(AppealDoc):
    status: Annotated[
        str,
        ("open", "lapsed", *get_args(Outcome)),
        "`lapsed`: nobody has answered in time, so that the decision stands.",
    ]
    reason: Annotated[str | None, "null after erasure."]
    answered_by: Annotated[
        str | None,
        "Answerer: `officer`: another one than the author. `owner`: the author, for want of another "
        "officer. `nobody`: all officers have a stake, or the table hides names. null: lapsed.",
    ]
    answer: AppealAnswerDoc | None


class AppealsDoc(TypedDict):
    items: list[FullAppealDoc]


class OfficerDoc(OfficeHolderDoc):
    name: str | None
    offered: Annotated[bool, "True if the person has not accepted yet."]


class OfficersDoc(TypedDict):
    items: list[OfficerDoc]


class OfferDoc(TypedDict):
    game: str
    player: str
    role: Annotated[str, OFFICES]
    by: Annotated[str, "Player id of the officer who offers the role."]
    name: Annotated[str | None, "Name of that officer."]
    reason: str | None
    at: Annotated[int, "Time of the offer, ms."]


class OffersDoc(TypedDict):
    items: list[OfferDoc]


class OfficeDoc(TypedDict):
    game: str
    office: Annotated[str, OFFICES]


class MyOfficesDoc(TypedDict):
    items: Annotated[list[OfficeDoc], "Roles that you have."]
    offers: Annotated[list[OfferDoc], "Roles that you may accept."]


class DeskDecisionDoc(TypedDict):
    seats: Annotated[list[int], "The seats that must move."]
    engine: Annotated[bool, "True for work of the service."]
    since: int
    silence: Annotated[int, "ms since the decision was opened."]
    deadline: int | None
    due: Annotated[int | None, "Time of the first default, ms."]
    left: Annotated[int | None, "ms until the first default."]


class DeskSeatDoc(TypedDict):
    seat: int
    absent: Annotated[bool, "True if a player has missed too many deadlines."]
    held: Annotated[int | None, "End of the hold, ms."]


class DeskRequestDoc(TypedDict):
    id: str
    work: Annotated[str, ("rewind", "proposal")]
    seat: Annotated[int | None, "The seat that asks."]
    act: Annotated[str | None, "The act of a proposal."]
    at: int
    missing: Annotated[list[int], "Seats without an answer."]


class DeskTableDoc(TypedDict):
    game: str
    ruleset: str
    title: Annotated[str, "Title of the table, or empty."]
    status: Annotated[str, ("open", "running", "over")]
    version: int
    opened: int
    office: Annotated[str, OFFICES]
    needs: Annotated[list[Annotated[str, NEEDS]], "What waits for an officer."]
    decision: DeskDecisionDoc | None
    pause: NotRequired[Annotated[PauseDoc | None, "Pause at the last record: no time runs until its end. null: none."]]
    ruling: NotRequired[Annotated[RulingDoc | None, "A ruling that has ended play and can be withdrawn; null: none."]]
    empty: Annotated[list[DeskSeatDoc], "Seats to fill."]
    pending: Annotated[list[DeskRequestDoc], "Undo requests and proposals."]
    appeals: Annotated[list[DeskAppealDoc], "Appeals without an answer."]
    damaged: Annotated[int | None, "First damaged version."]


class DeskDoc(PageDoc):
    now: Annotated[int, "The service's clock, ms."]
    tables: Annotated[int, "Number of unfinished tables, whatever the filters."]
    counts: Annotated[dict[str, int], "Number of tables for each value of `needs`, whatever the filters."]
    items: list[DeskTableDoc]


class RuledItemDoc(TypedDict):
    game: str
    version: int | None
    position: int | None
    refused: Annotated[str | None, "Code of the refusal at this table, or null."]
    head: NotRequired[Annotated[str, "Hash of the record, hex."]]


class ManyRuledDoc(TypedDict):
    items: list[RuledItemDoc]
    more: Annotated[bool, "True if there are tables left: go on with `after`, the last id."]


class RelatedDoc(TypedDict):
    players: list[str]


class LobbyDoc(PageDoc):
    items: list[SummaryDoc]


class TurnDoc(TypedDict):
    roles: Annotated[list[Role], "The person's roles: a seat number, `director`, or both."]
    turn: Annotated[bool, "True if a decision of an own seat is open."]
    left: Annotated[int | None, "ms until the own default is played. null: no limit."]


class MineDoc(SummaryDoc, TurnDoc):
    votes: NotRequired[
        Annotated[int, "Undo requests and proposals that await a vote of an own seat; not in streams of news."]
    ]


class MyGamesDoc(PageDoc):
    items: list[MineDoc]


class TicketDoc(TypedDict):
    ticket: str
    seconds: int


class CookieDoc(TypedDict):
    path: Annotated[str, "The stream's path."]
    seconds: int

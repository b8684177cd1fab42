"""Declared documents of talk: conversations, messages, notes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from api.schemas.common_documents import PageDoc
from domain.talk.talk_store import NoteDoc
from domain.types import Doc, Json

Withheld = Literal["", "account", "report", "retention", "former", "blocked", "damaged"]
ConversationId = Annotated[str, "Id of a conversation, from the list: `table`, or one for your seat alone."]


class MessageReferenceDoc(TypedDict):
    version: int


class TreatyAnswerDoc(TypedDict):
    seat: int
    answer: Literal["accept", "decline", "counter"]


class PromiseDoc(TypedDict):
    seat: Annotated[int, "Seat that has accepted."]
    state: Annotated[
        Literal["holds", "kept", "broken", "not_decidable"],
        "By public facts: kept so far; kept; broken; public facts do not tell.",
    ]
    version: Annotated[int | None, "Version that decided it."]


class TreatyDoc(TypedDict):
    kind: Annotated[str, "Kind of the ruleset's list."]
    values: Annotated[Doc, "Value of each field."]
    text: Annotated[str, "The treaty as a sentence in the requested language."]
    ends: Annotated[int, "Time until which it may be answered, ms."]
    may_answer: Annotated[bool, "Your seat may answer now."]
    answers: list[TreatyAnswerDoc]
    promises: Annotated[
        list[PromiseDoc], "For both sides alone: whether each accepted treaty is kept. A rewind takes `broken` back."
    ]


class TreatyReplyDoc(TypedDict):
    entry: Annotated[int | None, "Place of the treaty in your mailbox."]
    answer: Literal["accept", "decline", "counter"]


class MessageDoc(TypedDict):
    entry: Annotated[int, "Place of a message in your mailbox, from 1."]
    conversation: ConversationId
    kind: Literal["table", "private"]
    seats: Annotated[list[int], "Seats of the conversation."]
    seat: Annotated[int, "Seat of the writer."]
    own: Annotated[bool, "True if you wrote it."]
    at: Annotated[int, "Time, ms."]
    version: Annotated[int | None, "Version that the writer saw; null: unknown by now."]
    undone: Annotated[bool, "True if a rewind has undone that version since."]
    text: Annotated[str | None, "null: see `withheld`."]
    withheld: Annotated[
        Withheld,
        "Why there is no text: erased with its writer's account, after a report, or after the time for which texts are "
        "kept; written for another holder of the seat; by a player whom you have blocked; unreadable.",
    ]
    references: list[MessageReferenceDoc]
    regions: Annotated[list[str], "Ids of regions to show on the map."]
    quotes: Annotated[list[int], "Places of the quoted messages in your mailbox."]
    treaty: Annotated[TreatyDoc | None, "What the message proposes. It binds nobody."]
    answer: Annotated[TreatyReplyDoc | None, "The treaty that the message answers."]
    commitment: Annotated[str, "Hash of the message with its nonce."]


class MessagesDoc(PageDoc):
    items: list[MessageDoc]


class ConversationDoc(TypedDict):
    conversation: ConversationId
    kind: Literal["table", "private"]
    seats: list[int]
    unread: int
    muted: bool
    last: MessageDoc | None


class SilenceDoc(TypedDict):
    seat: int
    until: Annotated[int, "Time, ms."]
    reason: str


class OwnSilenceDoc(TypedDict):
    until: Annotated[int, "Time, ms."]
    reason: str
    letters: Annotated[bool, "True if it stops letters too: moderators have set it, for all tables."]


class TalkDoc(TypedDict):
    talk: Literal["free", "public", "by_phase", "none"]
    papers: Annotated[Literal["own", "pass_on"], "Who takes a seat over gets its letters, or not."]
    after: Annotated[Literal["kept", "published"], "What becomes of letters after the close."]
    seat: Annotated[int | None, "Your seat; null: a spectator."]
    public: Annotated[bool, "You may write to the table now."]
    private: Annotated[bool, "You may write letters now."]
    silenced: Annotated[OwnSilenceDoc | None, "Until when you write no words."]
    silences: Annotated[list[SilenceDoc], "Players who write no words to the table for a time."]
    unread: int
    conversations: list[ConversationDoc]


class TreatyOptionDoc(TypedDict):
    value: Json
    text: str


class TreatyFieldDoc(TypedDict):
    field: str
    kind: Literal["seat", "region", "card", "amount", "turn"]
    text: Annotated[str, "The question in the requested language."]
    options: Annotated[list[TreatyOptionDoc], "Values to choose from; empty for a range."]
    lo: int | None
    hi: int | None


class TreatyChoiceDoc(TypedDict):
    kind: str
    text: Annotated[str, "Its name in the requested language."]
    followed: Annotated[bool, "Public facts can tell whether it is kept."]
    fields: list[TreatyFieldDoc]


class TreatyKindsDoc(TypedDict):
    seats: Annotated[list[int], "Seats of the conversation."]
    kinds: Annotated[list[TreatyChoiceDoc], "What you may propose there now."]


class ProvedDoc(TypedDict):
    proved: Annotated[bool, "The records of the game prove each text at hand."]
    code: Annotated[str, "Why it is not proved; empty if it is."]
    reason: Annotated[str, "The same in words."]
    messages: list[MessageDoc]


class DisclosureDoc(ProvedDoc):
    disclosure: str
    seat: Annotated[int, "Seat that has shown them, from its mailbox."]
    to: Literal["table", "officers"]
    at: Annotated[int, "Time, ms."]


class WriterDoc(TypedDict):
    seat: int
    player: Annotated[str, "Player id of the writer."]


class ReportedMessagesDoc(ProvedDoc):
    seat: Annotated[int, "Seat that has reported them, from its mailbox."]
    writers: list[WriterDoc]


class ReportSentDoc(TypedDict):
    report: str
    to: Annotated[Literal["officers", "moderators"], "Who reads and settles it."]


class MessageReportDoc(TypedDict):
    report: str
    at: Annotated[int, "Time, ms."]
    said: str
    outcome: Annotated[str, "Empty while the report is open."]
    reported: ReportedMessagesDoc


class MessageReportsDoc(TypedDict):
    items: list[MessageReportDoc]


class DisclosuresDoc(TypedDict):
    items: list[DisclosureDoc]


class NotesDoc(TypedDict):
    items: list[NoteDoc]

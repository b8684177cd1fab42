"""Declared documents of talk: conversations, messages, notes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from api.schemas.common_documents import PageDoc
from domain.talk.talk_store import NoteDoc

Withheld = Literal["", "account", "report", "retention", "former", "blocked", "damaged"]
ConversationId = Annotated[str, "Id of a conversation, from the list: `table`, or one for your seat alone."]


class MessageReferenceDoc(TypedDict):
    version: int


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


class TalkDoc(TypedDict):
    talk: Literal["free", "public", "by_phase", "none"]
    papers: Annotated[Literal["own", "pass_on"], "Who takes a seat over gets its letters, or not."]
    after: Annotated[Literal["kept", "published"], "What becomes of letters after the close."]
    seat: Annotated[int | None, "Your seat; null: a spectator."]
    public: Annotated[bool, "You may write to the table now."]
    private: Annotated[bool, "You may write letters now."]
    unread: int
    conversations: list[ConversationDoc]


class NotesDoc(TypedDict):
    items: list[NoteDoc]

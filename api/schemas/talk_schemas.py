"""Schemas of requests about talk: messages, marks, notes."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.query_args import LangArgs, WaitArgs
from api.schemas.request_fields import (
    LENGTH,
    BoundedDict,
    BoundedList,
    FullMatch,
    QueryInt,
    RequestSchema,
    StrictBool,
    StrictInt,
    VisibleText,
    choice_field,
    range_check,
    word_field,
)
from domain.talk.disclosures import MOST_ENTRIES
from domain.talk.message_reports import MOST_REPORTED
from domain.talk.silences import MOST_DAYS
from domain.talk.treaty_rules import ANSWERS, MOST_HOURS, USUAL_HOURS
from domain.types import MAX_INT

LONGEST_TEXT = 20_000
"""Characters of a text that is read at all; a message has fewer (`too_long`)."""

_CONVERSATION = r"^(table|[0-9a-f]{16})$"
_ID = {"description": "Id of a conversation, from the list: `table`, or one for your seat alone."}
_ENTRY = {"description": "Place of a message in your mailbox, from 1."}


def _text_field(description: str) -> fields.String:
    return fields.String(
        required=True,
        validate=validate.Length(0, LONGEST_TEXT, error=LENGTH),
        metadata={"description": description, "examples": ["Shall we leave each other alone this turn?"]},
    )


class ReferenceSchema(RequestSchema):
    version = StrictInt(required=True, validate=range_check(1, 2**31 - 1))


class NewTreatySchema(RequestSchema):
    kind = word_field(r"^[a-z_]{1,40}$", required=True, metadata={"description": "Kind of `GET .../talk/treaties`."})
    values = BoundedDict(
        8,
        "Value of each field.",
        load_default=dict,
    )
    hours = StrictInt(
        load_default=USUAL_HOURS,
        validate=range_check(1, MOST_HOURS),
        metadata={"description": "Hours until which it may be answered."},
    )


class NewAnswerSchema(RequestSchema):
    entry = StrictInt(required=True, validate=range_check(1, MAX_INT), metadata=_ENTRY)
    answer = choice_field(
        *ANSWERS, required=True, metadata={"description": "`counter` comes with another treaty in the same message."}
    )


class NewMessageSchema(RequestSchema):
    to = BoundedList(
        StrictInt(validate=range_check(0, 99)),
        0,
        100,
        required=True,
        metadata={"description": "Seats of a letter, your own or not. Empty: a message to the table."},
    )
    text = _text_field("At most 2,000 characters, and none that turns the direction of text.")
    version = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version that you saw when you wrote. null: the newest one."},
    )
    references = BoundedList(fields.Nested(ReferenceSchema), 0, 10, load_default=list)
    regions = BoundedList(
        word_field(r"^[A-Za-z0-9_:-]{1,60}$"),
        0,
        10,
        load_default=list,
        metadata={"description": "Ids of regions, to be shown on the map."},
    )
    quotes = BoundedList(
        StrictInt(validate=range_check(1, MAX_INT), metadata=_ENTRY),
        0,
        10,
        load_default=list,
        metadata={"description": "Places of messages of the same conversation, or of the table, in your mailbox."},
    )
    treaty = fields.Nested(NewTreatySchema, load_default=None, allow_none=True)
    answer = fields.Nested(
        NewAnswerSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Answer to a treaty. The message goes to the seats of its conversation."},
    )


class TreatyKindsArgs(LangArgs):
    to = fields.String(
        load_default="",
        validate=FullMatch(r"^([0-9]{1,2}(,[0-9]{1,2}){0,98})?$"),
        metadata={"description": "Seats to which you would propose it. Empty: the table.", "examples": ["2,3"]},
    )


class ReadMarkSchema(RequestSchema):
    conversation = word_field(_CONVERSATION, required=True, metadata=_ID)
    upto = StrictInt(required=True, validate=range_check(0, MAX_INT), metadata=_ENTRY)


class MuteSchema(RequestSchema):
    conversation = word_field(_CONVERSATION, required=True, metadata=_ID)
    muted = StrictBool(required=True)


class MessagesArgs(WaitArgs, LangArgs):
    conversation = word_field(_CONVERSATION, load_default="", metadata=_ID)
    after = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Last place received."})
    before = QueryInt(
        load_default=0,
        validate=range_check(0, MAX_INT),
        metadata={
            "description": "Instead of `after`: the last messages before this place; 9007199254740991: the last."
        },
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class NewDisclosureSchema(RequestSchema):
    entries = BoundedList(
        StrictInt(validate=range_check(1, MAX_INT)),
        1,
        MOST_ENTRIES,
        required=True,
        metadata={"description": "Places of the messages in your mailbox."},
    )
    to = choice_field("table", "officers", required=True)


class NewMessageReportSchema(RequestSchema):
    entries = BoundedList(
        StrictInt(validate=range_check(1, MAX_INT)),
        1,
        MOST_REPORTED,
        required=True,
        metadata={"description": "Places of the messages in your mailbox, with those that explain them."},
    )
    said = VisibleText(500, "What is wrong with them.", "He threatens me.", required=True)
    to = choice_field(
        "officers",
        "moderators",
        load_default="officers",
        metadata={"description": "Tables without officers who have no stake in the game report to the moderators."},
    )


class MessageReportOutcomeSchema(RequestSchema):
    outcome = VisibleText(500, "The result. The report's author can read it.", "The player was warned.", required=True)
    erase = StrictBool(
        load_default=False, metadata={"description": "Erase the texts of the reported messages, for everybody."}
    )


class NewSilenceSchema(RequestSchema):
    hours = StrictInt(required=True, validate=range_check(1, MOST_DAYS * 24), metadata={"description": "Its length."})
    reason = VisibleText(500, "Everybody who reads the talk of the table reads it.", "Insults.", required=True)


class NoteArgs(RequestSchema):
    place = word_field(r"^[A-Za-z0-9_:-]{1,60}$", load_default="", metadata={"description": "A region; empty: all."})


class NoteWishSchema(RequestSchema):
    place = word_field(
        r"^[A-Za-z0-9_:-]{0,60}$", load_default="", metadata={"description": "A region; empty: the whole table."}
    )
    text = _text_field("At most 2,000 characters; empty deletes the note.")

"""Schemas of query parameters and request headers."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.schemas.request_bodies import WAIT
from api.schemas.request_fields import LONGER, In, QueryInt, choice_field, range_check, word_field
from domain.kernel.game.deadlines import LONGEST
from domain.kernel.text.message_catalog import LANGUAGES
from domain.types import MAX_INT


class LangArgs(In):
    lang = choice_field(*LANGUAGES, metadata={"description": "Else Accept-Language decides."})


class WaitArgs(In):
    wait = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata=WAIT)


class ProofArgs(WaitArgs):
    since = QueryInt(validate=range_check(1, MAX_INT), metadata={"description": "The size of a head read before."})


class BoardArgs(WaitArgs):
    version = QueryInt(
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "The board as it was after that version of the game."},
    )


class PartsArgs(BoardArgs):
    members = word_field(
        r"^[a-z_]{1,40}(\.[A-Za-z0-9_:-]{1,60}){0,8}(,[a-z_]{1,40}(\.[A-Za-z0-9_:-]{1,60}){0,8}){0,19}$",
        data_key="fields",
        required=True,
        metadata={
            "description": "Up to twenty members, with commas between; a member of a member, or a place in a list, "
            "stands after a point.",
            "examples": ["decisions,public.regions.india,seats.0"],
        },
    )


class PageArgs(WaitArgs):
    after = QueryInt(load_default=0, validate=range_check(0, 2**31 - 1), metadata={"description": "The last one seen."})
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class TimelineArgs(PageArgs):
    lang = choice_field(*LANGUAGES)


class DigestArgs(WaitArgs):
    after = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Version; 0 for all."})
    lang = choice_field(*LANGUAGES)


class LobbyArgs(In):
    status = choice_field("open", "running", "over", "closed", load_default="")
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    free = choice_field("0", "1", load_default="0", metadata={"description": "1: only tables with a seat to take."})
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class MoveArgs(In):
    dry_run = choice_field("0", "1", load_default="0", metadata={"description": "1: nothing is stored or drawn."})


class StreamArgs(In):
    ticket = fields.String(load_default="", metadata={"description": "For clients that cannot send a header."})
    version = QueryInt(
        data_key="from",
        load_default=0,
        validate=range_check(0, 999_999_999),
        metadata={"description": "The version up to which the client has everything; `Last-Event-ID` comes before it."},
    )
    deltas = choice_field(
        "0",
        "1",
        load_default="0",
        metadata={"description": "1: boards after the first as `patch`, where that is less."},
    )


class TableArgs(In):
    game = word_field(
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        metadata={"description": "At which table: an account says so; the token of a seat or a director knows it."},
    )


class KeyHeaders(Schema):
    key = word_field(
        r"^[!-~]{8,128}$",
        data_key="Idempotency-Key",
        load_default="",
        metadata={
            "description": "The same key with the same request gives the same answer, for ever.",
            "examples": ["move-7-of-anne"],
        },
    )


class NewHeaders(Schema):
    key = word_field(
        r"^[!-~]{32,128}$",
        data_key="Idempotency-Key",
        load_default="",
        metadata={
            "description": "At least 32 random characters, since it stands for who asks: a repetition gets the same "
            "answer, with the token.",
            "examples": ["6f1c2b7e0d9a4853b1e7c2f4a8d05b96"],
        },
    )


class MoveHeaders(KeyHeaders):
    match = word_field(
        r'^"[0-9]{1,9}"$',
        data_key="If-Match",
        load_default="",
        metadata={"description": "The version of the game that was seen.", "examples": ['"12"']},
    )


class StreamHeaders(Schema):
    last = fields.String(
        data_key="Last-Event-ID",
        load_default="",
        metadata={"description": "The last id of the stream before; anything else starts anew."},
    )


class ManyHeaders(NewHeaders):
    key = word_field(
        r"^[!-~]{32,128}$",
        data_key="Idempotency-Key",
        required=True,
        metadata={
            "description": "At least 32 random characters: a repetition gets the same answer, and opens the rest.",
            "examples": ["6f1c2b7e0d9a4853b1e7c2f4a8d05b96"],
        },
    )


class ExportsArgs(In):
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    player = word_field(r"^[A-Za-z0-9_-]{1,80}$", load_default="")
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Of the page before, in `Link`."}
    )
    limit = QueryInt(load_default=10, validate=range_check(1, 50))


class LeaveArgs(In):
    hold = QueryInt(
        validate=range_check(0, LONGEST),
        metadata={
            "description": "For how many seconds the seat is kept for a substitute: as long as the table has agreed, "
            "unless a director says longer, or this is less."
        },
    )


class PlainPageArgs(In):
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class TheirGamesArgs(PlainPageArgs):
    status = choice_field("open", "running", "over", "closed", load_default="")


class ResultsArgs(In):
    cursor = word_field(
        r"^[0-9]{1,16}\.[0-9a-f-]{36}\.[0-9]{1,2}$",
        load_default="",
        metadata={"description": "Of the page before, in `next`."},
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class MineArgs(In):
    status = choice_field("open", "running", "over", "closed", load_default="")
    turn = choice_field("mine", "all", load_default="all", metadata={"description": "mine: where one owes a decision."})
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class ChoicesArgs(LangArgs):
    all = word_field(
        "^[01]$",
        load_default="0",
        metadata={"description": "1: every move that begins with the picks, not a question."},
    )
    limit = QueryInt(
        load_default=100, validate=range_check(1, 1000), metadata={"description": "With `all`: so many moves at most."}
    )


class ChallengeArgs(In):
    to = fields.String(
        required=True,
        validate=validate.Length(max=200, error=LONGER),
        metadata={"description": "The name or player's id that was asked."},
    )

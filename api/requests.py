"""The shapes of requests: bodies, queries and headers. Nothing unknown passes."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate, validates_schema

from api.shapes import Shaped, ref
from api.visible import visible
from domain.bots import BOTS
from domain.ids import MAX_INT, Doc, Json
from domain.kernel.clock import LONGEST, LONGEST_DELAY, MOST_DAYS
from domain.kernel.texts import LANGUAGES, Message

# What is published of `visible`: no lookahead and nothing beyond U+FFFF, which not every language's patterns can say.
_SEEN = r"[^\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
_SEEN += r"\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"
_SEEN += r"\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
PUBLISHED = f"^{_SEEN} ]{_SEEN}]*$"

AMONG, BETWEEN = Message("Must be one of: {choices}."), Message("Must be from {min} to {max}.")
LENGTH, LONGER = Message("Length must be between {min} and {max}."), Message("Longer than {max} characters.")
"""What the library's validators say; they fill in the members."""


class Pattern(validate.Regexp):
    """The whole string matches (a `$` alone lets a last newline through)."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._strict = re.compile(pattern)

    def __call__(self, value: Any) -> Any:
        if self._strict.fullmatch(value) is None:
            raise ValidationError("Does not match the pattern.")
        return value


class Int(fields.Integer):
    """A JSON integer: not "3", not 3.0, not true."""

    def _validated(self, value: object) -> int:
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class Bool(fields.Boolean):
    """true or false: not 1, not "yes"."""

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if type(value) is not bool:
            raise self.make_error("invalid", input=value)
        return value


class QueryInt(fields.Integer):
    """An integer in a query: digits alone."""

    def _validated(self, value: object) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,16}", value, re.ASCII):
            raise self.make_error("invalid", input=value)
        return int(value)


class Items(fields.List[Any]):
    """A list whose length is checked before its items are looked at."""

    def __init__(self, item: fields.Field[Any], lo: int, hi: int, **more: Any) -> None:
        super().__init__(item, validate=validate.Length(lo, hi, error=LENGTH), **more)

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if isinstance(value, list):
            self._validate(value)
        return super()._deserialize(value, attr, data, **more)


class Members(fields.Dict):
    """An object with names of its own, few enough to be looked at."""

    def __init__(self, hi: int, said: str = "", **more: Any) -> None:
        values = fields.Raw(allow_none=True)
        told = {"maxProperties": hi} | ({"description": said} if said else {})
        super().__init__(keys=fields.String(), values=values, metadata=told, **more)
        self._hi = hi

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if isinstance(value, dict) and len(value) > self._hi:
            raise ValidationError(Message("More than {most} members.", most=self._hi))
        return super()._deserialize(value, attr, data, **more)  # type: ignore[no-untyped-call] # as the library has it


def _word(pattern: str, **more: Any) -> fields.String:
    return fields.String(validate=Pattern(pattern), **more)


class Seen(fields.String):
    """Text that people see, in its composed form; `said` describes it."""

    def __init__(self, most: int, said: str, example: str, **more: Any) -> None:
        told = f"{said} Nothing invisible, and nothing that turns the direction of the text."
        shown = {"description": told, "minLength": 1, "maxLength": most, "examples": [example]}
        super().__init__(validate=Pattern(PUBLISHED), metadata=shown, **more)
        self._most = most

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> str:
        return visible(super()._deserialize(value, attr, data, **more), self._most)


def _name(said: str) -> Seen:
    return Seen(40, f"{said} Erasable. Does not begin with a combining mark.", "Anne", load_default="")


def _among(*values: str, **more: Any) -> fields.String:
    return fields.String(validate=validate.OneOf(values, error=AMONG), **more)


def _between(lo: int, hi: int) -> validate.Range:
    return validate.Range(min=lo, max=hi, error=BETWEEN)


class In(Schema):
    """A request: nothing unknown passes."""

    class Meta:
        unknown = RAISE


# --- queries and headers ---------------------------------------------------------------------------------------

WAIT = {"description": "Answer only once the views have read this position of the log (`Annals-Position`)."}


class LangArgs(In):
    lang = _among(*LANGUAGES, metadata={"description": "Else Accept-Language decides."})


class WaitArgs(In):
    wait = QueryInt(load_default=0, validate=_between(0, MAX_INT), metadata=WAIT)


class ProofArgs(WaitArgs):
    since = QueryInt(validate=_between(1, MAX_INT), metadata={"description": "The size of a head read before."})


class BoardArgs(WaitArgs):
    version = QueryInt(
        validate=_between(1, 2**31 - 1),
        metadata={"description": "The board as it was after that version of the game."},
    )


class PartsArgs(BoardArgs):
    members = _word(
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
    after = QueryInt(load_default=0, validate=_between(0, 2**31 - 1), metadata={"description": "The last one seen."})
    limit = QueryInt(load_default=50, validate=_between(1, 200))


class TimelineArgs(PageArgs):
    lang = _among(*LANGUAGES)


class DigestArgs(WaitArgs):
    after = QueryInt(load_default=0, validate=_between(0, MAX_INT), metadata={"description": "Version; 0 for all."})
    lang = _among(*LANGUAGES)


class LobbyArgs(In):
    status = _among("open", "running", "over", "closed", load_default="")
    ruleset = _word(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    free = _among("0", "1", load_default="0", metadata={"description": "1: only tables with a seat to take."})
    cursor = QueryInt(
        load_default=0, validate=_between(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=_between(1, 200))


class MoveArgs(In):
    dry_run = _among("0", "1", load_default="0", metadata={"description": "1: nothing is stored or drawn."})


class StreamArgs(In):
    ticket = fields.String(load_default="", metadata={"description": "For clients that cannot send a header."})
    version = QueryInt(
        data_key="from",
        load_default=0,
        validate=_between(0, 999_999_999),
        metadata={"description": "The version up to which the client has everything; `Last-Event-ID` comes before it."},
    )
    deltas = _among(
        "0",
        "1",
        load_default="0",
        metadata={"description": "1: boards after the first as `patch`, where that is less."},
    )


class TableArgs(In):
    game = _word(
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        metadata={"description": "At which table: an account says so; the token of a seat or a director knows it."},
    )


class KeyHeaders(Schema):
    key = _word(
        r"^[!-~]{8,128}$",
        data_key="Idempotency-Key",
        load_default="",
        metadata={
            "description": "The same key with the same request gives the same answer, for ever.",
            "examples": ["move-7-of-anne"],
        },
    )


class NewHeaders(Schema):
    key = _word(
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
    match = _word(
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


# --- bodies ----------------------------------------------------------------------------------------------------

PACE = {
    "description": "A preset of the ruleset, or seconds for each class of deadlines, of grace, and of a bank for each "
    "seat, and its days of vacation.",
    "anyOf": [
        {"type": "string"},
        {"type": "null"},
        {
            "type": "object",
            "properties": {
                "seconds": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "grace": {"type": "integer", "minimum": 0, "maximum": LONGEST},
                "bank": {"type": "integer", "minimum": 0, "maximum": LONGEST},
                "vacation": {"type": "integer", "minimum": 0, "maximum": MOST_DAYS},
            },
            "required": ["seconds"],
            "additionalProperties": False,
        },
    ],
}


class NewGameSchema(In):
    ruleset = _word(
        r"^[a-z][a-z0-9_]{0,60}(@[1-9][0-9]{0,5})?$",
        required=True,
        metadata={"description": "`orders@1`; without a version the newest.", "examples": ["struggle_of_empires@1"]},
    )
    seats = Int(required=True, validate=_between(1, 100))
    options = Members(100, load_default=dict)
    pace = fields.Raw(load_default=None, allow_none=True, metadata=PACE)
    undo = _among("free", "consent", "director", "none", load_default="consent")
    listing = _among("public", "unlisted", "invitation", load_default="public")
    hold = Int(
        load_default=None,
        allow_none=True,
        validate=_between(0, LONGEST),
        metadata={
            "description": "For how many seconds a seat that is left is kept for a substitute, without a default being "
            "played; null: the longest time of the pace, an hour without one."
        },
    )
    several = Bool(load_default=False, metadata={"description": "Whether one person may take several seats."})
    delay = Int(
        load_default=0,
        validate=_between(0, LONGEST_DELAY),
        metadata={
            "description": "By how many seconds later all see what is played who neither have a seat, direct nor "
            "moderate: boards, records, listings, results, streams. Until the start all is shown at once."
        },
    )
    name = _name("What the director is called.")


MOST_AT_ONCE = 50
"""Tables that one request opens."""


class NewGamesSchema(In):
    table = fields.Nested(NewGameSchema, required=True, metadata={"description": "What all of them are opened with."})
    count = Int(required=True, validate=_between(1, MOST_AT_ONCE))


class ManyHeaders(NewHeaders):
    key = _word(
        r"^[!-~]{32,128}$",
        data_key="Idempotency-Key",
        required=True,
        metadata={
            "description": "At least 32 random characters: a repetition gets the same answer, and opens the rest.",
            "examples": ["6f1c2b7e0d9a4853b1e7c2f4a8d05b96"],
        },
    )


class ExportsArgs(In):
    ruleset = _word(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    player = _word(r"^[A-Za-z0-9_-]{1,80}$", load_default="")
    cursor = QueryInt(
        load_default=0, validate=_between(0, MAX_INT), metadata={"description": "Of the page before, in `Link`."}
    )
    limit = QueryInt(load_default=10, validate=_between(1, 50))


class LeaveArgs(In):
    hold = QueryInt(
        validate=_between(0, LONGEST),
        metadata={
            "description": "For how many seconds the seat is kept for a substitute: as long as the table has agreed, "
            "unless a director says longer, or this is less."
        },
    )


class HoldSchema(In):
    seconds = Int(
        required=True, validate=_between(0, LONGEST), metadata={"description": "From now on; 0 ends the hold."}
    )


class PlainPageArgs(In):
    cursor = QueryInt(
        load_default=0, validate=_between(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=_between(1, 200))


class TheirGamesArgs(PlainPageArgs):
    status = _among("open", "running", "over", "closed", load_default="")


class ResultsArgs(In):
    cursor = _word(
        r"^[0-9]{1,16}\.[0-9a-f-]{36}\.[0-9]{1,2}$",
        load_default="",
        metadata={"description": "Of the page before, in `next`."},
    )
    limit = QueryInt(load_default=50, validate=_between(1, 200))


class MineArgs(In):
    status = _among("open", "running", "over", "closed", load_default="")
    turn = _among("mine", "all", load_default="all", metadata={"description": "mine: where one owes a decision."})
    cursor = QueryInt(
        load_default=0, validate=_between(0, MAX_INT), metadata={"description": "Of the page before, in `next`."}
    )
    limit = QueryInt(load_default=50, validate=_between(1, 200))


class JoinSchema(In):
    seat = Int(validate=_between(0, 99), metadata={"description": "Any free one unless named."})
    name = _name("What the player is called.")
    nonce_hash = _word(
        r"^[0-9a-f]{64}$", load_default="", metadata={"description": "SHA-256 of the nonce that will be shown."}
    )
    invitation = fields.String(load_default="", validate=validate.Length(max=64, error=LONGER))
    bot = _among(
        *sorted(BOTS),
        load_default="",
        metadata={"description": "Of a director: a bot of the service sits there, which sees what the seat may see."},
    )


class VacationSchema(In):
    days = Int(required=True, validate=_between(1, MOST_DAYS), metadata={"description": "Whole days, from now on."})


class NonceSchema(In):
    nonce = _word(r"^([0-9a-f]{2}){16,64}$", required=True)


class StartSchema(In):
    """Nothing to say."""


class MovesSchema(In):
    """Either `move` or `moves`."""

    move = Shaped(ref("Move"), metadata={"description": "One move."})
    moves = Items(Shaped(ref("Move")), 1, 50, metadata={"description": "An atomic list: all or nothing."})
    decision = _word(
        r"^[0-9]{1,9}-[0-9]{1,9}$",
        load_default=None,
        metadata={
            "description": "The id of the decision that is answered; the move counts while it is open.",
            "examples": ["0-7"],
        },
    )
    seat = Int(validate=_between(0, 99), metadata={"description": "For whom a director moves."})

    @validates_schema
    def _one_or_many(self, data: Doc, **_: object) -> None:
        if ("move" in data) == ("moves" in data):
            raise ValidationError("Either `move` or `moves` is expected.")


class PicksSchema(In):
    picks = Items(
        fields.Raw(allow_none=True),
        0,
        2000,
        load_default=list,
        metadata={"description": "What was picked so far, in order.", "examples": [[], ["attack", "india"]]},
    )
    decision = _word(r"^[0-9]{1,9}-[0-9]{1,9}$", load_default=None)
    seat = Int(
        validate=_between(0, 99),
        metadata={"description": "For whom a director asks: a seat without a player, or one that is late."},
    )


class ChoicesArgs(LangArgs):
    all = _word(
        "^[01]$",
        load_default="0",
        metadata={"description": "1: every move that begins with the picks, not a question."},
    )
    limit = QueryInt(
        load_default=100, validate=_between(1, 1000), metadata={"description": "With `all`: so many moves at most."}
    )


class ExtensionSchema(In):
    decision = _word(r"^[0-9]{1,9}-[0-9]{1,9}$", required=True)
    seconds = Int(
        required=True,
        validate=_between(-LONGEST, LONGEST),
        metadata={"description": "Later, or with a minus sooner."},
    )


class CardSchema(In):
    title = Seen(80, "What the table is called; empty for nothing.", "Sunday evening", load_default="")
    note = Seen(1000, "What people should know of it.", "One move a day. Beginners are welcome.", load_default="")


class ChallengeSchema(In):
    name = Seen(40, "What the account is called that is asked.", "Anne", load_default="")
    player = _word(
        r"^[A-Za-z0-9_-]{1,80}$", load_default="", metadata={"description": "Or the player's id, also a guest's."}
    )
    seat = Int(
        load_default=None,
        allow_none=True,
        validate=_between(0, 99),
        metadata={"description": "A seat that is kept for the person; null: any that is free."},
    )
    days = Int(load_default=7, validate=_between(1, 30), metadata={"description": "For so long it stands."})


class ChallengeArgs(In):
    to = fields.String(
        required=True,
        validate=validate.Length(max=200, error=LONGER),
        metadata={"description": "The name or player's id that was asked."},
    )


class RematchSchema(In):
    name = _name("What the director is called.")


class CloseSchema(In):
    reason = _among("abandoned", "void", required=True)


class ConsentSchema(In):
    agrees = Bool(required=True)


class RewindSchema(In):
    to = Int(required=True, validate=_between(1, 2**31 - 1), metadata={"description": "A version that counts."})
    reason = Seen(500, "The director's reason, kept erasable, never in a record.", "A slip.", load_default="")
    fresh = Bool(
        load_default=False,
        metadata={"description": "The director's: what nobody has seen is dealt anew."},
    )

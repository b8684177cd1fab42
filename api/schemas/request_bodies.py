"""Schemas of request bodies."""

from __future__ import annotations

from marshmallow import ValidationError, fields, validate, validates_schema

from api.schemas.request_fields import (
    LONGER,
    Bool,
    In,
    Int,
    Items,
    Members,
    Seen,
    choice_field,
    name_field,
    range_check,
    word_field,
)
from api.schemas.schema_builder import Shaped, ref
from domain.bots import BOTS
from domain.kernel.game.deadlines import LONGEST, LONGEST_DELAY, MOST_DAYS
from domain.types import Doc

WAIT = {"description": "Answer only once the views have read this position of the log (`Annals-Position`)."}

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
    ruleset = word_field(
        r"^[a-z][a-z0-9_]{0,60}(@[1-9][0-9]{0,5})?$",
        required=True,
        metadata={"description": "`orders@1`; without a version the newest.", "examples": ["struggle_of_empires@1"]},
    )
    seats = Int(required=True, validate=range_check(1, 100))
    options = Members(100, load_default=dict)
    pace = fields.Raw(load_default=None, allow_none=True, metadata=PACE)
    undo = choice_field("free", "consent", "director", "none", load_default="consent")
    listing = choice_field("public", "unlisted", "invitation", load_default="public")
    hold = Int(
        load_default=None,
        allow_none=True,
        validate=range_check(0, LONGEST),
        metadata={
            "description": "For how many seconds a seat that is left is kept for a substitute, without a default being "
            "played; null: the longest time of the pace, an hour without one."
        },
    )
    several = Bool(load_default=False, metadata={"description": "Whether one person may take several seats."})
    delay = Int(
        load_default=0,
        validate=range_check(0, LONGEST_DELAY),
        metadata={
            "description": "By how many seconds later all see what is played who neither have a seat, direct nor "
            "moderate: boards, records, listings, results, streams. Until the start all is shown at once."
        },
    )
    name = name_field("What the director is called.")


MOST_AT_ONCE = 50
"""Tables that one request opens."""


class NewGamesSchema(In):
    table = fields.Nested(NewGameSchema, required=True, metadata={"description": "What all of them are opened with."})
    count = Int(required=True, validate=range_check(1, MOST_AT_ONCE))


class HoldSchema(In):
    seconds = Int(
        required=True, validate=range_check(0, LONGEST), metadata={"description": "From now on; 0 ends the hold."}
    )


class JoinSchema(In):
    seat = Int(validate=range_check(0, 99), metadata={"description": "Any free one unless named."})
    name = name_field("What the player is called.")
    nonce_hash = word_field(
        r"^[0-9a-f]{64}$", load_default="", metadata={"description": "SHA-256 of the nonce that will be shown."}
    )
    invitation = fields.String(load_default="", validate=validate.Length(max=64, error=LONGER))
    bot = choice_field(
        *sorted(BOTS),
        load_default="",
        metadata={"description": "Of a director: a bot of the service sits there, which sees what the seat may see."},
    )


class VacationSchema(In):
    days = Int(required=True, validate=range_check(1, MOST_DAYS), metadata={"description": "Whole days, from now on."})


class NonceSchema(In):
    nonce = word_field(r"^([0-9a-f]{2}){16,64}$", required=True)


class StartSchema(In):
    """Nothing to say."""


class MovesSchema(In):
    """Either `move` or `moves`."""

    move = Shaped(ref("Move"), metadata={"description": "One move."})
    moves = Items(Shaped(ref("Move")), 1, 50, metadata={"description": "An atomic list: all or nothing."})
    decision = word_field(
        r"^[0-9]{1,9}-[0-9]{1,9}$",
        load_default=None,
        metadata={
            "description": "The id of the decision that is answered; the move counts while it is open.",
            "examples": ["0-7"],
        },
    )
    seat = Int(validate=range_check(0, 99), metadata={"description": "For whom a director moves."})

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
    decision = word_field(r"^[0-9]{1,9}-[0-9]{1,9}$", load_default=None)
    seat = Int(
        validate=range_check(0, 99),
        metadata={"description": "For whom a director asks: a seat without a player, or one that is late."},
    )


class ExtensionSchema(In):
    decision = word_field(r"^[0-9]{1,9}-[0-9]{1,9}$", required=True)
    seconds = Int(
        required=True,
        validate=range_check(-LONGEST, LONGEST),
        metadata={"description": "Later, or with a minus sooner."},
    )


class CardSchema(In):
    title = Seen(80, "What the table is called; empty for nothing.", "Sunday evening", load_default="")
    note = Seen(1000, "What people should know of it.", "One move a day. Beginners are welcome.", load_default="")


class ChallengeSchema(In):
    name = Seen(40, "What the account is called that is asked.", "Anne", load_default="")
    player = word_field(
        r"^[A-Za-z0-9_-]{1,80}$", load_default="", metadata={"description": "Or the player's id, also a guest's."}
    )
    seat = Int(
        load_default=None,
        allow_none=True,
        validate=range_check(0, 99),
        metadata={"description": "A seat that is kept for the person; null: any that is free."},
    )
    days = Int(load_default=7, validate=range_check(1, 30), metadata={"description": "For so long it stands."})


class RematchSchema(In):
    name = name_field("What the director is called.")


class CloseSchema(In):
    reason = choice_field("abandoned", "void", required=True)


class ConsentSchema(In):
    agrees = Bool(required=True)


class RewindSchema(In):
    to = Int(required=True, validate=range_check(1, 2**31 - 1), metadata={"description": "A version that counts."})
    reason = Seen(500, "The director's reason, kept erasable, never in a record.", "A slip.", load_default="")
    fresh = Bool(
        load_default=False,
        metadata={"description": "The director's: what nobody has seen is dealt anew."},
    )

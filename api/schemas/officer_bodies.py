"""Schemas of request bodies of officers: time, seats, pauses, rulings and offices; and of appeals against them."""

from __future__ import annotations

from typing import get_args

from marshmallow import ValidationError, fields, validates_schema

from api.schemas.request_bodies import GAME_ID, LAST_MS, MOST_AT_ONCE, UNTIL, AmountSchema, reason_field, until_field
from api.schemas.request_fields import (
    BoundedList,
    RequestSchema,
    StrictBool,
    StrictInt,
    VisibleText,
    choice_field,
    range_check,
    word_field,
)
from domain.kernel.game.appeals import Outcome
from domain.kernel.game.deadlines import MAX_SECONDS
from domain.kernel.game.officers import OFFICES
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.text.message_catalog import Message
from domain.types import Doc


class HoldSchema(AmountSchema):
    """Either `seconds` or `until`."""

    reason = reason_field()
    until = until_field("End of the hold.")
    seconds = StrictInt(
        validate=range_check(0, MAX_SECONDS),
        metadata={"description": "Seconds from now. 0 ends the hold."},
    )


class RemovalSchema(RequestSchema):
    may_be_left_out = True
    reason = reason_field()
    hold = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(0, MAX_SECONDS),
        metadata={"description": "Seconds to hold the seat for a substitute. null: the table's setting."},
    )


class ResumptionSchema(RequestSchema):
    may_be_left_out = True
    reason = reason_field()


class PauseSchema(ResumptionSchema):
    until = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, LAST_MS),
        metadata={"description": f"End of the pause; null: until somebody resumes the game. {UNTIL}"},
    )
    moves = StrictBool(load_default=False, metadata={"description": "True if seats may move meanwhile."})


class ManyResumptionsSchema(ResumptionSchema):
    games = BoundedList(
        word_field(GAME_ID),
        1,
        500,
        load_default=None,
        metadata={"description": "The tables. Without it, all running tables that you direct."},
    )
    after = word_field(rf"{GAME_ID}|^$", load_default="", metadata={"description": "Only tables with a higher id."})


class ManyPausesSchema(ManyResumptionsSchema, PauseSchema):
    """A pause, and its tables."""


class ExtensionSchema(AmountSchema):
    """Either `seconds` or `until`."""

    decision = word_field(r"^[0-9]{1,9}-[0-9]{1,9}$", required=True)
    until = until_field("The new deadline.")
    seconds = StrictInt(
        validate=range_check(-MAX_SECONDS, MAX_SECONDS),
        metadata={"description": "Seconds to add; negative: bring the deadline forward."},
    )
    reason = reason_field()


class AppealSchema(RequestSchema):
    version = StrictInt(
        required=True,
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version of the contested decision."},
    )
    reason = VisibleText(500, "The reason, shown in the timeline and erasable.", "I was not asked.", required=True)


class AnswerSchema(RequestSchema):
    outcome = choice_field(*get_args(Outcome), required=True)
    reason = VisibleText(500, "The reason, shown in the timeline and erasable.", "Rule 4.2 allows it.", required=True)


MAX_PENALTY = 1_000_000
"""Most penalty points of a seat."""


class CloseSchema(RequestSchema):
    reason = choice_field(
        "abandoned",
        "void",
        *ENDINGS,
        required=True,
        metadata={
            "description": "`abandoned`, `void`: closed now, unfinished. The others are rulings, and can be withdrawn "
            "for a day. `adjourned`: ranked as it stands. `adjudicated`: with these `places`. `forfeited`: `forfeits` "
            "rank last. `annulled`: no result."
        },
    )
    places = BoundedList(
        StrictInt(validate=range_check(1, 100)),
        1,
        100,
        metadata={"description": "For `adjudicated`: the place of each seat. Ties share the better place."},
    )
    forfeits = BoundedList(
        StrictInt(validate=range_check(0, 99)), 1, 100, metadata={"description": "For `forfeited`: the seats."}
    )
    penalties = fields.Dict(
        keys=word_field(r"^(0|[1-9][0-9]?)$"),
        values=StrictInt(validate=range_check(-MAX_PENALTY, MAX_PENALTY)),
        metadata={"description": "For rulings: seat -> penalty points, apart from the points of the game."},
    )
    explanation = VisibleText(
        500, "The reason in your words, shown in the timeline and erasable.", "Too few players.", load_default=""
    )

    @validates_schema(skip_on_field_errors=True)
    def check_members(self, data: Doc, **_: object) -> None:
        wanted = {"places": data["reason"] == "adjudicated", "forfeits": data["reason"] == "forfeited"}
        for name, is_wanted in wanted.items():
            if is_wanted != (name in data):
                problem = Message("Missing for this act.") if is_wanted else Message("Not a member of this act.")
                raise ValidationError(problem, name)
        if "penalties" in data and data["reason"] not in ENDINGS:
            raise ValidationError(Message("Not a member of this act."), "penalties")


class NewOfficerSchema(RequestSchema):
    name = VisibleText(40, "Account name of the person.", "Anne", load_default="")
    player = word_field(r"^[A-Za-z0-9_-]{1,80}$", load_default="", metadata={"description": "Or the player id."})
    role = choice_field(
        *OFFICES,
        required=True,
        metadata={
            "description": "`arbiter`: rulings alone. `deputy`: also seats and the start. `director`: also the end of "
            "the game, deputies and arbiters. `owner`: hands the table over."
        },
    )
    reason = reason_field()


class NewOfficersSchema(NewOfficerSchema):
    games = BoundedList(
        word_field(GAME_ID),
        1,
        MOST_AT_ONCE,
        required=True,
        metadata={"description": "The tables."},
    )


class OfficerRemovalSchema(RequestSchema):
    may_be_left_out = True
    reason = reason_field()

"""Schemas of standing orders: requests, and documents of responses."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from api.schemas.request_fields import (
    BoundedDict,
    BoundedList,
    RequestSchema,
    StrictBool,
    StrictInt,
    choice_field,
    range_check,
    word_field,
)
from domain.kernel.rules.order_kinds import ATTACKED
from domain.standing_orders.order_rules import MOST_TIMES
from domain.types import Doc, Json


class NewOrderSchema(RequestSchema):
    kind = word_field(r"^[a-z_]{1,40}$", required=True, metadata={"description": "Kind of `GET .../standing-orders`."})
    values = BoundedDict(8, "Value of each field.", load_default=dict)
    times = StrictInt(
        load_default=1,
        validate=range_check(1, MOST_TIMES),
        metadata={"description": "Decisions that it answers at most."},
    )
    turn = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, 1_000),
        metadata={"description": "Last turn in which it answers. null: the present one."},
    )
    chance = StrictBool(
        load_default=False,
        metadata={
            "description": "Consent to moves that draw, and to answers in secret decisions, whose last one may draw. "
            "Without it the order ends there, and the decision is yours."
        },
    )
    stops = BoundedList(
        choice_field(ATTACKED),
        0,
        1,
        load_default=None,
        allow_none=True,
        metadata={"description": "What ends it before its time. null: what the kind names."},
    )


class OrderOptionDoc(TypedDict):
    value: Json
    text: Annotated[str, "The value in the requested language."]


class OrderFieldDoc(TypedDict):
    field: str
    kind: Literal["seat", "amount", "word", "id"]
    text: Annotated[str, "The question in the requested language."]
    options: Annotated[list[OrderOptionDoc], "Empty for a number from `lo` to `hi`."]
    lo: int | None
    hi: int | None


class OrderKindDoc(TypedDict):
    kind: str
    text: Annotated[str, "Its name in the requested language."]
    decisions: Annotated[list[str], "Kinds of decisions that it answers."]
    fields: list[OrderFieldDoc]
    stops: Annotated[list[str], "What ends it before its time, unless the order says otherwise."]


class OrderActDoc(TypedDict):
    version: Annotated[int, "Version of the move."]
    decision: str
    at: Annotated[int, "Time, ms."]


class StandingOrderDoc(TypedDict):
    order: Annotated[str, "Its id."]
    kind: str
    values: Annotated[Doc, "Value of each field."]
    text: Annotated[str, "The order as a sentence in the requested language."]
    times: Annotated[int, "Decisions that it answers at most."]
    turn: Annotated[int, "Last turn in which it answers."]
    chance: bool
    stops: list[str]
    at: Annotated[int, "Time at which you gave it, ms."]
    state: Literal["stands", "ended"]
    reason: Annotated[str, "Why it has ended; empty while it stands."]
    told: Annotated[str, "The reason as a sentence in the requested language; empty while it stands."]
    ended: Annotated[int | None, "Time of its end, ms."]
    acts: Annotated[list[OrderActDoc], "The moves that it has made."]


class ShownActDoc(TypedDict):
    seat: int
    version: int


class StandingOrdersDoc(TypedDict):
    standing_orders: Annotated[Literal["allowed", "refused", "shown"], "The term of the table."]
    seat: Annotated[int | None, "Your seat."]
    turn: Annotated[int, "The present turn: the first that an order may name."]
    last_turn: Annotated[int, "The last turn that it may name."]
    kinds: Annotated[list[OrderKindDoc], "What you may order."]
    items: Annotated[list[StandingOrderDoc], "Your orders: those that stand, then the ended ones."]
    shown: Annotated[list[ShownActDoc], "Moves made by orders, at a table that shows them to everybody."]

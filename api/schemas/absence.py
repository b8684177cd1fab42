"""Schemas of a vacation at all tables."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields

from api.schemas.request_bodies import GAME_ID, until_field
from api.schemas.request_fields import FullMatch, RequestSchema

OUTCOMES = ("taken", "partly", "already", "refused")


class AbsenceSchema(RequestSchema):
    until = until_field("End of the vacation.", required=True)
    after = fields.String(
        load_default="",
        validate=FullMatch(f"{GAME_ID}|"),
        metadata={"description": "`next` of the answer before: the tables after it."},
    )


class AbsenceRefusalDoc(TypedDict):
    code: Annotated[str, "As in a problem."]
    detail: Annotated[str, "In a sentence."]


class SeatAbsenceDoc(TypedDict):
    game: str
    seat: int
    outcome: Annotated[str, OUTCOMES, "`partly`: all days that were left; `already`: a vacation lasts until then."]
    days: Annotated[int, "Days taken by this request."]
    back: Annotated[int | None, "End of the vacation, ms since 1970 UTC; null: none."]
    refusal: AbsenceRefusalDoc | None


class AbsencesDoc(TypedDict):
    items: list[SeatAbsenceDoc]
    next: Annotated[str | None, "`after` of the next request; null: all tables are served."]

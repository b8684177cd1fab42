"""Schemas of a vacation at all tables."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.request_bodies import GAME_ID, until_field
from api.schemas.request_fields import FullMatch, RequestSchema
from api.schemas.response_fields import ResponseSchema, one_of, required_int, required_str

OUTCOMES = ("taken", "partly", "already", "refused")


class AbsenceSchema(RequestSchema):
    until = until_field("End of the vacation.", required=True)
    after = fields.String(
        load_default="",
        validate=FullMatch(f"{GAME_ID}|"),
        metadata={"description": "`next` of the answer before: the tables after it."},
    )


class AbsenceRefusalSchema(ResponseSchema):
    code = required_str(metadata={"description": "As in a problem."})
    detail = required_str(metadata={"description": "In a sentence."})


class SeatAbsenceSchema(ResponseSchema):
    game = required_str()
    seat = required_int()
    outcome = one_of(
        *OUTCOMES,
        metadata={"description": "`partly`: all days that were left; `already`: a vacation lasts until then."},
    )
    days = required_int(metadata={"description": "Days taken by this request."})
    back = fields.Integer(
        required=True, allow_none=True, metadata={"description": "End of the vacation, ms since 1970 UTC; null: none."}
    )
    refusal = fields.Nested(AbsenceRefusalSchema, required=True, allow_none=True)


class AbsencesSchema(ResponseSchema):
    items = fields.List(fields.Nested(SeatAbsenceSchema), required=True)
    next = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "`after` of the next request; null: all tables are served."},
    )

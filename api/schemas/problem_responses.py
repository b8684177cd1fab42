"""The schema of problems, and declared documents of their codes and of health checks."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from marshmallow import INCLUDE, Schema, fields

from api.schemas.schema_builder import JsonSchemaField, ref
from domain.kernel.schema.document_members import ProblemCode


class FaultSchema(Schema):
    at = fields.String(required=True, metadata={"description": "A JSON pointer."})
    message = fields.String(required=True)


class FailedCheckSchema(Schema):
    code = JsonSchemaField(ref("ProblemCode"), required=True)
    rule = fields.String(required=True)


class ProblemSchema(Schema):
    class Meta:
        unknown = INCLUDE

    type = fields.String(
        required=True,
        metadata={"description": "URL of the code's description.", "examples": ["/v1/problems/stale_version"]},
    )
    title = fields.String(required=True, metadata={"examples": ["The game has moved on"]})
    status = fields.Integer(required=True, metadata={"examples": [412]})
    code = JsonSchemaField(
        ref("ProblemCode"),
        required=True,
        metadata={"description": "Stable code for programs.", "examples": ["stale_version"]},
    )
    detail = fields.String(metadata={"description": "A sentence in the client's language."})
    instance = fields.String()
    rule = fields.String(metadata={"description": "Rule number on the game's rules page.", "examples": ["SOE-5.2"]})
    figures = fields.Dict(metadata={"description": "Figures of the refused seat."})
    also = fields.List(fields.Nested(FailedCheckSchema), metadata={"description": "Further checks that failed."})
    errors = fields.List(fields.Nested(FaultSchema), metadata={"description": "Invalid parts of the request."})
    version = fields.Integer(metadata={"description": "`stale_version` and `unknown_version`: the newest version."})
    expected = fields.Integer(metadata={"description": "`stale_version`: the version in the request."})
    decision = fields.String(metadata={"description": "`decision_closed`: the decision's id."})
    factors = fields.List(
        fields.String(), metadata={"description": "`second_factor_required`: accepted kinds of second factors."}
    )
    fault = fields.Dict(metadata={"description": "`import_not_proved`: code, version and detail of the first fault."})
    request = fields.String(metadata={"description": "`internal_error`: request id in the log."})
    behind = fields.Integer(metadata={"description": "`not_ready`: records without views yet."})


class CodeDoc(TypedDict):
    code: ProblemCode
    status: int
    title: str
    rules: NotRequired[Annotated[dict[str, str], "Ruleset -> rule number, for codes of rulesets."]]


class StatusDoc(TypedDict):
    status: Literal["ok"]


class ReadyDoc(StatusDoc):
    behind: Annotated[int, "Records without views yet."]
    set_aside: Annotated[int, "Games with a record that could not be projected."]
    redis: Annotated[Literal["up", "away"], "Turns and deadlines continue without it."]
    streams: Annotated[Literal["up", "away"], "The stream process. Boards are readable without it."]
    clock_offset: Annotated[int, "Seconds between the service clock and the most deviating machine clock."]

"""Schemas of problems and of health checks."""

from __future__ import annotations

from marshmallow import INCLUDE, Schema, fields

from api.schemas.response_fields import Out, one_of, required_int, required_str, word_map
from api.schemas.schema_builder import Shaped, ref


class FaultSchema(Schema):
    at = fields.String(required=True, metadata={"description": "A JSON pointer."})
    message = fields.String(required=True)


class FailedCheckSchema(Schema):
    code = Shaped(ref("ProblemCode"), required=True)
    rule = fields.String(required=True)


class ProblemSchema(Schema):
    class Meta:
        unknown = INCLUDE

    type = fields.String(
        required=True,
        metadata={"description": "Where the code is explained.", "examples": ["/v1/problems/stale_version"]},
    )
    title = fields.String(required=True, metadata={"examples": ["The game has moved on"]})
    status = fields.Integer(required=True, metadata={"examples": [412]})
    code = Shaped(
        ref("ProblemCode"),
        required=True,
        metadata={"description": "Stable, for programs.", "examples": ["stale_version"]},
    )
    detail = fields.String(metadata={"description": "A sentence for people, in their language."})
    instance = fields.String()
    rule = fields.String(metadata={"description": "The number on the game's rules page.", "examples": ["SOE-5.2"]})
    figures = fields.Dict(metadata={"description": "The refused seat's own figures."})
    also = fields.List(fields.Nested(FailedCheckSchema), metadata={"description": "Further checks that failed."})
    errors = fields.List(fields.Nested(FaultSchema), metadata={"description": "Where a request does not fit."})
    version = fields.Integer(metadata={"description": "Of `stale_version` and `unknown_version`: the newest one."})
    expected = fields.Integer(metadata={"description": "Of `stale_version`: the one that was named."})
    decision = fields.String(metadata={"description": "Of `decision_closed`."})
    factors = fields.List(
        fields.String(), metadata={"description": "Of `second_factor_required`: kinds of which one must be shown."}
    )
    request = fields.String(metadata={"description": "Of `internal_error`: what the log knows it by."})
    behind = fields.Integer(metadata={"description": "Of `not_ready`: records that no view shows yet."})


class CodeSchema(Out):
    code = Shaped(ref("ProblemCode"), required=True)
    status = required_int()
    title = required_str()
    rules = word_map(metadata={"description": "Ruleset -> rule number, for codes of games."})


class StatusSchema(Out):
    status = one_of("ok")


class ReadySchema(StatusSchema):
    behind = required_int(metadata={"description": "Records that no view shows yet."})
    set_aside = required_int(metadata={"description": "Games of which a record could not be shown."})
    redis = required_str(
        metadata={"enum": ["up", "away"], "description": "Turns and deadlines go on also while it is away."},
    )
    streams = required_str(
        metadata={"enum": ["up", "away"], "description": "The process for streams; boards can be read without it."},
    )
    clock_offset = required_int(
        metadata={"description": "Seconds by which the service is ahead of the machine's clock that is most wrong."}
    )

"""Fields and base classes of response schemas.

Responses are written as they are rendered, never dumped through these schemas, which costs a hundred times
more. A client must expect members that it does not know.
"""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, Schema, fields, validate

from api.schemas.schema_builder import Shaped, ref

STATUSES = ("open", "running", "over", "closed")

AUTHORS = ("seat", "clock", "engine", "director")

LISTINGS = ("public", "unlisted", "invitation")

UNDO_POLICIES = ("free", "consent", "director", "none")

INT, VIEWER = {"type": "integer"}, {"type": ["integer", "string"]}


class Out(Schema):
    """An answer: further members may come."""

    class Meta:
        unknown = EXCLUDE


def required_int(**more: Any) -> fields.Integer:
    return fields.Integer(required=True, **more)


def required_str(**more: Any) -> fields.String:
    return fields.String(required=True, **more)


def one_of(*values: str, required: bool = True, **more: Any) -> fields.String:
    return fields.String(required=required, validate=validate.OneOf(values), **more)


def word_map(**more: Any) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.String(), **more)


def fact_list(**more: Any) -> fields.List[Any]:
    return fields.List(Shaped(ref("Fact")), **more)


class WrittenSchema(Out):
    game = required_str()
    version = required_int(metadata={"description": "The newest version after this request."})
    position = required_int(metadata={"description": "In the log; reads may `wait` for it."})


class PageSchema(Out):
    next = fields.String(required=True, allow_none=True, metadata={"description": "Address of the next page."})

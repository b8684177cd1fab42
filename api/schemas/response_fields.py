"""Fields and base classes of response schemas.

The schemas document responses; routes render JSON directly, since dumping through them costs a hundred times more.
Clients must accept unknown members.
"""

from __future__ import annotations

from typing import Unpack

from marshmallow import EXCLUDE, Schema, fields, validate

from api.schemas.field_options import FieldOptions, ResponseOptions
from api.schemas.schema_builder import JsonSchemaField, ref
from domain.types import Json

STATUSES = ("open", "running", "over", "closed")

AUTHORS = ("seat", "clock", "engine", "director")

LISTINGS = ("public", "unlisted", "invitation")

UNDO_POLICIES = ("free", "consent", "director", "none")

INT, VIEWER = {"type": "integer"}, {"type": ["integer", "string"]}


class ResponseSchema(Schema):
    """Base class of responses. Later releases may add members."""

    class Meta:
        unknown = EXCLUDE


def required_int(**options: Unpack[ResponseOptions]) -> fields.Integer:
    return fields.Integer(required=True, **options)


def required_str(**options: Unpack[ResponseOptions]) -> fields.String:
    return fields.String(required=True, **options)


def one_of(*values: str, required: bool = True, **options: Unpack[ResponseOptions]) -> fields.String:
    return fields.String(required=required, validate=validate.OneOf(values), **options)


def word_map(**options: Unpack[FieldOptions]) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.String(), **options)


def int_map(**options: Unpack[FieldOptions]) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.Integer(), **options)


def fact_list(**options: Unpack[FieldOptions]) -> fields.List[Json]:
    return fields.List(JsonSchemaField(ref("Fact")), **options)


class OriginSchema(ResponseSchema):
    game = required_str(metadata={"description": "The game from which the fork began."})
    version = required_int()
    head = required_str(metadata={"description": "Hash of that version's record, hex."})
    known_to = JsonSchemaField(
        VIEWER, metadata={"description": "A seat, or `public`: the fork began from what it knew. Absent: from all."}
    )
    imported = fields.Boolean(metadata={"description": "True if the origin was read from a file."})


class ImportedSchema(ResponseSchema):
    game = required_str(metadata={"description": "The id of the game in its file."})
    head = required_str(metadata={"description": "Hash of its last record, hex."})


class WrittenSchema(ResponseSchema):
    game = required_str()
    version = required_int(metadata={"description": "The newest version after this request."})
    head = required_str(metadata={"description": "Hash of the last record of this write, hex."})
    position = required_int(metadata={"description": "Log position, for `wait` in reads."})


class PageSchema(ResponseSchema):
    next = fields.String(required=True, allow_none=True, metadata={"description": "URL of the next page."})

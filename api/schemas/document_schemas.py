"""marshmallow schemas of declared documents: the library makes the OpenAPI document of them.

Nothing is dumped through them. Views send documents of the declared types, checked by mypy. How to declare a document:
`domain.kernel.schema.document_members`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from marshmallow import EXCLUDE, Schema, fields, validate

from api.http.json_responses import JsonResponse
from api.schemas.schema_builder import JsonSchemaField, tuple_of
from domain.kernel.schema.document_members import JsonSchema
from domain.types import Doc, Json

_AnyField = fields.Field[Json]

_SIMPLE: dict[object, tuple[Callable[..., _AnyField], str]] = {
    int: (fields.Integer, "integer"),
    str: (fields.String, "string"),
    bool: (fields.Boolean, "boolean"),
    float: (fields.Float, "number"),
}
"""Type -> its field, and its name in JSON Schema."""

_WITH_ENDING = """
    AdvanceDoc AppealDoc AppealTimesDoc ChallengeDoc CookieDoc ForkDoc ImportDoc LookDoc NewGameDoc NewGamesDoc
    OfferDoc OfficerDoc PauseDoc RematchDoc RewindDoc RulingDoc ScheduleDoc TokenDoc TournamentOfficerDoc
    TournamentRulingDoc TournamentSeatsDoc TournamentStageDoc
"""
"""Declarations with a component of the same name. A request has the name without `Doc`."""


class DocumentSchema(Schema):
    """Base class of all documents. Later releases may add members."""

    class Meta:
        unknown = EXCLUDE


def component_of(declaration: type) -> str:
    """Return the published name of a declared document: mostly the class name without `Doc`."""
    name = declaration.__name__
    if name == "TakenSeatDoc":  # `Seat` and `SeatDoc` are both published
        return "SeatDoc"
    return name if name in _WITH_ENDING.split() else name.removesuffix("Doc")


@cache
def schema_of(declaration: type) -> type[Schema]:
    """Return the marshmallow schema of a declared document."""
    members: dict[str, object] = {
        name: _make_field(hint) for name, hint in get_type_hints(declaration, include_extras=True).items()
    }
    members["__doc__"] = vars(declaration).get("__doc__")
    return type(f"{component_of(declaration)}Schema", (DocumentSchema,), members)


def sends_document(view: Callable[..., object]) -> bool:
    """Return whether a view returns a `JsonResponse` with its document."""
    return f"{JsonResponse.__name__}[" in str(view.__annotations__["return"])


@dataclass(frozen=True)
class SentDocument:
    """The document of a view, in the place of a schema. The schema is made with the OpenAPI document."""

    view: Callable[..., object]
    place: int = 0
    """Its place among the documents of the view."""

    def to_marshmallow(self) -> type[Schema]:
        """Return the document's schema."""
        hint = get_type_hints(self.view)["return"]
        kinds = [hint] if get_origin(hint) is JsonResponse else get_args(hint)
        return schema_of([get_args(kind)[0] for kind in kinds if get_origin(kind) is JsonResponse][self.place])


def _make_field(hint: object) -> _AnyField:
    """Return the field of a member."""
    if required := get_origin(hint) is not NotRequired:
        kind, notes = _split_notes(hint)
    else:
        kind, notes = _split_notes(get_args(hint)[0])
    options: dict[str, object] = {"required": required}
    if text := " ".join(note for note in notes if isinstance(note, str)):
        options["metadata"] = {"description": text}
    if get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
        options["allow_none"] = True
        kind, more = _split_notes(_without_null(kind))
        notes = (*notes, *more)
    for note in notes:
        if isinstance(note, JsonSchema):
            return JsonSchemaField(note.schema, **options)  # type: ignore[arg-type] # as made above
        if isinstance(note, Collection) and not isinstance(note, str):
            kind = Literal[tuple(note)]
    return _field_of_type(kind, options)


def _split_notes(hint: object) -> tuple[object, Sequence[object]]:
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *notes = get_args(hint)
    return kind, notes


def _without_null(kind: object) -> object:
    """Return a union without None."""
    return reduce(or_, [part for part in get_args(kind) if part is not NoneType])


def _field_of_type(kind: Json, options: Doc) -> _AnyField:
    origin: object = get_origin(kind)
    args = get_args(kind)
    if is_typeddict(kind):
        return fields.Nested(schema_of(kind), **options)
    if origin is list:
        return fields.List(_make_field(args[0]), **options)
    if origin is dict:
        return (
            fields.Dict(**options) if args[1] is Any else fields.Dict(fields.String(), _make_field(args[1]), **options)
        )
    if origin is Literal:
        return fields.String(validate=validate.OneOf(args), **options)
    if kind is Any:
        return fields.Raw(**options)
    if kind in _SIMPLE:
        return _SIMPLE[kind][0](**options)
    return JsonSchemaField(_json_schema(kind), **options)


def _json_schema(hint: object) -> Doc:
    """Return the JSON Schema of an item of a tuple, of a tuple, or of a union of simple types."""
    kind, notes = _split_notes(hint)
    for note in notes:
        if isinstance(note, JsonSchema):
            return note.schema
    if kind is Any:
        return {}
    if get_origin(kind) is tuple:
        return tuple_of(*map(_json_schema, get_args(kind)))
    if get_origin(kind) in (Union, UnionType):
        return {"type": [_SIMPLE[part][1] for part in get_args(kind)]}
    return {"type": _SIMPLE[kind][1]}

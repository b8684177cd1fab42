"""Required fields of response schemas."""

from __future__ import annotations

from collections.abc import Iterable

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG
from domain.types import Json


def text_field(description: str = "", *, nullable: bool = False) -> fields.String:
    """Return a text field; with `nullable`, null is allowed."""
    return fields.String(required=True, allow_none=nullable, metadata=_metadata(description))


def int_field(description: str, *, nullable: bool = False) -> fields.Integer:
    """Return an integer field; with `nullable`, null is allowed."""
    return fields.Integer(required=True, allow_none=nullable, metadata=_metadata(description))


def time_field(description: str) -> fields.Integer:
    """Return a field with a time in ms."""
    return int_field(f"{description} ms since 1970 UTC.")


def enum_field(values: Iterable[str], description: str = "", *, nullable: bool = False) -> fields.String:
    """Return a text field with one of these values; with `nullable`, null is allowed."""
    return fields.String(
        required=True,
        allow_none=nullable,
        validate=validate.OneOf(list(values), error=AMONG),
        metadata=_metadata(description),
    )


def text_list(values: Iterable[str] = (), description: str = "") -> fields.List[Json]:
    """Return a list of these words, or of any texts."""
    return fields.List(enum_field(values) if values else text_field(), required=True, metadata=_metadata(description))


def _metadata(description: str) -> dict[str, str]:
    return {"description": description} if description else {}

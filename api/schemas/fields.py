"""Members of answers, as schemas declare them; `said` describes one."""

from __future__ import annotations

from collections.abc import Iterable

from marshmallow import fields, validate

from api.schemas.request_fields import AMONG
from domain.types import Json


def text(said: str = "") -> fields.String:
    """Any text."""
    return fields.String(required=True, metadata=_told(said))


def number(said: str, *, none: bool = False) -> fields.Integer:
    """`none`: or null."""
    return fields.Integer(required=True, allow_none=none, metadata=_told(said))


def moment(said: str) -> fields.Integer:
    """A time."""
    return number(f"{said} ms since 1970 UTC.")


def one_of(values: Iterable[str], said: str = "") -> fields.String:
    """A word."""
    return fields.String(required=True, validate=validate.OneOf(list(values), error=AMONG), metadata=_told(said))


def several(values: Iterable[str] = ()) -> fields.List[Json]:
    """Of these words, or any texts."""
    return fields.List(one_of(values) if values else text(), required=True)


def _told(said: str) -> dict[str, str]:
    return {"description": said} if said else {}

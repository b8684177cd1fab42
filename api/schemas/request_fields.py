"""Fields of requests: strict types, patterns and readable names."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Unpack

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from api.http.text_checks import check_visible_text
from api.schemas.field_options import FieldOptions, ValueOptions
from domain.kernel.text.message_catalog import Message
from domain.types import Json

# The published part of `check_visible_text`, without lookahead or characters beyond U+FFFF for simple regex engines.
_VISIBLE = (
    r"[^\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
)
_VISIBLE += r"\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"
_VISIBLE += r"\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
PUBLISHED = f"^{_VISIBLE} ]{_VISIBLE}]*$"

AMONG, BETWEEN = Message("Must be one of: {choices}."), Message("Must be from {min} to {max}.")

LENGTH, LONGER = Message("Length must be between {min} and {max}."), Message("Longer than {max} characters.")
"""Messages of the library's validators, with its placeholders."""


class FullMatch(validate.Regexp):
    """Matches the whole string; a `$` alone would allow a final newline."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._strict = re.compile(pattern)

    def __call__(self, value: Any) -> Any:
        if self._strict.fullmatch(value) is None:
            raise ValidationError("Does not match the pattern.")
        return value


class StrictInt(fields.Integer):
    """A JSON integer: not "3", not 3.0, not true."""

    def _validated(self, value: object) -> int:
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class StrictBool(fields.Boolean):
    """true or false: not 1, not "yes"."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Json:
        if type(value) is not bool:
            raise self.make_error("invalid", input=value)
        return value


class QueryInt(fields.Integer):
    """An integer in a query, digits only."""

    def _validated(self, value: object) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,16}", value, re.ASCII):
            raise self.make_error("invalid", input=value)
        return int(value)


class BoundedList(fields.List[Any]):
    """A list with its length checked before its items."""

    def __init__(self, item: fields.Field[Any], lo: int, hi: int, **options: Unpack[FieldOptions]) -> None:
        super().__init__(item, validate=validate.Length(lo, hi, error=LENGTH), **options)

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Json:
        if isinstance(value, list):
            self._validate(value)
        return super()._deserialize(value, attr, data, **kwargs)


class BoundedDict(fields.Dict):
    """An object with free keys, limited in number."""

    def __init__(self, hi: int, description: str = "", **options: Unpack[ValueOptions]) -> None:
        values = fields.Raw(allow_none=True)
        metadata = {"maxProperties": hi} | ({"description": description} if description else {})
        super().__init__(keys=fields.String(), values=values, metadata=metadata, **options)
        self._hi = hi

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Json:
        if isinstance(value, dict) and len(value) > self._hi:
            raise ValidationError(Message("More than {most} members.", most=self._hi))
        return super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call] # as the library has it


def word_field(pattern: str, **options: Unpack[FieldOptions]) -> fields.String:
    return fields.String(validate=FullMatch(pattern), **options)


class VisibleText(fields.String):
    """Visible text, stored in NFC."""

    def __init__(self, most: int, description: str, example: str, **options: Unpack[ValueOptions]) -> None:
        text = f"{description} No invisible and no direction-changing characters."
        metadata = {"description": text, "minLength": 1, "maxLength": most, "examples": [example]}
        super().__init__(validate=FullMatch(PUBLISHED), metadata=metadata, **options)
        self._most = most

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> str:
        return check_visible_text(super()._deserialize(value, attr, data, **kwargs), self._most)


def name_field(description: str) -> VisibleText:
    return VisibleText(40, f"{description} Erasable. Does not begin with a combining mark.", "Anne", load_default="")


def choice_field(*values: str, **options: Unpack[FieldOptions]) -> fields.String:
    return fields.String(validate=validate.OneOf(values, error=AMONG), **options)


def range_check(lo: int, hi: int) -> validate.Range:
    return validate.Range(min=lo, max=hi, error=BETWEEN)


class RequestSchema(Schema):
    """Base class of requests. Unknown fields are refused."""

    may_be_left_out: ClassVar[bool] = False
    """True if a request without a body is accepted, although the schema has fields."""

    class Meta:
        unknown = RAISE

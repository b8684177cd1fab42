"""Fields of requests: strict types, patterns and names that people can read."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from api.http.text_checks import visible
from domain.kernel.text.message_catalog import Message
from domain.types import Json

# What is published of `visible`: no lookahead and nothing beyond U+FFFF, which not every language's patterns can say.
_SEEN = r"[^\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
_SEEN += r"\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"
_SEEN += r"\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
PUBLISHED = f"^{_SEEN} ]{_SEEN}]*$"

AMONG, BETWEEN = Message("Must be one of: {choices}."), Message("Must be from {min} to {max}.")

LENGTH, LONGER = Message("Length must be between {min} and {max}."), Message("Longer than {max} characters.")
"""What the library's validators say; they fill in the members."""


class Pattern(validate.Regexp):
    """The whole string matches (a `$` alone lets a last newline through)."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._strict = re.compile(pattern)

    def __call__(self, value: Any) -> Any:
        if self._strict.fullmatch(value) is None:
            raise ValidationError("Does not match the pattern.")
        return value


class Int(fields.Integer):
    """A JSON integer: not "3", not 3.0, not true."""

    def _validated(self, value: object) -> int:
        if type(value) is not int:
            raise self.make_error("invalid", input=value)
        return value


class Bool(fields.Boolean):
    """true or false: not 1, not "yes"."""

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if type(value) is not bool:
            raise self.make_error("invalid", input=value)
        return value


class QueryInt(fields.Integer):
    """An integer in a query: digits alone."""

    def _validated(self, value: object) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,16}", value, re.ASCII):
            raise self.make_error("invalid", input=value)
        return int(value)


class Items(fields.List[Any]):
    """A list whose length is checked before its items are looked at."""

    def __init__(self, item: fields.Field[Any], lo: int, hi: int, **more: Any) -> None:
        super().__init__(item, validate=validate.Length(lo, hi, error=LENGTH), **more)

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if isinstance(value, list):
            self._validate(value)
        return super()._deserialize(value, attr, data, **more)


class Members(fields.Dict):
    """An object with names of its own, few enough to be looked at."""

    def __init__(self, hi: int, said: str = "", **more: Any) -> None:
        values = fields.Raw(allow_none=True)
        told = {"maxProperties": hi} | ({"description": said} if said else {})
        super().__init__(keys=fields.String(), values=values, metadata=told, **more)
        self._hi = hi

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> Json:
        if isinstance(value, dict) and len(value) > self._hi:
            raise ValidationError(Message("More than {most} members.", most=self._hi))
        return super()._deserialize(value, attr, data, **more)  # type: ignore[no-untyped-call] # as the library has it


def word_field(pattern: str, **more: Any) -> fields.String:
    return fields.String(validate=Pattern(pattern), **more)


class Seen(fields.String):
    """Text that people see, in its composed form; `said` describes it."""

    def __init__(self, most: int, said: str, example: str, **more: Any) -> None:
        told = f"{said} Nothing invisible, and nothing that turns the direction of the text."
        shown = {"description": told, "minLength": 1, "maxLength": most, "examples": [example]}
        super().__init__(validate=Pattern(PUBLISHED), metadata=shown, **more)
        self._most = most

    def _deserialize(self, value: object, attr: str | None, data: object, **more: Any) -> str:
        return visible(super()._deserialize(value, attr, data, **more), self._most)


def name_field(said: str) -> Seen:
    return Seen(40, f"{said} Erasable. Does not begin with a combining mark.", "Anne", load_default="")


def choice_field(*values: str, **more: Any) -> fields.String:
    return fields.String(validate=validate.OneOf(values, error=AMONG), **more)


def range_check(lo: int, hi: int) -> validate.Range:
    return validate.Range(min=lo, max=hi, error=BETWEEN)


class In(Schema):
    """A request: nothing unknown passes."""

    class Meta:
        unknown = RAISE

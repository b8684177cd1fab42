"""Validators of moves and options: applied before the rules, and published as JSON Schema."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from msgspec import Struct

from domain.kernel.schema.declarations import Case, Varies
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, MAX_ITEMS, MAX_WORD, Json

FieldError = tuple[str, str]
"""(JSON pointer, expectation). The second is a `Message` wherever clients can see it."""


def one_of(words: Iterable[str]) -> Message:
    """Return the expectation for a fixed set of words, spelled as clients must send them."""
    return Message("one of {words}", words=", ".join(words))


def expected_message(description: str) -> Message:
    """Return an expectation as a whole message."""
    return Message("{what} is expected", what=description)


class Validator:
    """Expected form of a value. `find_error` returns the first deviation, `schema` the JSON Schema."""

    optional = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        """Return the first error below the pointer, or None for a valid value."""
        raise NotImplementedError

    def schema(self) -> dict[str, Json]:
        """Return the JSON Schema (2020-12)."""
        raise NotImplementedError


@dataclass(frozen=True)
class IntegerRange(Validator):
    """An integer lo..hi; neither true nor 3.0."""

    lo: int = 0
    hi: int = MAX_INT
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if type(value) is int and self.lo <= value <= self.hi:
            return None
        return pointer, Message("an integer from {lo} to {hi}", lo=str(self.lo), hi=str(self.hi))

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.lo, "maximum": self.hi}


ANY_INT = IntegerRange(-MAX_INT, MAX_INT)
"""An integer with bounds checked by the rules."""


@dataclass(frozen=True)
class Boolean(Validator):
    """true or false."""

    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return None if type(value) is bool else (pointer, Message("true or false"))

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Word(Validator):
    """A string of 1 to 80 characters; with `of`, one of these (omit it if the rules have a code for unknown words)."""

    of: tuple[str, ...] = ()
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if type(value) is not str or not 1 <= len(value) <= MAX_WORD or not value.isprintable():
            return pointer, Message("a string of 1 to {most} characters", most=str(MAX_WORD))
        if self.of and value not in self.of:
            return pointer, one_of(self.of)
        return None

    def schema(self) -> dict[str, Json]:
        if self.of:
            return {"type": "string", "enum": list(self.of)}
        return {"type": "string", "minLength": 1, "maxLength": MAX_WORD}


@dataclass(frozen=True)
class Nullable(Validator):
    """The inner form, or null."""

    inner: Validator
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return None if value is None else self.inner.find_error(value, pointer)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [self.inner.schema(), {"type": "null"}]}


@dataclass(frozen=True)
class ListOf(Validator):
    """A list of lo to hi items of one form."""

    item: Validator
    lo: int = 0
    hi: int = MAX_ITEMS
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if type(value) is not list or not self.lo <= len(value) <= self.hi:
            return pointer, Message("a list of {lo} to {hi} items", lo=str(self.lo), hi=str(self.hi))
        return next((f for i, v in enumerate(value) if (f := self.item.find_error(v, f"{pointer}/{i}"))), None)

    def schema(self) -> dict[str, Json]:
        return {"type": "array", "items": self.item.schema(), "minItems": self.lo, "maxItems": self.hi}


@dataclass(frozen=True)
class MapOf(Validator):
    """An object with free keys (checked by the rules) and values of one form."""

    item: Validator
    hi: int = MAX_ITEMS
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if type(value) is not dict or len(value) > self.hi:
            return pointer, Message("an object of at most {most} {most#member|members}", most=self.hi)
        if any(Word().find_error(k, pointer) for k in value):
            return pointer, Message("keys of 1 to {most} characters", most=str(MAX_WORD))
        return next((f for k, v in value.items() if (f := self.item.find_error(v, f"{pointer}/{k}"))), None)

    def schema(self) -> dict[str, Json]:
        return {"type": "object", "additionalProperties": self.item.schema(), "maxProperties": self.hi}


@dataclass(frozen=True)
class ObjectOf(Validator):
    """An object with exactly these fields.

    With `tag`, the value of this field adds the fields of `variants[value]`; a value without an entry adds the ones of
    `otherwise`, so the rules can refuse it with a code of their own (`unknown_tile`).
    """

    fields: Mapping[str, Validator] = field(default_factory=dict)
    tag: str = ""
    variants: Mapping[str | bool, Mapping[str, Validator]] = field(default_factory=dict)
    otherwise: Mapping[str, Validator] = field(default_factory=dict)
    optional: bool = False

    def _fields_for(self, value: Mapping[str, Json]) -> Mapping[str, Validator]:
        if not self.tag:
            return self.fields
        tag = value.get(self.tag)
        if not isinstance(tag, (str, bool)):
            return {**self.fields, **self.otherwise}
        return {**self.fields, **self.variants.get(tag, self.otherwise)}

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if type(value) is not dict:
            return pointer, Message("an object")
        fields = self._fields_for(value)
        for name, shape in fields.items():
            if name not in value:
                if not shape.optional:
                    return f"{pointer}/{name}", Message("a field that is required")
            elif f := shape.find_error(value[name], f"{pointer}/{name}"):
                return f
        if extra := value.keys() - fields.keys():
            return f"{pointer}/{min(extra)[:MAX_WORD]}", Message("no such field")
        return None

    def schema(self) -> dict[str, Json]:
        if not self.variants:
            return self._schema(self.fields)
        # Values with the same fields share one alternative.
        alike: dict[tuple[str, ...], list[str | bool]] = {}
        for name, more in self.variants.items():
            alike.setdefault((*more, *("required " + n for n, x in more.items() if not x.optional)), []).append(name)
        return {
            "oneOf": [
                self._schema({**self.fields, self.tag: _TagValue(tuple(names)), **self.variants[names[0]]})
                for names in alike.values()
            ]
        }

    @staticmethod
    def _schema(fields: Mapping[str, Validator]) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {n: s.schema() for n, s in fields.items()},
            "required": [n for n, s in fields.items() if not s.optional],
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class _TagValue(Validator):
    """The value of a tag, as published in a schema."""

    of: tuple[str | bool, ...]
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return None if value in self.of else (pointer, one_of(map(str, self.of)))

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean" if isinstance(self.of[0], bool) else "string", "enum": list(self.of)}


# --- from declarations -----------------------------------------------------------------------------------------


@functools.cache
def validator_of(kind: type[Struct]) -> ObjectOf:
    """Return the validator of a declared class: of a move or fact without its tag."""
    info: Any = msgspec.inspect.type_info(kind)
    shapes = {f.encode_name: _validator(f.type, not f.required) for f in info.fields}
    varies: Varies | None = getattr(kind, "varies", None)
    if varies is None:
        return ObjectOf(shapes)
    common = {n: x for n, x in shapes.items() if n not in varies.names}
    variants = {value: _case(shapes, case) for value, case in varies.cases.items()}
    return ObjectOf(common, varies.tag, variants, _case(shapes, varies.otherwise))


def _case(validators: Mapping[str, Validator], case: Case) -> dict[str, Validator]:
    # In declaration order, the order of the checks.
    names = (*case.required, *case.optional)
    return {n: x if n in case.optional else _as_required(x) for n, x in validators.items() if n in names}


def _as_required(validator: Any) -> Validator:
    required: Validator = replace(validator, optional=False)
    return required


def _validator(kind: Any, optional: bool = False) -> Validator:
    """Return the validator of a type inspected by msgspec."""
    inspect = msgspec.inspect
    if isinstance(kind, inspect.Metadata):
        words = (kind.extra or {}).get("of")
        return Word(tuple(words), optional=optional) if words else _validator(kind.type, optional)
    if isinstance(kind, inspect.IntType):
        lo, hi = (-MAX_INT if kind.ge is None else kind.ge), (MAX_INT if kind.le is None else kind.le)
        return IntegerRange(int(lo), int(hi), optional=optional)
    if isinstance(kind, inspect.BoolType):
        return Boolean(optional=optional)
    if isinstance(kind, inspect.StrType):
        return Word(optional=optional)
    if isinstance(kind, inspect.LiteralType):
        return Word(tuple(map(str, kind.values)), optional=optional)
    if isinstance(kind, inspect.StructType):
        return replace(validator_of(kind.cls), optional=optional)
    return _composite_validator(kind, optional)


def _composite_validator(kind: Any, optional: bool) -> Validator:
    inspect = msgspec.inspect
    if isinstance(kind, inspect.UnionType):
        (inner,) = [t for t in kind.types if not isinstance(t, inspect.NoneType)]
        return Nullable(_validator(inner), optional=optional)
    if isinstance(kind, inspect.DictType):
        return MapOf(
            _validator(kind.value_type), MAX_ITEMS if kind.max_length is None else kind.max_length, optional=optional
        )
    if isinstance(kind, inspect.CollectionType):
        hi = MAX_ITEMS if kind.max_length is None else kind.max_length
        return ListOf(_validator(kind.item_type), kind.min_length or 0, hi, optional=optional)
    raise TypeError(f"a move has no such member: {kind}")

"""Shapes of moves and options: checked before the rules see them, and published as JSON Schema."""

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

Fault = tuple[str, str]
"""(JSON pointer, what is expected there). The second is a `Message` wherever clients are told of it."""


def one_of(words: Iterable[str]) -> Message:
    """What is expected where only these words will do, as they are to be sent."""
    return Message("one of {words}", words=", ".join(words))


def expected(what: str) -> Message:
    """The same as a whole message."""
    return Message("{what} is expected", what=what)


class Shape:
    """What a value must look like. `fault` names the first place where it does not, `schema` is its JSON Schema."""

    optional = False

    def fault(self, value: Json, at: str) -> Fault | None:
        """None when the value fits."""
        raise NotImplementedError

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12."""
        raise NotImplementedError


@dataclass(frozen=True)
class Int(Shape):
    """An integer lo..hi; true and 3.0 are none."""

    lo: int = 0
    hi: int = MAX_INT
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is int and self.lo <= value <= self.hi:
            return None
        return at, Message("an integer from {lo} to {hi}", lo=str(self.lo), hi=str(self.hi))

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.lo, "maximum": self.hi}


ANY_INT = Int(-MAX_INT, MAX_INT)
"""An integer whose bounds are the rules' business."""


@dataclass(frozen=True)
class Bool(Shape):
    """true or false."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if type(value) is bool else (at, Message("true or false"))

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Word(Shape):
    """A string of 1 to 80 characters; with `of`, one of these (leave it out where the rules have a code for it)."""

    of: tuple[str, ...] = ()
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not str or not 1 <= len(value) <= MAX_WORD or not value.isprintable():
            return at, Message("a string of 1 to {most} characters", most=str(MAX_WORD))
        if self.of and value not in self.of:
            return at, one_of(self.of)
        return None

    def schema(self) -> dict[str, Json]:
        if self.of:
            return {"type": "string", "enum": list(self.of)}
        return {"type": "string", "minLength": 1, "maxLength": MAX_WORD}


@dataclass(frozen=True)
class Null(Shape):
    """The inner shape, or null."""

    inner: Shape
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if value is None else self.inner.fault(value, at)

    def schema(self) -> dict[str, Json]:
        return {"anyOf": [self.inner.schema(), {"type": "null"}]}


@dataclass(frozen=True)
class ListOf(Shape):
    """A list of lo to hi items of one shape."""

    item: Shape
    lo: int = 0
    hi: int = MAX_ITEMS
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not list or not self.lo <= len(value) <= self.hi:
            return at, Message("a list of {lo} to {hi} items", lo=str(self.lo), hi=str(self.hi))
        return next((f for i, v in enumerate(value) if (f := self.item.fault(v, f"{at}/{i}"))), None)

    def schema(self) -> dict[str, Json]:
        return {"type": "array", "items": self.item.schema(), "minItems": self.lo, "maxItems": self.hi}


@dataclass(frozen=True)
class MapOf(Shape):
    """An object with free keys (their names are the rules' business) and values of one shape."""

    item: Shape
    hi: int = MAX_ITEMS
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not dict or len(value) > self.hi:
            return at, Message("an object of at most {most} {most#member|members}", most=self.hi)
        if any(Word().fault(k, at) for k in value):
            return at, Message("keys of 1 to {most} characters", most=str(MAX_WORD))
        return next((f for k, v in value.items() if (f := self.item.fault(v, f"{at}/{k}"))), None)

    def schema(self) -> dict[str, Json]:
        return {"type": "object", "additionalProperties": self.item.schema(), "maxProperties": self.hi}


@dataclass(frozen=True)
class Obj(Shape):
    """An object with exactly these fields.

    With `tag`, the value of that field adds the fields of `variants[value]`; a value that has no entry adds those of
    `otherwise`, so that the rules can name it in a code of their own (`unknown_tile`).
    """

    fields: Mapping[str, Shape] = field(default_factory=dict)
    tag: str = ""
    variants: Mapping[str | bool, Mapping[str, Shape]] = field(default_factory=dict)
    otherwise: Mapping[str, Shape] = field(default_factory=dict)
    optional: bool = False

    def _known(self, value: Mapping[str, Json]) -> Mapping[str, Shape]:
        if not self.tag:
            return self.fields
        tag = value.get(self.tag)
        if not isinstance(tag, (str, bool)):
            return {**self.fields, **self.otherwise}
        return {**self.fields, **self.variants.get(tag, self.otherwise)}

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not dict:
            return at, Message("an object")
        known = self._known(value)
        for name, shape in known.items():
            if name not in value:
                if not shape.optional:
                    return f"{at}/{name}", Message("a field that is required")
            elif f := shape.fault(value[name], f"{at}/{name}"):
                return f
        if extra := value.keys() - known.keys():
            return f"{at}/{min(extra)[:MAX_WORD]}", Message("no such field")
        return None

    def schema(self) -> dict[str, Json]:
        if not self.variants:
            return self._schema(self.fields)
        # Values that bring the same fields stand in one alternative.
        alike: dict[tuple[str, ...], list[str | bool]] = {}
        for name, more in self.variants.items():
            alike.setdefault((*more, *("required " + n for n, x in more.items() if not x.optional)), []).append(name)
        return {
            "oneOf": [
                self._schema({**self.fields, self.tag: _Among(tuple(names)), **self.variants[names[0]]})
                for names in alike.values()
            ]
        }

    @staticmethod
    def _schema(known: Mapping[str, Shape]) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {n: s.schema() for n, s in known.items()},
            "required": [n for n, s in known.items() if not s.optional],
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class _Among(Shape):
    """The value of a tag, as a schema shows it."""

    of: tuple[str | bool, ...]
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if value in self.of else (at, one_of(map(str, self.of)))

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean" if isinstance(self.of[0], bool) else "string", "enum": list(self.of)}


# --- from declarations -----------------------------------------------------------------------------------------


@functools.cache
def shape_of(kind: type[Struct]) -> Obj:
    """The shape of a declared class: of a move or fact without the member that names it."""
    of: Any = msgspec.inspect.type_info(kind)
    shapes = {f.encode_name: _shape(f.type, not f.required) for f in of.fields}
    varies: Varies | None = getattr(kind, "varies", None)
    if varies is None:
        return Obj(shapes)
    common = {n: x for n, x in shapes.items() if n not in varies.names}
    variants = {value: _case(shapes, case) for value, case in varies.cases.items()}
    return Obj(common, varies.tag, variants, _case(shapes, varies.otherwise))


def _case(shapes: Mapping[str, Shape], case: Case) -> dict[str, Shape]:
    # In the order of the declaration, in which faults are looked for.
    names = (*case.required, *case.optional)
    return {n: x if n in case.optional else _asked(x) for n, x in shapes.items() if n in names}


def _asked(shape: Any) -> Shape:
    made: Shape = replace(shape, optional=False)
    return made


def _shape(of: Any, optional: bool = False) -> Shape:
    """Of a type as msgspec tells it."""
    told = msgspec.inspect
    if isinstance(of, told.Metadata):
        listed = (of.extra or {}).get("of")
        return Word(tuple(listed), optional=optional) if listed else _shape(of.type, optional)
    if isinstance(of, told.IntType):
        lo, hi = (-MAX_INT if of.ge is None else of.ge), (MAX_INT if of.le is None else of.le)
        return Int(int(lo), int(hi), optional=optional)
    if isinstance(of, told.BoolType):
        return Bool(optional=optional)
    if isinstance(of, told.StrType):
        return Word(optional=optional)
    if isinstance(of, told.LiteralType):
        return Word(tuple(map(str, of.values)), optional=optional)
    if isinstance(of, told.StructType):
        return replace(shape_of(of.cls), optional=optional)
    return _composed(of, optional)


def _composed(of: Any, optional: bool) -> Shape:
    told = msgspec.inspect
    if isinstance(of, told.UnionType):
        (inner,) = [t for t in of.types if not isinstance(t, told.NoneType)]
        return Null(_shape(inner), optional=optional)
    if isinstance(of, told.DictType):
        return MapOf(_shape(of.value_type), MAX_ITEMS if of.max_length is None else of.max_length, optional=optional)
    if isinstance(of, told.CollectionType):
        hi = MAX_ITEMS if of.max_length is None else of.max_length
        return ListOf(_shape(of.item_type), of.min_length or 0, hi, optional=optional)
    raise TypeError(f"a move has no such member: {of}")

"""Shapes of moves and options: checked before the rules see them, and published as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.ids import MAX_INT, MAX_ITEMS, MAX_WORD, Json

Fault = tuple[str, str]
"""(JSON pointer, what is expected there)."""


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
        return at, f"an integer from {self.lo} to {self.hi}"

    def schema(self) -> dict[str, Json]:
        return {"type": "integer", "minimum": self.lo, "maximum": self.hi}


ANY_INT = Int(-MAX_INT, MAX_INT)
"""An integer whose bounds are the rules' business."""


@dataclass(frozen=True)
class Bool(Shape):
    """true or false."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if type(value) is bool else (at, "true or false")

    def schema(self) -> dict[str, Json]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Word(Shape):
    """A string of 1 to 80 characters; with `of`, one of these (leave it out where the rules have a code for it)."""

    of: tuple[str, ...] = ()
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not str or not 1 <= len(value) <= MAX_WORD or not value.isprintable():
            return at, f"a string of 1 to {MAX_WORD} characters"
        if self.of and value not in self.of:
            return at, "one of " + ", ".join(self.of)
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
            return at, f"a list of {self.lo} to {self.hi} items"
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
            return at, f"an object of at most {self.hi} members"
        if any(Word().fault(k, at) for k in value):
            return at, f"keys of 1 to {MAX_WORD} characters"
        return next((f for k, v in value.items() if (f := self.item.fault(v, f"{at}/{k}"))), None)

    def schema(self) -> dict[str, Json]:
        return {"type": "object", "additionalProperties": self.item.schema(), "maxProperties": self.hi}


@dataclass(frozen=True)
class Obj(Shape):
    """An object with exactly these fields.

    With `tag`, the value of that field adds the fields of `variants[value]`; a value that has no entry adds
    none, so that the rules can name it in a code of their own (`unknown_tile`).
    """

    fields: Mapping[str, Shape] = field(default_factory=dict)
    tag: str = ""
    variants: Mapping[str, Mapping[str, Shape]] = field(default_factory=dict)
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if type(value) is not dict:
            return at, "an object"
        known = self.fields
        if self.tag and isinstance(tag := value.get(self.tag), str):
            known = {**known, **self.variants.get(tag, {})}
        for name, shape in known.items():
            if name not in value:
                if not shape.optional:
                    return f"{at}/{name}", "a field that is required"
            elif f := shape.fault(value[name], f"{at}/{name}"):
                return f
        if extra := value.keys() - known.keys():
            return f"{at}/{min(extra)[:MAX_WORD]}", "no such field"
        return None

    def schema(self) -> dict[str, Json]:
        if not self.variants:
            return self._schema(self.fields)
        return {
            "oneOf": [
                self._schema({**self.fields, self.tag: Word((name,)), **more}) for name, more in self.variants.items()
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


def variants(tag: str, options: Mapping[str, Mapping[str, Any]], **common: Shape) -> Obj:
    """An object whose field `tag` says which further fields it has."""
    return Obj({tag: Word(), **common}, tag, options)

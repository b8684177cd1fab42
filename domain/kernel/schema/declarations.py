"""Declarations of a game: facts, moves and their parts, one class each; fields are members of a JSON object.

The class name gives the object's tag (`GoldPaid` -> `gold_paid`), its docstring the meaning and the rule. An optional
member is `Maybe[...] = UNSET`, and stays as sent: absent, or present with any value.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from domain.types import MAX_INT, MAX_ITEMS, MAX_WORD, Doc

S = TypeVar("S")
T = TypeVar("T")
K = TypeVar("K", bound=Struct)

Maybe: TypeAlias = T | UnsetType
"""Optional member: UNSET if absent."""

Count = Annotated[int, Meta(ge=0, le=MAX_INT)]
AnyInt = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
"""An integer with bounds checked by the rules."""
Id = Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]
"""A word with values checked by the rules, with a code of their own for unknown ones."""
Listed = Annotated[Sequence[T], Meta(max_length=MAX_ITEMS)]
Keyed = Annotated[Mapping[str, T], Meta(max_length=MAX_ITEMS)]
"""An object with free keys."""


def among(words: Sequence[str]) -> Meta:
    """Mark a word as one of these, known only at run time.

    Used as `Annotated[str, among(UNITS)]`.
    """
    return Meta(extra_json_schema={"enum": list(words)}, extra={"of": tuple(words)})


def snake_case(name: str) -> str:
    """Convert `GoldPaid` to `gold_paid`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.rpartition(".")[2]).lower()


@dataclass(frozen=True)
class Case:
    """Members of an object for one value of its tag."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Varies:
    """Members depending on the value of a sibling; each case names those present besides the unconditional ones.

    A value without a case has `otherwise`, so the rules can refuse it with a code of their own (`unknown_tile`).
    """

    tag: str
    cases: Mapping[str | bool, Case]
    otherwise: Case = field(default_factory=Case)

    @property
    def names(self) -> frozenset[str]:
        """Every member depending on the tag."""
        return frozenset(n for c in (*self.cases.values(), self.otherwise) for n in (*c.required, *c.optional))


class Part(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """An object within a fact or a move."""

    varies: ClassVar[Varies | None] = None


class Fact(Struct, Generic[S], frozen=True, gc=False, tag_field="t", tag=snake_case, forbid_unknown_fields=True):
    """One thing true after a move."""

    def evolve(self, state: S, /) -> S:
        """Return the state with the fact's assignments; never raise on a valid log. The default changes nothing."""
        return state


AnyFact: TypeAlias = Fact[Any]
"""A fact of any game."""


@dataclass(frozen=True)
class Admission:
    """Conditions for making a move: seats and frames."""

    at: tuple[str, ...] = ()
    """Kinds of the top frame admitting it; empty: all."""
    by: Literal["owing", "may", "both", "any", "engine"] = "owing"
    """Seats owing an answer; seats in `may`; both; `any`: the game's own checks decide alone; the engine."""
    hidden: tuple[str, ...] = ()
    """Members visible only to the mover; `*`: all of them, and the type."""
    anonymous: bool = False
    """The record names neither seat nor type (order sheets, passes in a window)."""
    undo: bool = True
    """A seat may undo it."""
    rule: str = ""


class Move(Struct, frozen=True, gc=False, tag_field="type", tag=snake_case, forbid_unknown_fields=True):
    """Request of a seat, or of the engine."""

    admission: ClassVar[Admission] = Admission()
    varies: ClassVar[Varies | None] = None


class Context(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Public `data` of a frame of one kind. The class name gives the kind."""


def unwrap(value: Maybe[T]) -> T:
    """Return the value of a member present in the move's or fact's case; AssertionError if absent."""
    if value is UNSET:
        raise AssertionError("a member that is absent")
    return value


def or_none(value: Maybe[T]) -> T | None:
    """Return the value, or None if absent."""
    return None if value is UNSET else value


@functools.cache
def type_name(kind: type[Struct]) -> str:
    """Return the tag of the class in JSON, `gold_paid`; for a context the kind of its frame."""
    return str(kind.__struct_config__.tag or snake_case(kind.__name__))


def member_names(kind: type[Struct]) -> set[str]:
    """Return the JSON names of the members, without the tag."""
    return {f.encode_name for f in msgspec.structs.fields(kind)}


def doc(value: Struct) -> Doc:
    """Return a fact, move or part as a fresh JSON object made of JSON's own types only."""
    document: Doc = msgspec.json.decode(msgspec.json.encode(value))
    return document


def docs(values: Sequence[Struct]) -> list[Doc]:
    """Return several facts, moves or parts as JSON objects."""
    documents: list[Doc] = msgspec.json.decode(msgspec.json.encode(values))
    return documents


def prepare(kind: type[Struct]) -> None:
    """Make msgspec prepare a class now; on first use, two threads at once would end the process.

    Every class decoded from JSON is prepared while its module is loaded.
    """
    with suppress(msgspec.ValidationError):
        msgspec.convert(None, kind)


def by_type_name(*kinds: type[K]) -> dict[str, type[K]]:
    """Return the classes by their JSON names, prepared for decoding."""
    for kind in kinds:
        prepare(kind)
    return {type_name(kind): kind for kind in kinds}


def declared_classes(module: str, kind: type[K]) -> dict[str, type[K]]:
    """Return the subclasses of `kind` declared in the module (`__name__`), in its order, by their JSON names."""
    classes = [c for c in vars(sys.modules[module]).values() if isinstance(c, type) and c.__module__ == module]
    return by_type_name(
        *(c for c in classes if issubclass(c, kind) and (issubclass(c, Context) or c.__struct_config__.tag))
    )


__all__ = [
    "UNSET",
    "Admission",
    "AnyFact",
    "AnyInt",
    "Case",
    "Context",
    "Count",
    "Fact",
    "Id",
    "Keyed",
    "Listed",
    "Maybe",
    "Meta",
    "Move",
    "Part",
    "UnsetType",
    "Varies",
    "among",
    "by_type_name",
    "declared_classes",
    "doc",
    "docs",
    "member_names",
    "or_none",
    "prepare",
    "snake_case",
    "type_name",
    "unwrap",
]

"""What a game declares: facts, moves and their parts, one class each, whose fields are members of a JSON object.

The class's name gives the object's tag (`GoldPaid` -> `gold_paid`), its docstring the meaning and the rule. A member
that may be absent is `Maybe[...] = UNSET`, and stays as it was sent: absent, or there with whatever value.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
import orjson
from msgspec import UNSET, Meta, Struct, UnsetType

from domain.types import MAX_INT, MAX_ITEMS, MAX_WORD, Doc

S = TypeVar("S")
T = TypeVar("T")
K = TypeVar("K", bound=Struct)

Maybe: TypeAlias = T | UnsetType
"""A member that may be absent: UNSET."""

Count = Annotated[int, Meta(ge=0, le=MAX_INT)]
AnyInt = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
"""An integer whose bounds are the rules' business."""
Id = Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]
"""A word whose values are the rules' business, which have a code for those that do not exist."""
Listed = Annotated[Sequence[T], Meta(max_length=MAX_ITEMS)]
Keyed = Annotated[Mapping[str, T], Meta(max_length=MAX_ITEMS)]
"""An object with free keys."""


def among(of: Sequence[str]) -> Meta:
    """Marks a word that is one of these, known only when the program runs.

    As in `Annotated[str, among(UNITS)]`.
    """
    return Meta(extra_json_schema={"enum": list(of)}, extra={"of": tuple(of)})


def snake(name: str) -> str:
    """`GoldPaid` -> `gold_paid`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.rpartition(".")[2]).lower()


@dataclass(frozen=True)
class Case:
    """The members that an object has for one value of its tag."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Varies:
    """Members that depend on the value of a sibling: each case names those that it has, besides those in no case.

    A value without a case has `otherwise`, so that the rules can name it in a code of their own (`unknown_tile`).
    """

    tag: str
    cases: Mapping[str | bool, Case]
    otherwise: Case = field(default_factory=Case)

    @property
    def names(self) -> frozenset[str]:
        """Every member that depends on the tag."""
        return frozenset(n for c in (*self.cases.values(), self.otherwise) for n in (*c.required, *c.optional))


class Part(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """An object within a fact or a move."""

    varies: ClassVar[Varies | None] = None


class Fact(Struct, Generic[S], frozen=True, gc=False, tag_field="t", tag=snake, forbid_unknown_fields=True):
    """One thing that is true after a move."""

    def evolve(self, state: S, /) -> S:
        """The state with what the fact assigns; never raises on a valid log. Nothing, unless a fact says so."""
        return state


AnyFact: TypeAlias = Fact[Any]
"""Of whichever game."""


@dataclass(frozen=True)
class Admission:
    """Who may make a move, and when."""

    at: tuple[str, ...] = ()
    """Kinds of the top frame that admit it; none named: all."""
    by: Literal["owing", "may", "both", "any", "engine"] = "owing"
    """Seats that owe an answer; seats in `may`; both; `any`: the game's own checks decide alone; the engine."""
    hidden: tuple[str, ...] = ()
    """Members that only the mover may see; `*`: all of them, and the type."""
    anonymous: bool = False
    """The record names neither seat nor type (order sheets, passes in a window)."""
    undo: bool = True
    """Whether a seat may ever have it undone."""
    rule: str = ""


class Move(Struct, frozen=True, gc=False, tag_field="type", tag=snake, forbid_unknown_fields=True):
    """Something that a seat, or the engine, asks for."""

    admission: ClassVar[Admission] = Admission()
    varies: ClassVar[Varies | None] = None


class Context(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What is known of a frame of one kind: its public `data`. The class's name gives the kind."""


def given(value: Maybe[T]) -> T:
    """What stands there, where the case of the move or the fact has it."""
    if value is UNSET:
        raise AssertionError("a member that is absent")
    return value


def or_none(value: Maybe[T]) -> T | None:
    """What stands there; None where nothing does."""
    return None if value is UNSET else value


def tag(kind: type[Struct]) -> str:
    """What names the class in JSON, `gold_paid`; of a context the kind of its frame."""
    return str(kind.__struct_config__.tag or snake(kind.__name__))


def members(kind: type[Struct]) -> set[str]:
    """Their names in JSON, without the tag."""
    return {f.encode_name for f in msgspec.structs.fields(kind)}


def doc(value: Struct) -> Doc:
    """The JSON object of a fact, a move or a part; a fresh one, all of it JSON's own types."""
    made: Doc = orjson.loads(msgspec.json.encode(value))
    return made


def docs(values: Sequence[Struct]) -> list[Doc]:
    """The same of several."""
    made: list[Doc] = orjson.loads(msgspec.json.encode(values))
    return made


def prepare(kind: type[Struct]) -> None:
    """Have msgspec prepare a class: it does so when it is first used, and two threads at once would end the process.

    Every class that is read from JSON is prepared while its module is loaded.
    """
    with suppress(msgspec.ValidationError):
        msgspec.convert(None, kind)


def by_tag(*kinds: type[K]) -> dict[str, type[K]]:
    """Classes by what names them in JSON, ready to be read."""
    for kind in kinds:
        prepare(kind)
    return {tag(kind): kind for kind in kinds}


def declared(module: str, kind: type[K]) -> dict[str, type[K]]:
    """The classes of that kind that the module (`__name__`) declares, in its order, by what names them in JSON."""
    found = [c for c in vars(sys.modules[module]).values() if isinstance(c, type) and c.__module__ == module]
    return by_tag(*(c for c in found if issubclass(c, kind) and (issubclass(c, Context) or c.__struct_config__.tag)))


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
    "by_tag",
    "declared",
    "doc",
    "docs",
    "given",
    "members",
    "or_none",
    "prepare",
    "snake",
    "tag",
]

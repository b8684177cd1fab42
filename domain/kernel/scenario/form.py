"""The document of a scenario: what it must look like, and the first place where it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from domain.errors import ScenarioError
from domain.kernel.schema.validators import Fault, Int, ListOf, Obj, Shape, Word
from domain.types import MAX_INT, Doc, Json


@dataclass(frozen=True)
class _Kind(Shape):
    """Any value of one JSON type; of any type where none is named."""

    of: type | None = None
    what: str = "a value"
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if self.of is None or type(value) is self.of else (at, self.what)


@dataclass(frozen=True)
class _Yes(Shape):
    """The value true, for members that only mark."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return None if value is True else (at, "true")


@dataclass(frozen=True)
class _Name(Shape):
    """A string of some form."""

    form: str
    what: str
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        fits = isinstance(value, str) and re.fullmatch(self.form, value, re.DOTALL)
        return None if fits else (at, self.what)


@dataclass(frozen=True)
class _Map(Shape):
    """An object whose keys are of some form, and whose values have one shape."""

    keys: _Name
    item: Shape
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        if not isinstance(value, dict):
            return at, "an object"
        for key, item in value.items():
            if fault := self.keys.fault(key, f"{at}/{key}") or self.item.fault(item, f"{at}/{key}"):
                return fault
        return None


@dataclass(frozen=True)
class _Draw(Shape):
    """A value, or an object that also names the label."""

    def fault(self, value: Json, at: str) -> Fault | None:
        return _LABELLED.fault(value, at) if isinstance(value, dict) else None


@dataclass(frozen=True)
class _Expect(Shape):
    """A refusal, or what holds after the step."""

    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        return (_REFUSAL if isinstance(value, dict) and "refused" in value else _OUTCOME).fault(value, at)


@dataclass(frozen=True)
class _Step(Shape):
    """One of the forms, told apart by the member that only it has."""

    def fault(self, value: Json, at: str) -> Fault | None:
        found = [name for name in _FORMS if isinstance(value, dict) and name in value]
        if len(found) != 1:
            return at, "an object with one of " + ", ".join(_FORMS)
        return _FORMS[found[0]].fault(value, at)


_LIMIT = 100_000
_DEPTH = 100
"""A document is nested no deeper."""
_SEAT = Int(0, 99)
_ANY = _Kind()
_TEXT = _Kind(str, "a string", optional=True)
_OBJECT = _Kind(dict, "an object", optional=True)
_VALUES = ListOf(_ANY, 0, _LIMIT, optional=True)
_OBJECTS = ListOf(_Kind(dict, "an object"), 0, _LIMIT, optional=True)
_LABELLED = Obj({"label": Word(), "value": _ANY})
_DRAWS = ListOf(_Draw(), 0, _LIMIT, optional=True)
_POINTER = _Name(r"(/.*)?", "a JSON pointer, which starts with /,")
_POINTERS = ListOf(_POINTER, 0, _LIMIT, optional=True)
_PLACES = _Map(_POINTER, _ANY, optional=True)
_SEAT_KEY = _Name(r"0|[1-9]\d?", "a seat's number")
_VIEWER_KEY = _Name(r"public|director|0|[1-9]\d?", "public, director or a seat's number")
_SCORE = Obj({"place": Int(1, 99, optional=True), "points": Int(-MAX_INT, optional=True), "detail": _OBJECT})
_SEEN = Obj({"sight": _PLACES, "absent": _POINTERS, "facts": _OBJECTS, "no_facts": _OBJECTS})
_OFFER = Obj(
    {
        "seat": _SEAT,
        "picks": _VALUES,
        "field": Word(optional=True),
        "options": _VALUES,
        "offered": _VALUES,
        "not_offered": _VALUES,
        "range": ListOf(Int(-MAX_INT), 2, 2, optional=True),
        "move": _OBJECT,
        "refused": Word(optional=True),
    }
)
_REFUSAL = Obj({"refused": Word(), "rule": Word(optional=True), "detail": _OBJECT})
_OUTCOME = Obj(
    {
        "state": _PLACES,
        "absent": _POINTERS,
        "decisions": _OBJECTS,
        "facts": _OBJECTS,
        "no_facts": _OBJECTS,
        "scores": _Map(_SEAT_KEY, _SCORE, optional=True),
        "viewers": _Map(_VIEWER_KEY, _SEEN, optional=True),
        "offers": ListOf(_OFFER, 0, _LIMIT, optional=True),
    }
)
_END = replace(_OUTCOME, optional=True)
_MORE: Mapping[str, Shape] = {"about": _TEXT, "draws": _DRAWS, "expect": _Expect(optional=True)}
_MOVER: Mapping[str, Shape] = {"seat": _SEAT, "director": _Yes(optional=True), **_MORE}
_FORMS: Mapping[str, Obj] = {
    "move": Obj({"move": _ANY, **_MOVER}),
    "moves": Obj({"moves": ListOf(_ANY, 1), **_MOVER}),
    "deadline": Obj({"deadline": _Yes(), **_MORE}),
    "engine": Obj({"engine": _Yes(), **_MORE}),
    "rewind": Obj({"rewind": Int(0), "fresh": _Yes(optional=True), **_MORE}),
    "join": Obj({"join": _SEAT, "player": Word(optional=True), **_MORE}),
    "leave": Obj({"leave": _SEAT, **_MORE}),
}
_STEPS = ListOf(_Step(), 0, _LIMIT)
_VARIANT = Obj({"name": Word(), "about": _TEXT, "steps": _STEPS, "expect": _END})
_BEGINNING: Mapping[str, Shape] = {
    "about": _TEXT,
    "ruleset": Word(),
    "table": Obj({"seats": Int(1, 99), "options": _OBJECT}),
    "setup_draws": _DRAWS,
    "seed": Int(-MAX_INT, MAX_INT, optional=True),
    "blank": _Yes(optional=True),
    "patch": _OBJECT,
    "expect": _END,
}
_DOCUMENT = Obj({**_BEGINNING, "steps": _STEPS})
_FORKED = Obj({**_BEGINNING, "steps": replace(_STEPS, optional=True), "variants": ListOf(_VARIANT, 1, _LIMIT)})


def parse(text: str | bytes) -> Json:
    """The document in a file; raises ScenarioError for what is no JSON, holds a float or repeats a key."""

    def no_float(number: str) -> NoReturn:
        raise ScenarioError(f"{number}: scenarios hold integers only")

    def unique(pairs: list[tuple[str, Json]]) -> Doc:
        doc = dict(pairs)
        if len(doc) != len(pairs):
            raise ScenarioError(f"a key comes twice among {', '.join(sorted(k for k, _ in pairs))}")
        return doc

    try:
        doc: Json = json.loads(text, parse_float=no_float, parse_constant=no_float, object_pairs_hook=unique)
        json.dumps(doc, ensure_ascii=False).encode()  # half a character is no text
        return doc
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"not JSON: {error}") from None


def _check_depth(doc: Json) -> None:
    level = [doc]
    for _ in range(_DEPTH):
        items = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list)))
        level = [item for inner in items for item in inner]
    if level:
        raise ScenarioError(f"/: at most {_DEPTH} levels are expected")


def check(doc: Json) -> None:
    """Raises ScenarioError, with a JSON pointer, for a document that is no scenario."""
    _check_depth(doc)
    form = _FORKED if isinstance(doc, dict) and "variants" in doc else _DOCUMENT
    if fault := form.fault(doc, ""):
        pointer, want = fault
        unknown = want == "no such field"
        raise ScenarioError(f"{pointer or '/'}: " + ("no such member" if unknown else f"{want} is expected"))
    if "seed" in doc and "setup_draws" in doc:
        raise ScenarioError("/setup_draws: with a seed nothing is told of the set-up")
    names = [variant["name"] for variant in doc.get("variants", ())]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise ScenarioError(f"/variants/{at}/name: {name} is the name of another variant")

"""Validator of scenario documents; it reports the first faulty place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from domain.errors import ScenarioError
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.schema.validators import FieldError, IntegerRange, ListOf, ObjectOf, Validator, Word
from domain.types import MAX_INT, Doc, Json


@dataclass(frozen=True)
class _AnyOf(Validator):
    """Any value of one JSON type; of any type without `of`."""

    of: type | None = None
    what: str = "a value"
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return None if self.of is None or type(value) is self.of else (pointer, self.what)


@dataclass(frozen=True)
class _True(Validator):
    """The value true, for marker members."""

    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return None if value is True else (pointer, "true")


@dataclass(frozen=True)
class _Pattern(Validator):
    """A string matching a pattern."""

    form: str
    what: str
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        fits = isinstance(value, str) and re.fullmatch(self.form, value, re.DOTALL)
        return None if fits else (pointer, self.what)


@dataclass(frozen=True)
class _MapForm(Validator):
    """An object with keys of one pattern and values of one form."""

    keys: _Pattern
    item: Validator
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        if not isinstance(value, dict):
            return pointer, "an object"
        for key, item in value.items():
            if fault := self.keys.find_error(key, f"{pointer}/{key}") or self.item.find_error(item, f"{pointer}/{key}"):
                return fault
        return None


@dataclass(frozen=True)
class _DrawForm(Validator):
    """A value, or an object with a label as well."""

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return _LABELLED.find_error(value, pointer) if isinstance(value, dict) else None


@dataclass(frozen=True)
class _ExpectForm(Validator):
    """A refusal, or expectations after the step."""

    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        return (_REFUSAL if isinstance(value, dict) and "refused" in value else _OUTCOME).find_error(value, pointer)


@dataclass(frozen=True)
class _StepForm(Validator):
    """One of the forms, distinguished by a member of its own."""

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        found = [name for name in _FORMS if isinstance(value, dict) and name in value]
        if len(found) != 1:
            return pointer, "an object with one of " + ", ".join(_FORMS)
        return _FORMS[found[0]].find_error(value, pointer)


_LIMIT = 100_000
_DEPTH = 100
"""Most levels of nesting in a document."""
_SEAT = IntegerRange(0, 99)
_ANY = _AnyOf()
_TEXT = _AnyOf(str, "a string", optional=True)
_OBJECT = _AnyOf(dict, "an object", optional=True)
_VALUES = ListOf(_ANY, 0, _LIMIT, optional=True)
_OBJECTS = ListOf(_AnyOf(dict, "an object"), 0, _LIMIT, optional=True)
_LABELLED = ObjectOf({"label": Word(), "value": _ANY})
_DRAWS = ListOf(_DrawForm(), 0, _LIMIT, optional=True)
_POINTER = _Pattern(r"(/.*)?", "a JSON pointer, which starts with /,")
_POINTERS = ListOf(_POINTER, 0, _LIMIT, optional=True)
_PLACES = _MapForm(_POINTER, _ANY, optional=True)
_SEAT_KEY = _Pattern(r"0|[1-9]\d?", "a seat's number")
_VIEWER_KEY = _Pattern(r"public|director|0|[1-9]\d?", "public, director or a seat's number")
_SCORE = ObjectOf(
    {"place": IntegerRange(1, 99, optional=True), "points": IntegerRange(-MAX_INT, optional=True), "detail": _OBJECT}
)
_SEEN = ObjectOf({"sight": _PLACES, "absent": _POINTERS, "facts": _OBJECTS, "no_facts": _OBJECTS})
_OFFER = ObjectOf(
    {
        "seat": _SEAT,
        "picks": _VALUES,
        "field": Word(optional=True),
        "options": _VALUES,
        "offered": _VALUES,
        "not_offered": _VALUES,
        "range": ListOf(IntegerRange(-MAX_INT), 2, 2, optional=True),
        "move": _OBJECT,
        "refused": Word(optional=True),
    }
)
_REFUSAL = ObjectOf({"refused": Word(), "rule": Word(optional=True), "detail": _OBJECT})
_OUTCOME = ObjectOf(
    {
        "state": _PLACES,
        "absent": _POINTERS,
        "decisions": _OBJECTS,
        "facts": _OBJECTS,
        "no_facts": _OBJECTS,
        "scores": _MapForm(_SEAT_KEY, _SCORE, optional=True),
        "viewers": _MapForm(_VIEWER_KEY, _SEEN, optional=True),
        "offers": ListOf(_OFFER, 0, _LIMIT, optional=True),
    }
)
_END = replace(_OUTCOME, optional=True)
_MORE: Mapping[str, Validator] = {"about": _TEXT, "draws": _DRAWS, "expect": _ExpectForm(optional=True)}
_MOVER: Mapping[str, Validator] = {"seat": _SEAT, "director": _True(optional=True), **_MORE}
_ENDING = ObjectOf(
    {
        "reason": _Pattern("|".join(ENDINGS), "one of " + ", ".join(ENDINGS)),
        "places": ListOf(IntegerRange(1, 99), 0, 100, optional=True),
        "forfeits": ListOf(_SEAT, 0, 100, optional=True),
        "penalties": _MapForm(_SEAT_KEY, IntegerRange(-MAX_INT, MAX_INT), optional=True),
    }
)
_FORMS: Mapping[str, ObjectOf] = {
    "move": ObjectOf({"move": _ANY, **_MOVER}),
    "moves": ObjectOf({"moves": ListOf(_ANY, 1), **_MOVER}),
    "deadline": ObjectOf({"deadline": _True(), **_MORE}),
    "engine": ObjectOf({"engine": _True(), **_MORE}),
    "rewind": ObjectOf({"rewind": IntegerRange(0), "fresh": _True(optional=True), **_MORE}),
    "join": ObjectOf({"join": _SEAT, "player": Word(optional=True), **_MORE}),
    "leave": ObjectOf({"leave": _SEAT, **_MORE}),
    "end": ObjectOf({"end": _ENDING, **_MORE}),
    "withdraw": ObjectOf({"withdraw": _True(), **_MORE}),
    "pause": ObjectOf({"pause": ObjectOf({"moves": _True(optional=True)}), **_MORE}),
    "resume": ObjectOf({"resume": _True(), **_MORE}),
}
_STEPS = ListOf(_StepForm(), 0, _LIMIT)
_VARIANT = ObjectOf({"name": Word(), "about": _TEXT, "steps": _STEPS, "expect": _END})
_BEGINNING: Mapping[str, Validator] = {
    "about": _TEXT,
    "ruleset": Word(),
    "table": ObjectOf({"seats": IntegerRange(1, 99), "options": _OBJECT}),
    "setup_draws": _DRAWS,
    "seed": IntegerRange(-MAX_INT, MAX_INT, optional=True),
    "blank": _True(optional=True),
    "patch": _OBJECT,
    "expect": _END,
}
_DOCUMENT = ObjectOf({**_BEGINNING, "steps": _STEPS})
_FORKED = ObjectOf({**_BEGINNING, "steps": replace(_STEPS, optional=True), "variants": ListOf(_VARIANT, 1, _LIMIT)})


def parse(text: str | bytes) -> Json:
    """Parse the document in a file; raise ScenarioError for invalid JSON, a float or a repeated key."""

    def no_float(number: str) -> NoReturn:
        raise ScenarioError(f"{number}: scenarios hold integers only")

    def unique(pairs: list[tuple[str, Json]]) -> Doc:
        doc = dict(pairs)
        if len(doc) != len(pairs):
            raise ScenarioError(f"a key comes twice among {', '.join(sorted(k for k, _ in pairs))}")
        return doc

    try:
        doc: Json = json.loads(text, parse_float=no_float, parse_constant=no_float, object_pairs_hook=unique)
        json.dumps(doc, ensure_ascii=False).encode()  # half a surrogate pair is no text
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
    """Raise ScenarioError, with a JSON pointer, for an invalid scenario."""
    _check_depth(doc)
    form = _FORKED if isinstance(doc, dict) and "variants" in doc else _DOCUMENT
    if fault := form.find_error(doc, ""):
        pointer, want = fault
        unknown = want == "no such field"
        raise ScenarioError(f"{pointer or '/'}: " + ("no such member" if unknown else f"{want} is expected"))
    if "seed" in doc and "setup_draws" in doc:
        raise ScenarioError("/setup_draws: with a seed nothing is told of the set-up")
    names = [variant["name"] for variant in doc.get("variants", ())]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise ScenarioError(f"/variants/{at}/name: {name} is the name of another variant")

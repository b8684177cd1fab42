"""JSON form of a state: driven by the types, strict, and patchable by scenarios.

Dataclasses are objects, dicts keep their string keys, a tuple by seat (`Annotated[tuple[X, ...], BY_SEAT]`) is an
object keyed "0", "1" .. so a merge patch (RFC 7396) reaches one seat, other tuples are lists.
A missing field takes its default; an unknown one is an error with its JSON pointer.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import msgspec

from domain.errors import FormError
from domain.types import MAX_INT, Doc, Json

BY_SEAT = "by seat"
"""Marks a tuple with one item per seat: `Annotated[tuple[int, ...], BY_SEAT]`."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")

Hint = Any
"""A type annotation of `typing`."""

Encoder = Callable[[Any], Json]


@functools.cache
def field_types(cls: type) -> Doc:
    """Return field name -> type, annotations kept."""
    types_by_name = typing.get_type_hints(cls, include_extras=True)
    return {f.name: types_by_name[f.name] for f in fields(cls)}


def _origin(hint: Hint) -> Hint:
    return typing.get_origin(hint)


def _is_by_seat(hint: Hint) -> bool:
    return BY_SEAT in getattr(hint, "__metadata__", ())


def _without_annotation(hint: Hint) -> Hint:
    return hint.__origin__ if hasattr(hint, "__metadata__") else hint


def _inner_of_optional(hint: Hint) -> Hint | None:
    """Return X of `X | None`; None for any other type."""
    if _origin(hint) not in (typing.Union, types.UnionType):
        return None
    rest = [a for a in typing.get_args(hint) if a is not type(None)]
    return rest[0] if len(rest) == 1 else None


# --- to JSON ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def encoder(hint: Hint, whole: bool = True) -> Encoder | None:
    """Return a function from a value of the type to its JSON form; None if the value is its own form.

    Without `whole`, convert only the parts unknown to msgspec: tuples by seat. It encodes the rest the same way.
    """
    base = _without_annotation(hint)
    origin, args = _origin(base), typing.get_args(base)
    if is_dataclass(base):
        return _encode_object(typing.cast(type, base), whole)
    if (inner := _inner_of_optional(base)) is not None:
        return _encode_optional(encoder(inner, whole))
    if origin is tuple and _is_by_seat(hint):
        return _encode_by_seat(encoder(args[0], whole))
    if origin is tuple:
        return _encode_list(encoder(args[0], whole), whole)
    if origin is dict:
        return _encode_dict(encoder(args[1], whole))
    if base not in (int, str, bool, Any):
        raise TypeError(f"a state holds no {base}: dataclasses, tuples, dicts, int, str, bool, Any and X | None")
    return None


def _encode_optional(item: Encoder | None) -> Encoder | None:
    return None if item is None else lambda x: None if x is None else item(x)


def _encode_by_seat(item: Encoder | None) -> Encoder:
    return lambda x: {str(i): v if item is None else item(v) for i, v in enumerate(x)}


def _encode_list(item: Encoder | None, whole: bool) -> Encoder | None:
    if item is None:
        return list if whole else None
    return lambda x: [item(v) for v in x]


def _encode_dict(item: Encoder | None) -> Encoder | None:
    return None if item is None else lambda x: {k: item(v) for k, v in x.items()}


def _encode_object(cls: type, whole: bool) -> Encoder | None:
    parts = {name: encoder(hint, whole) for name, hint in field_types(cls).items()}
    if not whole and not any(parts.values()):
        return None

    def encode(x: object) -> Json:
        return {n: getattr(x, n) if e is None else e(getattr(x, n)) for n, e in parts.items()}

    return encode


def to_json(value: object, hint: Hint = None) -> Json:
    """Return the JSON form of a dataclass, or of any value of type `hint`."""
    kind: Hint = type(value) if hint is None else hint
    encode = encoder(kind)
    return value if encode is None else encode(value)


# --- from JSON ----------------------------------------------------------------------------------------------


def _require(ok: bool, reason: str, pointer: str) -> None:
    if not ok:
        raise FormError(reason, pointer)


def from_json(hint: Hint, doc: Json, pointer: str = "") -> Json:
    """Return the value of a JSON form; raise FormError with the JSON pointer of the first fault."""
    base = _without_annotation(hint)
    origin, args = _origin(base), typing.get_args(base)
    if is_dataclass(base):
        return _decode_object(typing.cast(type, base), doc, pointer)
    if (inner := _inner_of_optional(base)) is not None:
        return None if doc is None else from_json(inner, doc, pointer)
    if origin is tuple and _is_by_seat(hint):
        _require(isinstance(doc, dict), "an object keyed by seat is expected", pointer)
        want = [str(i) for i in range(len(doc))]
        _require(sorted(doc) == sorted(want), "the keys must be the seats 0..n-1", pointer)
        return tuple(from_json(args[0], doc[k], child_pointer(pointer, k)) for k in want)
    if origin is tuple:
        _require(isinstance(doc, list), "a list is expected", pointer)
        return tuple(from_json(args[0], v, child_pointer(pointer, i)) for i, v in enumerate(doc))
    if origin is dict:
        _require(isinstance(doc, dict), "an object is expected", pointer)
        return {k: from_json(args[1], v, child_pointer(pointer, k)) for k, v in doc.items()}
    if base is Any:
        _check_bounds(doc, pointer)
        return doc
    _require(type(doc) is base, f"{getattr(base, '__name__', base)} is expected", pointer)
    if base is int:
        _check_bounds(doc, pointer)
    return doc


def _check_bounds(doc: Json, pointer: str) -> None:
    """Refuse integers too large for other JSON readers: they would be rounded."""
    if isinstance(doc, dict):
        for key, value in doc.items():
            _check_bounds(value, child_pointer(pointer, key))
    elif isinstance(doc, list):
        for i, value in enumerate(doc):
            _check_bounds(value, child_pointer(pointer, i))
    else:
        _require(type(doc) is not int or abs(doc) <= MAX_INT, f"a whole number up to {MAX_INT} is expected", pointer)


def _decode_object(cls: type, doc: Json, pointer: str) -> Json:
    _require(isinstance(doc, dict), "an object is expected", pointer)
    types_by_name = field_types(cls)
    for name in sorted(set(doc) - set(types_by_name)):
        raise FormError("no such field", child_pointer(pointer, name))
    for f in fields(cls):
        if f.name not in doc and f.default is MISSING and f.default_factory is MISSING:
            raise FormError("is required", child_pointer(pointer, f.name))
    return cls(**{n: from_json(h, doc[n], child_pointer(pointer, n)) for n, h in types_by_name.items() if n in doc})


# --- patches and pointers ------------------------------------------------------------------------------------


def merge_patch(doc: Json, patch: Json) -> Json:
    """Apply a merge patch (RFC 7396).

    Objects are merged, null deletes (the field takes its default), all else is replaced.
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(doc) if isinstance(doc, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def make_merge_patch(before: Doc, after: Doc) -> Doc:
    """Return the merge patch from `before` to `after`. It cannot set a member to null: `null` deletes."""
    patch: Doc = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            same = msgspec.json.encode(old) == msgspec.json.encode(value)  # most are, and this is quicker than to walk
            if not same and (inner := make_merge_patch(old, value)):
                patch[key] = inner
        elif key not in before or old != value or type(old) is not type(value):
            patch[key] = value
    return patch


def resolve(doc: Json, pointer: str) -> Json:
    """Return the value at a JSON pointer (RFC 6901); raise FormError if there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            doc = doc[int(key)] if isinstance(doc, list) and _INDEX.fullmatch(key) else doc[key]
        except (KeyError, IndexError, TypeError):
            raise FormError("there is nothing", pointer) from None
    return doc


def has_place(hint: Hint, pointer: str) -> bool:
    """Return whether some value of type `hint` has a member at the JSON pointer."""
    for part in pointer.split("/")[1:]:
        while (inner := _inner_of_optional(_without_annotation(hint))) is not None:
            hint = inner
        base = _without_annotation(hint)
        if base is Any:
            return True
        origin, key = _origin(base), part.replace("~1", "/").replace("~0", "~")
        if is_dataclass(base):
            hint = field_types(typing.cast(type, base)).get(key)
        elif origin is dict:
            hint = typing.get_args(base)[1]
        else:
            hint = typing.get_args(base)[0] if origin is tuple and _INDEX.fullmatch(key) else None
        if hint is None:
            return False
    return True


def child_pointer(pointer: str, name: object) -> str:
    """Return the JSON pointer of a member below a pointer."""
    return f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"

"""The JSON form of a state: driven by the types, strict, so that a scenario can patch it.

Dataclasses are objects, dicts keep their string keys, a tuple by seat (`Annotated[tuple[X, ...], BY_SEAT]`) is an
object keyed "0", "1" .. so that a merge patch (RFC 7396) reaches one seat, other tuples are lists.
A missing field takes its default; an unknown one is an error that names its JSON pointer.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from domain.errors import FormError
from domain.types import MAX_INT, Doc, Json

BY_SEAT = "by seat"
"""Marks a tuple with one item per seat: `Annotated[tuple[int, ...], BY_SEAT]`."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")

Hint = Any
"""A type as `typing` tells it."""

Encoder = Callable[[Any], Json]


@functools.cache
def hints(cls: type) -> Doc:
    """Field name -> type, annotations kept."""
    found = typing.get_type_hints(cls, include_extras=True)
    return {f.name: found[f.name] for f in fields(cls)}


def _origin(hint: Hint) -> Hint:
    return typing.get_origin(hint)


def _by_seat(hint: Hint) -> bool:
    return BY_SEAT in getattr(hint, "__metadata__", ())


def _plain(hint: Hint) -> Hint:
    return hint.__origin__ if hasattr(hint, "__metadata__") else hint


def _optional(hint: Hint) -> Hint | None:
    """X of `X | None`; None for any other type."""
    if _origin(hint) not in (typing.Union, types.UnionType):
        return None
    rest = [a for a in typing.get_args(hint) if a is not type(None)]
    return rest[0] if len(rest) == 1 else None


# --- to JSON ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def encoder(hint: Hint, whole: bool = True) -> Encoder | None:
    """A function from a value of that type to its JSON form; None where the value is its own form.

    Not `whole`: only as far as msgspec, which knows dataclasses but no tuples by seat, encodes the rest the same.
    """
    base = _plain(hint)
    origin, args = _origin(base), typing.get_args(base)
    if is_dataclass(base):
        return _encode_object(typing.cast(type, base), whole)
    if (inner := _optional(base)) is not None:
        return _encode_optional(encoder(inner, whole))
    if origin is tuple and _by_seat(hint):
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
    parts = {name: encoder(hint, whole) for name, hint in hints(cls).items()}
    if not whole and not any(parts.values()):
        return None

    def encode(x: object) -> Json:
        return {n: getattr(x, n) if e is None else e(getattr(x, n)) for n, e in parts.items()}

    return encode


def to_json(value: object, hint: Hint = None) -> Json:
    """The JSON form of a dataclass, or of any value of type `hint`."""
    of: Hint = type(value) if hint is None else hint
    encode = encoder(of)
    return value if encode is None else encode(value)


# --- from JSON ----------------------------------------------------------------------------------------------


def _want(ok: bool, reason: str, at: str) -> None:
    if not ok:
        raise FormError(reason, at)


def from_json(hint: Hint, doc: Json, at: str = "") -> Json:
    """The value that `doc` is the form of; raises FormError with the JSON pointer of the first fault."""
    base = _plain(hint)
    origin, args = _origin(base), typing.get_args(base)
    if is_dataclass(base):
        return _object(typing.cast(type, base), doc, at)
    if (inner := _optional(base)) is not None:
        return None if doc is None else from_json(inner, doc, at)
    if origin is tuple and _by_seat(hint):
        _want(isinstance(doc, dict), "an object keyed by seat is expected", at)
        want = [str(i) for i in range(len(doc))]
        _want(sorted(doc) == sorted(want), "the keys must be the seats 0..n-1", at)
        return tuple(from_json(args[0], doc[k], child(at, k)) for k in want)
    if origin is tuple:
        _want(isinstance(doc, list), "a list is expected", at)
        return tuple(from_json(args[0], v, child(at, i)) for i, v in enumerate(doc))
    if origin is dict:
        _want(isinstance(doc, dict), "an object is expected", at)
        return {k: from_json(args[1], v, child(at, k)) for k, v in doc.items()}
    if base is Any:
        _bounded(doc, at)
        return doc
    _want(type(doc) is base, f"{getattr(base, '__name__', base)} is expected", at)
    if base is int:
        _bounded(doc, at)
    return doc


def _bounded(doc: Json, at: str) -> None:
    """JSON of other programs holds no greater numbers: they would come back as others."""
    if isinstance(doc, dict):
        for key, value in doc.items():
            _bounded(value, child(at, key))
    elif isinstance(doc, list):
        for i, value in enumerate(doc):
            _bounded(value, child(at, i))
    else:
        _want(type(doc) is not int or abs(doc) <= MAX_INT, f"a whole number up to {MAX_INT} is expected", at)


def _object(cls: type, doc: Json, at: str) -> Json:
    _want(isinstance(doc, dict), "an object is expected", at)
    known = hints(cls)
    for name in sorted(set(doc) - set(known)):
        raise FormError("no such field", child(at, name))
    for f in fields(cls):
        if f.name not in doc and f.default is MISSING and f.default_factory is MISSING:
            raise FormError("is required", child(at, f.name))
    return cls(**{n: from_json(h, doc[n], child(at, n)) for n, h in known.items() if n in doc})


# --- patches and pointers ------------------------------------------------------------------------------------


def merge_patch(doc: Json, patch: Json) -> Json:
    """RFC 7396: objects are merged, null deletes (the field takes its default), all else is replaced."""
    if not isinstance(patch, Mapping):
        return patch
    kept = dict(doc) if isinstance(doc, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = merge_patch(kept.get(key), value)
    return kept


def difference(before: Doc, after: Doc) -> Doc:
    """The merge patch that makes `after` of `before`, where one can: `null` deletes, so none can put one anywhere."""
    patch: Doc = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            if inner := difference(old, value):
                patch[key] = inner
        elif key not in before or old != value or type(old) is not type(value):
            patch[key] = value
    return patch


def resolve(doc: Json, pointer: str) -> Json:
    """The value at a JSON pointer (RFC 6901); raises FormError where there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            doc = doc[int(key)] if isinstance(doc, list) and _INDEX.fullmatch(key) else doc[key]
        except (KeyError, IndexError, TypeError):
            raise FormError("there is nothing", pointer) from None
    return doc


def has_place(hint: Hint, pointer: str) -> bool:
    """Whether a value of type `hint` can have something at a JSON pointer, if perhaps not now."""
    for part in pointer.split("/")[1:]:
        while (inner := _optional(_plain(hint))) is not None:
            hint = inner
        base = _plain(hint)
        if base is Any:
            return True
        origin, key = _origin(base), part.replace("~1", "/").replace("~0", "~")
        if is_dataclass(base):
            hint = hints(typing.cast(type, base)).get(key)
        elif origin is dict:
            hint = typing.get_args(base)[1]
        else:
            hint = typing.get_args(base)[0] if origin is tuple and _INDEX.fullmatch(key) else None
        if hint is None:
            return False
    return True


def child(at: str, name: object) -> str:
    """The JSON pointer of a member of what is at a pointer."""
    return f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"

"""JSON Schema 2020-12 of declared classes, with what their docstrings say of them and of their members."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import ClassVar

import msgspec

from domain.kernel.schema.json_codec import Hint
from domain.types import Doc, Json


@functools.cache
def schema_of(kind: type[msgspec.Struct]) -> Doc:
    """The schema of a declared class; the parts that it is made of stand in `$defs`."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for part in _reached(kind, set()):
        _tell(part, parts[part.__name__])
    own = parts.pop(kind.__name__)
    return {**own, "$defs": parts} if parts else own


def schemas_of(kinds: Iterable[type], name: Callable[[type], str]) -> dict[type, Doc]:
    """Class -> its schema, of these classes and of all that they are made of; none has `$defs`.

    A member of another class is `{"$ref": name(class)}`.
    """
    seen: set[type] = set()
    parts = [part for kind in kinds for part in _reached(kind, seen)]
    refs, made = msgspec.json.schema_components(parts, ref_template="{name}")
    known = {ref["$ref"]: part for ref, part in zip(refs, parts, strict=True)}
    for part_name, doc in made.items():
        _tell(known[part_name], doc)
    return {known[part]: _referring(doc, {n: name(k) for n, k in known.items()}) for part, doc in made.items()}


def _tell(kind: type, schema: Doc) -> None:
    """Adds what the docstrings below members say."""
    for name, said in _said(kind).items():
        member = schema["properties"].get(name)
        if member is not None:
            member.setdefault("description", said)


def _referring(schema: Json, names: Mapping[str, str]) -> Json:
    """The same with other names in its references."""
    if isinstance(schema, list):
        return [_referring(part, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: names[v] if k == "$ref" else _referring(v, names) for k, v in schema.items()}


def _reached(hint: Hint, seen: set[type]) -> Iterator[type]:
    """The declared classes and dataclasses that a type is made of."""
    if ClassVar in (hint, typing.get_origin(hint)):
        return
    if isinstance(hint, type) and (issubclass(hint, msgspec.Struct) or is_dataclass(hint)) and hint not in seen:
        seen.add(hint)
        yield hint
        for inner in typing.get_type_hints(hint).values():
            yield from _reached(inner, seen)
    for inner in typing.get_args(hint):
        yield from _reached(inner, seen)


@functools.cache
def _said(kind: type) -> Mapping[str, str]:
    """Member -> the docstring below it, in the class or one that it inherits from."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) or is_dataclass(base):
            found |= _below(base)
    return found


def _below(kind: type) -> Iterator[tuple[str, str]]:
    body = _classes(kind.__module__).get(kind.__qualname__)  # none for a class that was made while the program ran
    for member, said in itertools.pairwise(body.body if body else ()):
        if isinstance(member, ast.AnnAssign) and isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant):
            yield ast.unparse(member.target), inspect.cleandoc(str(said.value.value))


@functools.cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """The classes of a module by name; a module is read once, since it declares many."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

"""JSON Schema 2020-12 of declared classes, with the docstrings of classes and members as descriptions."""

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
    """Return the schema of a declared class; its nested classes stand in `$defs`."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for part in _nested_classes(kind, set()):
        _add_descriptions(part, parts[part.__name__])
    schema = parts.pop(kind.__name__)
    return {**schema, "$defs": parts} if parts else schema


def schemas_of(kinds: Iterable[type], name: Callable[[type], str]) -> dict[type, Doc]:
    """Return class -> schema for these classes and all nested ones, without `$defs`.

    A member of another class is `{"$ref": name(class)}`.
    """
    seen: set[type] = set()
    parts = [part for kind in kinds for part in _nested_classes(kind, seen)]
    refs, schemas = msgspec.json.schema_components(parts, ref_template="{name}")
    classes = {ref["$ref"]: part for ref, part in zip(refs, parts, strict=True)}
    for part_name, doc in schemas.items():
        _add_descriptions(classes[part_name], doc)
    return {
        classes[part]: _rename_references(doc, {n: name(k) for n, k in classes.items()})
        for part, doc in schemas.items()
    }


def _add_descriptions(kind: type, schema: Doc) -> None:
    """Add the docstrings of members as descriptions."""
    for name, docstring in _member_docstrings(kind).items():
        member = schema["properties"].get(name)
        if member is not None:
            member.setdefault("description", docstring)


def _rename_references(schema: Json, names: Mapping[str, str]) -> Json:
    """Return the schema with other names in its references."""
    if isinstance(schema, list):
        return [_rename_references(part, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: names[v] if k == "$ref" else _rename_references(v, names) for k, v in schema.items()}


def _nested_classes(hint: Hint, seen: set[type]) -> Iterator[type]:
    """Yield the declared classes and dataclasses inside a type."""
    if ClassVar in (hint, typing.get_origin(hint)):
        return
    if isinstance(hint, type) and (issubclass(hint, msgspec.Struct) or is_dataclass(hint)) and hint not in seen:
        seen.add(hint)
        yield hint
        for inner in typing.get_type_hints(hint).values():
            yield from _nested_classes(inner, seen)
    for inner in typing.get_args(hint):
        yield from _nested_classes(inner, seen)


@functools.cache
def _member_docstrings(kind: type) -> Mapping[str, str]:
    """Return member -> the docstring below it, in the class or one of its bases."""
    docstrings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) or is_dataclass(base):
            docstrings |= _docstrings_below(base)
    return docstrings


def _docstrings_below(kind: type) -> Iterator[tuple[str, str]]:
    body = _class_definitions(kind.__module__).get(kind.__qualname__)  # None for a class created at run time
    for member, docstring in itertools.pairwise(body.body if body else ()):
        if (
            isinstance(member, ast.AnnAssign)
            and isinstance(docstring, ast.Expr)
            and isinstance(docstring.value, ast.Constant)
        ):
            yield ast.unparse(member.target), inspect.cleandoc(str(docstring.value.value))


@functools.cache
def _class_definitions(module: str) -> Mapping[str, ast.ClassDef]:
    """Return the classes of a module by name; a module with many classes is parsed only once."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

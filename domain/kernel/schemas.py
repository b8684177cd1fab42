"""JSON Schema 2020-12 of declared classes, with what their docstrings say of them and of their members."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass

import msgspec

from domain.ids import Doc
from domain.kernel.jsonform import Hint


@functools.cache
def schema_of(kind: type[msgspec.Struct]) -> Doc:
    """The schema of a declared class; the parts that it is made of stand in `$defs`."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for part in _reached(kind, set()):
        for name, said in _said(part).items():
            member = parts[part.__name__]["properties"].get(name)
            if member is not None:
                member.setdefault("description", said)
    own = parts.pop(kind.__name__)
    return {**own, "$defs": parts} if parts else own


def _reached(hint: Hint, seen: set[type]) -> Iterator[type]:
    """The declared classes and dataclasses that a type is made of."""
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
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):  # a class that was made while the program ran
        return
    for member, said in itertools.pairwise(getattr(body, "body", ())):
        if isinstance(member, ast.AnnAssign) and isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant):
            yield ast.unparse(member.target), inspect.cleandoc(str(said.value.value))

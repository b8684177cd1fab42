"""Results of tools as text: the members of the structured document, in the same order, in short lines."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from domain.types import Json

SHORT = 110
"""Longest value on the line of its name, characters."""


def to_text(doc: Json) -> str:
    """Return a document as indented lines: `name: value`, with `- ` before each item of a list."""
    return "\n".join(_lines(doc, ""))


def _lines(value: Json, indent: str) -> Iterator[str]:
    items = value.items() if isinstance(value, dict) else [("-", each) for each in value]
    for name, part in items:
        label = f"{indent}-" if isinstance(value, list) else f"{indent}{name}:"
        if not isinstance(part, dict | list) or not part or len(short := _inline(part)) <= SHORT:
            yield f"{label} {_inline(part) if not isinstance(part, dict | list) or not part else short}"
        else:
            yield label
            yield from _lines(part, f"{indent}  ")


def _inline(value: Json) -> str:
    return value if isinstance(value, str) and "\n" not in value else msgspec.json.encode(value).decode()


def flatten(value: Json, path: str = "") -> Iterator[str]:
    """Yield a board as lines `path: value`. Short parts stand in one line; null and empty members are left out."""
    if value is None or value in ({}, [], ""):
        return
    text = _inline(value)
    if len(text) <= SHORT or not isinstance(value, dict | list):
        yield f"{path}: {text}" if path else text
        return
    items = value.items() if isinstance(value, dict) else ((str(place), each) for place, each in enumerate(value))
    for name, part in items:
        yield from flatten(part, f"{path}.{name}" if path else name)


def select(value: Json, path: str) -> Json:
    """Return the part of a document at a path such as `empires.0.units`. Raise KeyError without one."""
    for name in filter(None, path.split(".")):
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            raise KeyError(path)
    return value

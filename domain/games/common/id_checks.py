"""Unknown ids in a state: lines for the invariants, each with its JSON pointer."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

Place = tuple[str, object]
"""(JSON pointer into the state, the id at this place)."""


def unknown_ids(kind: str, known_ids: Container[object], places: Iterable[Place]) -> Iterator[str]:
    """Yield a line for each unknown id; None is no id."""
    for pointer, name in places:
        if name is not None and name not in known_ids:
            yield f"{pointer}: there is no {kind} {name}"


def keys(pointer: str, mapping: Mapping[str, object]) -> Iterator[Place]:
    """Yield the keys of an object as ids."""
    return ((f"{pointer}/{key}", key) for key in mapping)


def items(pointer: str, values: Iterable[object]) -> Iterator[Place]:
    """Yield the items of a list as ids."""
    return ((f"{pointer}/{i}", item) for i, item in enumerate(values))

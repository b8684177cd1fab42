"""Ids that a state names and a game does not know: lines for the invariants, each with its JSON pointer."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

Place = tuple[str, object]
"""(JSON pointer into the state, the id that stands there)."""


def unknown(what: str, known: Container[object], places: Iterable[Place]) -> Iterator[str]:
    """A line for each id that is not known; None is no id."""
    for at, name in places:
        if name is not None and name not in known:
            yield f"{at}: there is no {what} {name}"


def keys(at: str, of: Mapping[str, object]) -> Iterator[Place]:
    """The keys of an object as ids."""
    return ((f"{at}/{key}", key) for key in of)


def items(at: str, of: Iterable[object]) -> Iterator[Place]:
    """The items of a list as ids."""
    return ((f"{at}/{i}", item) for i, item in enumerate(of))

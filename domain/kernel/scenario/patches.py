"""Patches: the place of a fault in them, and the difference of two states as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import Context
from domain.kernel.schema.json_codec import child
from domain.types import Doc, Json

_BETWEEN = re.compile(r"[.\[\]]+")

_TRIED = 40
"""So many members of a patch are left out one by one to find the fault."""


def difference(old: Doc, new: Doc) -> Doc:
    """The merge patch that makes `new` of `old`."""
    patch: Doc = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            if inner := difference(old[key], value):
                patch[key] = inner
        elif key not in old or old[key] != value:
            patch[key] = value
    return patch


# --- where a fault comes from ------------------------------------------------------------------------------------


def named(patch: Json, error: Exception) -> list[str]:
    """Pointers of the keys and words of a patch that an exception names, as a KeyError names its key."""
    words = [str(word) for word in error.args if isinstance(word, (str, int)) and str(word)]
    return [at for at, word in _words(patch, "/patch") if word in words]


def _words(value: Json, at: str) -> Iterator[tuple[str, str]]:
    members: Iterable[tuple[object, Json]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    elif isinstance(value, str):
        yield at, value
    for key, item in members:
        if isinstance(key, str):
            yield child(at, key), key
        yield from _words(item, child(at, key))


def guilty(patch: Doc, works: Callable[[Doc], bool]) -> list[str]:
    """Pointers of the members without which the game works; where no single one is to blame, all at the top."""
    leaves = list(_leaves(patch, ()))[:_TRIED]
    found = ["/patch" + "".join(child("", key) for key in path) for path in leaves if works(_without(patch, path))]
    return found or [child("/patch", key) for key in patch]


def _leaves(patch: Doc, at: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*at, key))
        else:
            yield (*at, key)


def _without(patch: Doc, path: tuple[str, ...]) -> Doc:
    first, *rest = path
    if not rest:
        return {k: v for k, v in patch.items() if k != first}
    return {**patch, first: _without(patch[first], tuple(rest))}


# --- what every game's state must keep to ----------------------------------------------------------------------


def strays(rules: AnyRuleset, state: State, table: int, by_seat: Iterable[str]) -> Iterator[str]:
    """Seats and kinds of frames that there are not, each line with its JSON pointer.

    `table` is the number of seats, `by_seat` names the tuples that have an item for each.
    """
    seats = range(table)
    if state.seats != table:
        yield f"/seats: the table has {table}"
    for name in by_seat:
        if len(getattr(state, name)) != table:
            yield f"/{name}: the keys must be the seats 0 to {table - 1}"
    yield from (f"/vacant/{i}: there is no seat {seat}" for i, seat in enumerate(state.vacant) if seat not in seats)
    for at, frame in enumerate(state.frames):
        for name in ("asked", "owing", "done"):
            asked = enumerate(getattr(frame, name))
            yield from (f"/frames/{at}/{name}/{i}: there is no seat {x}" for i, x in asked if x not in seats)
        if frame.kind not in rules.frames:
            yield f"/frames/{at}/kind: there is no decision {frame.kind}; there are {', '.join(sorted(rules.frames))}"
        elif fault := _misfit(rules.frames[frame.kind], frame.data):
            yield f"/frames/{at}/data{fault}"


def _misfit(kind: type[Context], data: Doc) -> str:
    """Why a context is none of its kind: where, as a JSON pointer, and what is wrong."""
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        said, _, at = str(error).partition(" - at `$")
        return f"{_BETWEEN.sub('/', at.rstrip('`]'))}: {said.replace('`', '')}"
    return ""

"""Patches: the place of a fault in them, and the difference of two states as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import Context
from domain.kernel.schema.json_codec import child_pointer
from domain.types import Doc, Json

_BETWEEN = re.compile(r"[.\[\]]+")

_TRIED = 40
"""Most members of a patch left out one by one to find the fault."""


def make_patch(old: Doc, new: Doc) -> Doc:
    """Return the merge patch from `old` to `new`."""
    patch: Doc = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            if inner := make_patch(old[key], value):
                patch[key] = inner
        elif key not in old or old[key] != value:
            patch[key] = value
    return patch


# --- origin of a fault -------------------------------------------------------------------------------------------


def pointers_named_by(patch: Json, error: Exception) -> list[str]:
    """Return pointers of the patch's keys and words named by an exception, as a KeyError names its key."""
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
            yield child_pointer(at, key), key
        yield from _words(item, child_pointer(at, key))


def faulty_members(patch: Doc, works: Callable[[Doc], bool]) -> list[str]:
    """Return pointers of the members breaking the game; without a single culprit, all at the top."""
    leaves = list(_leaves(patch, ()))[:_TRIED]
    found = [
        "/patch" + "".join(child_pointer("", key) for key in path) for path in leaves if works(_without(patch, path))
    ]
    return found or [child_pointer("/patch", key) for key in patch]


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


# --- rules of every game's state -----------------------------------------------------------------------------


def find_unknown_ids(rules: AnyRuleset, state: State, table: int, by_seat: Iterable[str]) -> Iterator[str]:
    """Yield a line with a JSON pointer for each unknown seat and kind of frame.

    `table` is the number of seats, `by_seat` names the tuples with an item for each.
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
        elif fault := _context_error(rules.frames[frame.kind], frame.data):
            yield f"/frames/{at}/data{fault}"


def _context_error(kind: type[Context], data: Doc) -> str:
    """Return the place, as a JSON pointer, and reason of a context's misfit; empty for a valid one."""
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        said, _, at = str(error).partition(" - at `$")
        return f"{_BETWEEN.sub('/', at.rstrip('`]'))}: {said.replace('`', '')}"
    return ""

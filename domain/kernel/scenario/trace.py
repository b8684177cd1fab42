"""Trace of a step, for observers of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from domain.errors import RuleError
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import child_pointer, to_json
from domain.types import Json

MISSING = object()
"""Old or new value of a missing member."""


@dataclass(frozen=True)
class Change:
    """A changed place of the state; `old` or `new` is MISSING if the member did not or does not exist."""

    pointer: str
    old: Json
    new: Json


@dataclass(frozen=True)
class StepTrace:
    """One executed step, before its expectations are compared."""

    variant: str
    """Name of the variant; empty for the steps of the document."""
    step: int
    """0: the set-up."""
    done: Record | RuleError
    decisions: list[Json]
    """The open decisions as seen by everybody."""
    before: Json = field(repr=False)
    """The state before; None for the set-up."""
    after: Json = field(repr=False)

    def changes(self) -> Iterator[Change]:
        """Yield the changes of the state, the smallest differing places; nothing for the set-up."""
        if self.before is not None and self.before is not self.after:
            yield from changes(to_json(self.before), to_json(self.after))


def changes(old: Json, new: Json, at: str = "") -> Iterator[Change]:
    """Yield the smallest differing places, in the order of the old value; a list of another length is one place."""
    if type(old) is type(new) and isinstance(old, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from changes(old.get(key, MISSING), new.get(key, MISSING), child_pointer(at, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, child_pointer(at, i))
    elif type(old) is not type(new) or old != new:
        yield Change(at, old, new)

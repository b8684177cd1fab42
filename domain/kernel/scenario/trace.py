"""What a step has brought: for whoever watches a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from domain.errors import RuleError
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import child, to_json
from domain.types import Json

NOTHING = object()
"""Old or new, where there was or is no such member."""


@dataclass(frozen=True)
class Change:
    """A place of the state whose value differs; `old` or `new` is NOTHING where there was or is none."""

    pointer: str
    old: Json
    new: Json


@dataclass(frozen=True)
class Seen:
    """One step that was done, before its expectations are compared."""

    variant: str
    """Name of the variant; empty for the steps of the document."""
    step: int
    """0: the set-up."""
    done: Record | RuleError
    decisions: list[Json]
    """The open decisions as everybody sees them."""
    before: Json = field(repr=False)
    """The state before; None for the set-up."""
    after: Json = field(repr=False)

    def changes(self) -> Iterator[Change]:
        """What of the state has changed, the smallest places that differ; nothing for the set-up."""
        if self.before is not None and self.before is not self.after:
            yield from changes(to_json(self.before), to_json(self.after))


def changes(old: Json, new: Json, at: str = "") -> Iterator[Change]:
    """The smallest places that differ, in the order of the old value; a list of another length is one place."""
    if type(old) is type(new) and isinstance(old, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from changes(old.get(key, NOTHING), new.get(key, NOTHING), child(at, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, child(at, i))
    elif type(old) is not type(new) or old != new:
        yield Change(at, old, new)

"""Moves as small numbers: each pick of the move builder is one action or several.

An action is a number from 0 to `ACTIONS` - 1. A pick among n is a number below n, written with digits to the base
`ACTIONS`, the highest first, so nearly every pick is one action. Several options are picked one after the other. The
actions allowed are always the first ones: 0, 1 and so on. Every legal move of the builder has exactly one spelling.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from domain.kernel.rules.choices import Builder, Choice, accept
from domain.kernel.schema import declarations
from domain.types import Doc, Json

ACTIONS = 64
"""Size of the action space."""


@dataclass(frozen=True)
class PickStep:
    """One action asked for."""

    field: str
    """Field of the move, as in the move builder."""
    kind: str
    """`one`, `some` or `range`, as in the move builder; `act`: to move without being asked, or not."""
    entries: Sequence[Json]
    """The value behind each possible number; None among `some` ends the selection."""
    picked: tuple[Json, ...] = ()
    """Picks made for this move so far, and options of this question picked so far."""
    spelled: int = 0
    """Number of the digits so far."""
    weight: int = 1
    """Factor of the next digit."""

    @property
    def allowed(self) -> int:
        """The number of allowed actions: 0 to this number - 1."""
        return min(ACTIONS, -(-(len(self.entries) - self.spelled) // self.weight))

    def value_of(self, action: int) -> Json:
        """Return the value picked by an action; before the last digit, the first and the last value it leads to."""
        first = self.spelled + action * self.weight
        if self.weight == 1:
            return self.entries[first]
        return [self.entries[first], self.entries[min(first + self.weight, len(self.entries)) - 1]]


Steps = Generator[PickStep, int, Doc]
"""Steps of one move: it yields a step, receives an action, and at last returns the finished move."""


def move_steps(builder: Builder) -> Steps:
    """Ask for a move by steps with two or more allowed actions. Picks without a choice are made at once."""
    picks: list[Json] = []
    try:
        ask = next(builder)
        while True:
            pick = accept(ask, (yield from _spell_pick(ask, tuple(picks))))
            picks.append(pick)
            ask = builder.send(pick)
    except StopIteration as end:
        return declarations.doc(end.value)


def _spell_pick(ask: Choice, picks: tuple[Json, ...]) -> Generator[PickStep, int, Json]:
    if ask.kind == "some":
        return (yield from _spell_selection(ask, picks))
    entries = range(ask.lo, ask.hi + 1) if ask.kind == "range" else ask.values
    return entries[(yield from spell_number(PickStep(ask.field, ask.kind, entries, picks)))]


def _spell_selection(ask: Choice, picks: tuple[Json, ...]) -> Generator[PickStep, int, Json]:
    """Ask for one option after the other, in their order, so that a set has one spelling."""
    found: list[Json] = []
    at = 0
    values = ask.values
    while len(found) < ask.hi:
        may_end = len(found) >= ask.lo
        last = len(values) - max(0, ask.lo - len(found) - 1)  # enough are left after it
        entries: list[Json] = [None] * may_end + values[at:last]
        if entries == [None]:
            break
        number = yield from spell_number(PickStep(ask.field, ask.kind, entries, (*picks, *found)))
        if may_end and number == 0:
            break
        at += number - may_end + 1
        found.append(values[at - 1])
    return found


def spell_number(step: PickStep) -> Generator[PickStep, int, int]:
    """Ask for the index of an entry, digit by digit; a single entry is not asked for."""
    weight, number = 1, 0
    while weight * ACTIONS < len(step.entries):
        weight *= ACTIONS
    while weight:
        asked = PickStep(step.field, step.kind, step.entries, step.picked, number, weight)
        if asked.allowed > 1:
            number += (yield asked) * weight
        weight //= ACTIONS
    return number

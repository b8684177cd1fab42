"""The move builder: one question after the other, so that a client that knows no rules plays every game.

A ruleset's `build(state, seat)` is a generator that yields a `Choice`, is sent the pick and returns the finished move.
`choices` replays it over the picks made so far. Every pick that is offered can be completed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

import msgspec

from domain.errors import RuleError
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import Move
from domain.types import Json


class Option(msgspec.Struct, frozen=True, gc=False):
    """A value that may be picked, with what it costs; `ends` marks the one that brings the game on."""

    value: Json
    cost: dict[str, Json] = {}
    ends: bool = False


@dataclass(frozen=True)
class Choice:
    """One question: `one` of the options, a `range` lo..hi, or `some` (lo to hi different options)."""

    field: str
    kind: Literal["one", "range", "some"]
    options: tuple[Option, ...] = ()
    lo: int = 0
    hi: int = 0

    @property
    def values(self) -> list[Json]:
        """What may be picked; for a range, nothing."""
        return [o.value for o in self.options]

    def to_json(self) -> dict[str, Json]:
        """As clients see it."""
        doc: dict[str, Json] = {"field": self.field, "kind": self.kind}
        if self.options:
            doc["options"] = [
                {"value": o.value} | ({"cost": o.cost} if o.cost else {}) | ({"ends": True} if o.ends else {})
                for o in self.options
            ]
        if self.kind != "one":
            doc |= {"lo": self.lo, "hi": self.hi}
        return doc


Builder = Generator[Choice, Json, Move]


def _options(values: Iterable[Json | Option], ends: Sequence[Json]) -> tuple[Option, ...]:
    return tuple(v if isinstance(v, Option) else Option(v, ends=v in ends) for v in values)


def one(name: str, values: Iterable[Json | Option], ends: Sequence[Json] = ()) -> Choice:
    """One of the values; `ends` lists those that bring the game on."""
    return Choice(name, "one", _options(values, ends))


def span(name: str, lo: int, hi: int) -> Choice:
    """An integer lo..hi."""
    return Choice(name, "range", (), lo, hi)


def some(name: str, values: Iterable[Json | Option], lo: int, hi: int) -> Choice:
    """Lo to hi different values."""
    return Choice(name, "some", _options(values, ()), lo, hi)


def _refuse(ask: Choice, at: int) -> RuleError:
    return RuleError("not_offered", "", {"field": ask.field, "pick": at})


def accept(ask: Choice, pick: Json, at: int = 0) -> Json:
    """The pick as the builder gets it, several in the order of the options; raises RuleError `not_offered`.

    `at` is its number, for the refusal.
    """
    if ask.kind == "range":
        if type(pick) is not int or not ask.lo <= pick <= ask.hi:
            raise _refuse(ask, at)
        return pick
    if ask.kind == "some" and not (isinstance(pick, list) and ask.lo <= len(pick) <= ask.hi):
        raise _refuse(ask, at)
    if ask.kind == "one" and isinstance(pick, str):  # most are
        if any(o.value == pick for o in ask.options):
            return pick
        raise _refuse(ask, at)
    offered = {canonical(o.value): o.value for o in ask.options}
    try:
        if ask.kind == "one":
            return offered[canonical(pick)]
        keys = {canonical(p) for p in pick}
    except (KeyError, TypeError):
        raise _refuse(ask, at) from None
    if not keys <= offered.keys() or len(keys) != len(pick):
        raise _refuse(ask, at)
    return [value for key, value in offered.items() if key in keys]


def walk(builder: Builder, picks: Sequence[Json]) -> Choice | Move:
    """The next Choice after the picks, or the finished move; a pick too many is `not_offered` as well."""
    used = 0
    try:
        ask = next(builder)
        for used, pick in enumerate(picks, 1):
            ask = builder.send(accept(ask, pick, used - 1))
    except StopIteration as end:
        if used < len(picks):
            raise RuleError("not_offered", "", {"field": "", "pick": used}) from None
        move: Move = end.value
        return move
    builder.close()
    return ask


def answered(builder: Builder, pick: Callable[[Choice], Json]) -> Move:
    """The finished move when each question is answered by `pick`, none of them asked twice."""
    at = 0
    try:
        ask = next(builder)
        while True:
            ask = builder.send(accept(ask, pick(ask), at))
            at += 1
    except StopIteration as end:
        move: Move = end.value
        return move


# --- all moves -------------------------------------------------------------------------------------------------


def _answers(ask: Choice) -> Iterator[Json]:
    """Every pick that a question takes: options in their order, of several those with fewer first."""
    if ask.kind == "range":
        return iter(range(ask.lo, ask.hi + 1))
    if ask.kind == "one":
        return iter(ask.values)
    sizes = range(ask.lo, ask.hi + 1)
    return chain.from_iterable(map(list, combinations(ask.values, size)) for size in sizes)


def _longer(picks: list[Json], ask: Choice) -> Iterator[list[Json]]:
    return ([*picks, pick] for pick in _answers(ask))


def finished(
    asked: Callable[[Sequence[Json]], Choice | Json], picks: Sequence[Json], questions: int
) -> Iterator[Json | None]:
    """Every move that begins with the picks, in the order of the options, those of the first option first.

    `asked` tells the next question after picks, or the move. Ends with None if the questions ran out before the moves.
    """
    waiting: list[Iterator[list[Json]]] = [iter([list(picks)])]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        if not questions:
            yield None
            return
        questions -= 1
        told = asked(found)
        if isinstance(told, Choice):
            waiting.append(_longer(found, told))
        else:
            yield told

"""Move builder: one question after the other, so a client without knowledge of the rules can play every game.

A ruleset's `build(state, seat)` is a generator: it yields a `Choice`, receives the pick and returns the finished move.
The kernel replays it over the picks made so far. Every offered pick can be completed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec

from domain.errors import RuleError
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import Move
from domain.types import Doc, Json


class Option(msgspec.Struct, frozen=True, gc=False):
    """An offered value with its costs; `ends` marks the one to move the game on."""

    value: Json
    cost: dict[str, Json] = {}
    ends: bool = False

    def to_json(self) -> OptionDoc:
        """Return the option as sent to clients, without texts."""
        doc: OptionDoc = {"value": self.value}
        if self.cost:
            doc["cost"] = self.cost
        if self.ends:
            doc["ends"] = True
        return doc


class OptionDoc(TypedDict):
    value: Json | None
    cost: NotRequired[Doc]
    ends: NotRequired[Annotated[bool, "This pick advances the game."]]
    label: NotRequired[Annotated[str, "Key of the ruleset's texts."]]
    text: NotRequired[Annotated[str, "The label or sentence in the requested language."]]


class ChoiceDoc(TypedDict):
    field: str
    text: NotRequired[Annotated[str, "The question in the requested language, if the texts have it."]]
    kind: Annotated[Literal["one", "some", "range"], "Number of options to pick: one or some; or a number in a range."]
    options: NotRequired[list[OptionDoc]]
    lo: NotRequired[int]
    hi: NotRequired[int]


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
        """The offered values; empty for a range."""
        return [o.value for o in self.options]

    def to_json(self) -> ChoiceDoc:
        """Return the question as sent to clients, without texts."""
        doc: ChoiceDoc = {"field": self.field, "kind": self.kind}
        if self.options:
            doc["options"] = [option.to_json() for option in self.options]
        if self.kind != "one":
            doc["lo"], doc["hi"] = self.lo, self.hi
        return doc


Builder = Generator[Choice, Json, Move]


def _options(values: Iterable[Json | Option], ends: Sequence[Json]) -> tuple[Option, ...]:
    return tuple(v if isinstance(v, Option) else Option(v, ends=v in ends) for v in values)


def one(name: str, values: Iterable[Json | Option], ends: Sequence[Json] = ()) -> Choice:
    """Ask for one of the values; `ends` lists those moving the game on."""
    return Choice(name, "one", _options(values, ends))


def span(name: str, lo: int, hi: int) -> Choice:
    """Ask for an integer lo..hi."""
    return Choice(name, "range", (), lo, hi)


def some(name: str, values: Iterable[Json | Option], lo: int, hi: int) -> Choice:
    """Ask for lo to hi different values."""
    return Choice(name, "some", _options(values, ()), lo, hi)


def _not_offered(ask: Choice, number: int) -> RuleError:
    return RuleError("not_offered", "", {"field": ask.field, "pick": number})


def accept(ask: Choice, pick: Json, number: int = 0) -> Json:
    """Return the pick as given to the builder, several in the order of the options; raise RuleError `not_offered`.

    `number` is the pick's index, for the refusal.
    """
    if ask.kind == "range":
        if type(pick) is not int or not ask.lo <= pick <= ask.hi:
            raise _not_offered(ask, number)
        return pick
    if ask.kind == "some" and not (isinstance(pick, list) and ask.lo <= len(pick) <= ask.hi):
        raise _not_offered(ask, number)
    if ask.kind == "one" and isinstance(pick, str):  # the usual case
        if any(o.value == pick for o in ask.options):
            return pick
        raise _not_offered(ask, number)
    offered = {canonical(o.value): o.value for o in ask.options}
    try:
        if ask.kind == "one":
            return offered[canonical(pick)]
        keys = {canonical(p) for p in pick}
    except (KeyError, TypeError):
        raise _not_offered(ask, number) from None
    if not keys <= offered.keys() or len(keys) != len(pick):
        raise _not_offered(ask, number)
    return [value for key, value in offered.items() if key in keys]


def replay_picks(builder: Builder, picks: Sequence[Json]) -> tuple[dict[str, Json], Choice | Move]:
    """Return the picks by their fields, with the next Choice after them or the finished move.

    A pick too many is `not_offered` as well. Of several picks for one field the last counts.
    """
    used, answers = 0, dict[str, Json]()
    try:
        ask = next(builder)
        for used, pick in enumerate(picks, 1):
            answers[ask.field] = pick
            ask = builder.send(accept(ask, pick, used - 1))
    except StopIteration as end:
        if used < len(picks):
            raise RuleError("not_offered", "", {"field": "", "pick": used}) from None
        move: Move = end.value
        return answers, move
    builder.close()
    return answers, ask


def run_builder(builder: Builder, pick: Callable[[Choice], Json]) -> Move:
    """Return the finished move after answering each question by `pick`, once each."""
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


def _possible_picks(ask: Choice) -> Iterator[Json]:
    """Yield every acceptable pick: options in their order, of several the smaller sets first."""
    if ask.kind == "range":
        return iter(range(ask.lo, ask.hi + 1))
    if ask.kind == "one":
        return iter(ask.values)
    sizes = range(ask.lo, ask.hi + 1)
    return chain.from_iterable(map(list, combinations(ask.values, size)) for size in sizes)


def _extend_picks(picks: list[Json], ask: Choice) -> Iterator[list[Json]]:
    return ([*picks, pick] for pick in _possible_picks(ask))


def all_moves(
    next_step: Callable[[Sequence[Json]], Choice | Json], picks: Sequence[Json], max_questions: int
) -> Iterator[Json | None]:
    """Yield every move beginning with the picks, in the order of the options, depth first.

    `next_step` returns the next question after picks, or the move. Yield None last if `max_questions` is exceeded.
    """
    waiting: list[Iterator[list[Json]]] = [iter([list(picks)])]
    while waiting:
        path = next(waiting[-1], None)
        if path is None:
            waiting.pop()
            continue
        if not max_questions:
            yield None
            return
        max_questions -= 1
        step = next_step(path)
        if isinstance(step, Choice):
            waiting.append(_extend_picks(path, step))
        else:
            yield step


# --- further answers -------------------------------------------------------------------------------------------


Answers = list[tuple[list[Json], Choice | Json]]
"""Picks, with the next question after them or the finished move."""


def look_ahead(
    next_step: Callable[[Sequence[Json]], Choice | Json], picks: Sequence[Json], step: Choice | Json, most: int
) -> Answers:
    """Return the answers to further picks, each after those to fewer picks. `step` is the answer to `picks`.

    Picks without a choice are made at once. The options of each question come nearest first, until more than `most`
    moves are sure to be possible, or twice as many options are picked.
    """
    found: Answers = []
    waiting = [_make_forced_picks(next_step, list(picks), step, found)]
    left, least = 2 * most, _count_ways(waiting[0][1], most)
    while waiting and least <= most:
        path, ask = waiting.pop(0)
        for pick in ask.values if isinstance(ask, Choice) else ():
            if not left:
                return found
            left -= 1
            found.append(([*path, pick], next_step([*path, pick])))
            waiting.append(_make_forced_picks(next_step, *found[-1], found))
            least += _count_ways(waiting[-1][1], most) - 1
            if least > most:
                break
    return found


def _make_forced_picks(
    next_step: Callable[[Sequence[Json]], Choice | Json], picks: list[Json], step: Choice | Json, found: Answers
) -> tuple[list[Json], Choice | Json]:
    """Return picks and answer after all picks without a choice, and add the answers to them to `found`."""
    while isinstance(step, Choice) and len(forced := list(islice(_possible_picks(step), 2))) == 1:
        picks = [*picks, forced[0]]
        step = next_step(picks)
        found.append((picks, step))
    return picks, step


def _count_ways(step: Choice | Json, most: int) -> int:
    """Return the least number of moves from a step on; more than `most` for a question of another kind than `one`."""
    if not isinstance(step, Choice):
        return 1
    return len(step.options) if step.kind == "one" else most + 1

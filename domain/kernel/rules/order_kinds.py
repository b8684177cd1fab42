"""Standing orders: answers of a seat to its own coming decisions, given beforehand.

A ruleset declares a short list of kinds beside its moves. A kind answers some decisions with a move, made from the
knowledge of its seat and from nothing else. The rules do not store orders, and know no time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.kernel.schema.declarations import Move
from domain.types import Json, Seat

ATTACKED = "attacked"
"""Stop of an order: a public fact tells of an attack on its seat."""

Values = Mapping[str, Json]
"""Field of an order -> its value."""


def _always(_: object, __: Seat, ___: Values) -> bool:
    return True


@dataclass(frozen=True)
class OrderField:
    """A field of an order, with its possible values."""

    kind: Literal["seat", "amount", "word", "id"]
    options: Callable[[int, Seat], Sequence[Json]]
    """(seats of the table, seat) -> values; a range for an amount. No secret is among the questions."""


@dataclass(frozen=True)
class OrderKind:
    """One kind of standing order; its sentence is the text `standing_order.<name>`."""

    name: str
    decisions: tuple[str, ...]
    """Kinds of decisions that it answers."""
    play: Callable[[Any, Seat, Values], Move | None]
    """(state known to the seat, seat, values) -> the next move; None: its condition has failed."""
    fields: Mapping[str, OrderField] = field(default_factory=dict)
    applies: Callable[[Any, Seat, Values], bool] = _always
    """Whether a decision of these kinds is one that it answers; another one is left to the player."""
    stops: tuple[str, ...] = (ATTACKED,)
    """What ends it before its time."""
    draws: bool = True
    """False if its moves in secret decisions never draw, whoever has answered."""


def values_of(*values: Json) -> Callable[[int, Seat], Sequence[Json]]:
    """Return the options of a field with the same values at every table."""
    return lambda seats, seat: values


def amounts(lo: int, hi: int) -> OrderField:
    """Return a field for a number from `lo` to `hi`."""
    return OrderField("amount", lambda seats, seat: range(lo, hi + 1))


ANSWER = OrderField("word", values_of("accept", "decline"))
OTHER_SEAT = OrderField("seat", lambda seats, seat: [each for each in range(seats) if each != seat])
ANY_SEAT = OrderField("seat", lambda seats, seat: range(seats))

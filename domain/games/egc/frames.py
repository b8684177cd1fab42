"""The frames of the flow: turn zero, the sheets of a turn, and its resolution."""

from __future__ import annotations

from domain.kernel.schema.declarations import Context, declared_classes


class TurnZero(Context, frozen=True):
    """EGC-7.1: all active seats allot their points of turn zero; there is no deadline."""


class TurnZeroTimed(Context, frozen=True):
    """EGC-2.2, EGC-7.1: turn zero with a deadline."""


class Orders(Context, frozen=True):
    """EGC-4.1: all active seats fill in their sheets."""

    turn: int


class Resolving(Context, frozen=True):
    """EGC-5.1: the engine resolves the turn."""

    turn: int


ZERO: tuple[type[TurnZero], type[TurnZeroTimed]] = (TurnZero, TurnZeroTimed)
"""EGC-2.2: the frames of turn zero, by whether it has a deadline."""

FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)

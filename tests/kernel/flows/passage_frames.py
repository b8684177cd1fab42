"""The frames of Passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from domain.kernel.schema.declarations import UNSET, Context, Maybe, declared_classes


class Turn(Context, frozen=True):
    """PA-1: a seat, or its delegate, marches or passes."""

    turn_of: int


class March(Context, frozen=True):
    """PA-2: an army on its way, under the questions on it; it asks nobody."""

    start: int
    to: int
    actor: int
    """Whose army it is."""
    todo: Sequence[Literal["arrive", "counter"]]
    """The steps still to do."""
    attacked: Maybe[int] = UNSET
    """The seat that loses a unit besides, once the army has met it."""


class Passage(Context, frozen=True):
    """PA-3: a seat lets an army through, or not."""

    region: int
    actor: int
    """Whose army it is."""


class Counterfight(Context, frozen=True):
    """PA-4: the attacked names what falls."""

    region: int
    actor: int
    """Who attacked."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)

"""The frames of Windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from domain.kernel.schema.declarations import Context, declared_classes


class Turn(Context, frozen=True):
    """A seat attacks, or ends its turn."""


class Combat(Context, frozen=True):
    """WI-1: an attack, under its windows; it asks nobody."""

    att: int
    deff: int
    bonus: int
    """What ambushes add to the defender's die."""
    todo: Sequence[Literal["window", "roll"]]
    """The steps still to do."""


class Window(Context, frozen=True):
    """WI-2: all seats with cards may play one."""


class Counter(Context, frozen=True):
    """WI-3: the other seats may counter the last card of a chain."""

    chain: Sequence[tuple[int, str]]
    """Who has played which card, the first one first."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)

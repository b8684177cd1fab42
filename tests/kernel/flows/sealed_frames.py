"""The frames of Sealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from domain.kernel.schema.declarations import Context, declared_classes


class Turn(Context, frozen=True):
    """A seat attacks or passes."""


class Battle(Context, frozen=True):
    """SE-1: an attack, under the answers to it; it asks nobody."""

    att: int
    deff: int
    todo: Sequence[Literal["commit", "hire", "reveal"]]
    """The steps still to do."""


class Commit(Context, frozen=True):
    """SE-2: all but the attacker lay a card face down, or none."""

    deff: int


class Hire(Context, frozen=True):
    """SE-3: both principals hire powers in secret."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)

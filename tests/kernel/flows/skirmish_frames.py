"""The frames of Skirmish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.kernel.schema.declarations import UNSET, Context, Maybe, declared_classes
from domain.types import Json


class Turn(Context, frozen=True):
    """A seat attacks or passes."""

    turn_of: Maybe[int] = UNSET
    """The seat, once it has attacked."""


class Combat(Context, frozen=True):
    """SK-1: an attack, under the questions in it; it asks nobody."""

    att: int
    deff: int
    help: Mapping[str, int]
    """Armies of the ally, by principal."""
    todo: Sequence[Sequence[Json]]
    """The steps still to do: name and arguments of each."""
    dice: Maybe[Sequence[int]] = UNSET
    """Two of the attacker, two of the defender, once they are rolled."""


class Support(Context, frozen=True):
    """SK-3: an ally may help."""

    principal: int
    offer: int
    """Gold for any help."""


class NavalChoice(Context, frozen=True):
    """A principal fights at sea, or not."""


class Reserve(Context, frozen=True):
    """A principal may use a reserve tile to have all dice rolled again."""

    unit: str
    """What the dice are rolled for."""
    dice: Sequence[int]


class ChooseLoss(Context, frozen=True):
    """SK-4: a principal names the unit that it loses."""

    kinds: Sequence[str]
    """What it may name; the default first."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)

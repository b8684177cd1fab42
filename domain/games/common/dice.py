"""Dice of battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.types import Json


def difference(dice: Sequence[int]) -> int:
    """The largest less the smallest, of two dice or more."""
    return max(dice) - min(dice)


def rolled(who: Json, dice: Sequence[int], strength: int, parts: Mapping[str, int]) -> dict[str, Json]:
    """A side's roll as sentences tell it: the strength, `spread` of the dice, and those `parts` that add to it."""
    adding = {name: part for name, part in parts.items() if part}
    return {"who": who, "dice": list(dice), "strength": strength, "spread": difference(dice), **adding}

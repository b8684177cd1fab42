"""Dice of battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.types import Json


def spread(dice: Sequence[int]) -> int:
    """Return the largest less the smallest, of two dice or more."""
    return max(dice) - min(dice)


def describe_roll(who: Json, dice: Sequence[int], strength: int, parts: Mapping[str, int]) -> dict[str, Json]:
    """Return a side's roll for sentences: the strength, `spread` of the dice, and the nonzero `parts` added to it."""
    adding = {name: part for name, part in parts.items() if part}
    return {"who": who, "dice": list(dice), "strength": strength, "spread": spread(dice), **adding}

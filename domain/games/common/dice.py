"""Dice of battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.types import Json


def spread(dice: Sequence[int]) -> int:
    """Return the largest less the smallest, of two dice or more."""
    return max(dice) - min(dice)


def describe_roll(who: Json, dice: Sequence[int], strength: int, parts: Mapping[str, int]) -> dict[str, Json]:
    """Return a side's roll for sentences: the strength and its nonzero parts, `spread` of the dice first."""
    named = {"spread": spread(dice), **parts}
    nonzero: list[Json] = [{"part": name, "value": value, "who": who} for name, value in named.items() if value]
    return {"who": who, "dice": list(dice), "strength": strength, "parts": nonzero}

"""Dice of battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.ids import Json


def difference(dice: Sequence[int]) -> int:
    """The largest less the smallest, of two dice or more."""
    return max(dice) - min(dice)


def strengths(attacker: Sequence[int], defender: Sequence[int], totals: Sequence[int]) -> Mapping[str, Json]:
    """What the strengths of attacker and defender are made of: `spread` of the dice, and `base` without them."""
    spread = [difference(attacker), difference(defender)]
    return {"spread": spread, "base": [total - part for total, part in zip(totals, spread, strict=True)]}

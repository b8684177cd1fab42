"""Dice of battles."""

from __future__ import annotations

from collections.abc import Sequence


def difference(dice: Sequence[int]) -> int:
    """The largest less the smallest, of two dice or more."""
    return max(dice) - min(dice)

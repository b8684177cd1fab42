"""Majorities: payout of a region's printed values to the owners of pieces there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

K = TypeVar("K")


def majority(counts: Mapping[K, int], values: Sequence[int]) -> dict[K, int]:
    """Return value by owner, the greatest first: equals share a value, leaving the next one free (dense ranking)."""
    ranked = sorted(set(counts.values()), reverse=True)
    worth = dict(zip(ranked, values, strict=False))
    payouts = {holder: worth[count] for holder, count in counts.items() if count in worth}
    return dict(sorted(payouts.items(), key=lambda item: -item[1]))

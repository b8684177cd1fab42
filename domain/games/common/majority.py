"""Majorities: what the printed values of a region bring to those who have pieces there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

K = TypeVar("K")


def majority(counts: Mapping[K, int], values: Sequence[int]) -> dict[K, int]:
    """Value by holder, the greatest first: equals share a value and do not use up the next one (dense ranking)."""
    ranked = sorted(set(counts.values()), reverse=True)
    worth = dict(zip(ranked, values, strict=False))
    found = {holder: worth[count] for holder, count in counts.items() if count in worth}
    return dict(sorted(found.items(), key=lambda item: -item[1]))

"""Sentences about all seats at once, made from one fact for each seat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from domain.types import Json, Seat

T = TypeVar("T")


def group_by(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Return key -> its items, both in the order of the input."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def merged_shares(seat: Seat, shares: Mapping[Seat, int], amounts: Mapping[Seat, int]) -> Mapping[str, Json]:
    """Return the shares of all seats for the first seat with any share; empty for the others, already reported.

    `held` is each seat's amount before, in the state at the first share. The first share names its unit.
    """
    nonzero = {other: share for other, share in shares.items() if share}
    if seat != next(iter(nonzero), None):
        return {"shares": []}
    first = {"unit": True}
    return {
        "shares": [
            {"seat": other, "share": share, "total": amounts[other] + share} | (first if other == seat else {})
            for other, share in nonzero.items()
        ]
    }

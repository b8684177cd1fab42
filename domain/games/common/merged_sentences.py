"""What sentences tell of all seats at once, where each has a fact of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from domain.types import Json, Seat

T = TypeVar("T")


def grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Key -> its items, both in the order in which they come."""
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def shared(seat: Seat, shares: Mapping[Seat, int], held: Mapping[Seat, int]) -> Mapping[str, Json]:
    """What all get, where `seat` is the first who gets anything; else nothing, for it is told already.

    `held` is what each has before, in the state in which the first gets it. The first share names its unit.
    """
    told = {other: share for other, share in shares.items() if share}
    if seat != next(iter(told), None):
        return {"shares": []}
    first = {"unit": True}
    return {
        "shares": [
            {"seat": other, "share": share, "total": held[other] + share} | (first if other == seat else {})
            for other, share in told.items()
        ]
    }

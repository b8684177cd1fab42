"""Sentences about all seats at once, made from one fact for each seat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from domain.kernel.narration.template_context import SILENT
from domain.types import Doc, Json, Seat

T = TypeVar("T")


def group_by(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Return key -> its items, both in the order of the input."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def merged_shares(seat: Seat, shares: Mapping[Seat, int], amounts: Mapping[Seat, int]) -> Mapping[str, Json]:
    """Return the shares of all seats for the first seat with any share; empty for the others, already reported.

    `amounts` is each seat's amount before, in the state at the first share. The first share names its unit.
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


def gather_shares(facts: Sequence[Doc], kind: str, share: str) -> Sequence[Doc]:
    """Return the facts with those of a kind as one, at the first: the sums of a member by seat, and the last totals."""
    some = [fact for fact in facts if fact["t"] == kind]
    if not some:
        return facts
    sums: dict[Seat, int] = {}
    for fact in some:
        sums[fact["seat"]] = sums.get(fact["seat"], 0) + fact[share]
    totals = {fact["seat"]: fact["total"] for fact in some}
    shares = [{"seat": seat, "share": value, "total": totals[seat]} for seat, value in sums.items()]
    gathered = {"t": kind, "shares": [{**shares[0], "unit": True}, *shares[1:]]}
    return [gathered if fact is some[0] else fact for fact in facts if fact["t"] != kind or fact is some[0]]


def join_replacements(facts: Sequence[Doc], removals: Sequence[str]) -> Sequence[Doc]:
    """Return as many facts; a control token placed where another piece was removed is told with the removal."""
    told = list(facts)
    for i, removed in enumerate(facts):
        if removed["t"] not in removals:
            continue
        by = removed["by"] if "by" in removed else removed["seat"]
        placed = {"t": "token_placed", "seat": by, "region": removed["region"]}
        if at := next((n for n in range(i, len(told)) if told[n] == placed), None):
            told[i], told[at] = {**removed, "swap": True, "placed": True}, SILENT
    return told

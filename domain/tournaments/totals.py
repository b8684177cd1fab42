"""Totals of an entrant over rounds, and the credit for a bye."""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.errors import TournamentError
from domain.tournaments.scoring import POINT

_TOTAL = re.compile(r"sum|mean|best:[1-9][0-9]{0,3}|weights:[0-9]{1,5}(?:,[0-9]{1,5}){0,999}")
NO_OTHER_TABLE = POINT // 2
"""Ticks for an annulled table (`average`) of an entrant without another one that counts."""


def check_total(method: str) -> str:
    """Return the method; raise TournamentError unless it is `sum`, `mean`, `best:k` or `weights:a,b,...`."""
    if not _TOTAL.fullmatch(method):
        raise TournamentError("total_invalid", f"{method!r} is none of sum, mean, best:k, weights:100,80,...")
    return method


def add_total(method: str, values: Sequence[int], missed: int = 0) -> int:
    """Return the total of an entrant's tables and credits in ticks, before penalties.

    `missed` is the number of rounds missed; each counts as 0 in a mean. Weights are percent, for the best values first.
    """
    name, _, argument = method.partition(":")
    if name == "mean":
        count = len(values) + missed
        return sum(values) // count if count else 0
    if name == "best":
        return sum(sorted(values, reverse=True)[: int(argument)])
    if name == "weights":
        best = sorted(values, reverse=True)
        return sum(int(weight) * value for weight, value in zip(argument.split(","), best, strict=False)) // 100
    return sum(values)


def count_credit(values: Sequence[int], missed: int = 0, without: int = 0) -> int:
    """Return the credit for a bye: the mean ticks of the tables played, `without` if there is none.

    `missed` rounds count as 0, so that no absence keeps a mean.
    """
    if not values:
        return without
    return sum(values) // (len(values) + missed)

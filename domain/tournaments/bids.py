"""Bids for seats: sealed integers of sum 100, the assignment with the greatest sum, and handicaps in ticks."""

from __future__ import annotations

import functools
import hmac
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.errors import TournamentError

TOTAL_BID = 100
DEFAULT_RATE = 1260
"""Ticks of handicap for a whole bid."""


class BidResult(NamedTuple):
    """Seat and handicap (ticks) of each entrant, and the greatest sum of bids."""

    seats: dict[int, int]
    handicaps: dict[int, int]
    best: int


def fill_bid(seats: int) -> tuple[int, ...]:
    """Return the bid of an entrant without one: equal shares, the rest to the first seats."""
    share, rest = divmod(TOTAL_BID, seats)
    return tuple(share + (seat < rest) for seat in range(seats))


def check_bid(bid: Sequence[int], seats: int, pointer: str = "") -> tuple[int, ...]:
    """Return the bid; raise TournamentError unless it has an integer 0..100 for each seat, and the sum 100."""
    if len(bid) != seats or any(type(share) is not int or not 0 <= share <= TOTAL_BID for share in bid):
        raise TournamentError("bid_invalid", f"{seats} whole numbers from 0 to {TOTAL_BID} are expected", pointer)
    if sum(bid) != TOTAL_BID:
        raise TournamentError("bid_invalid", f"the bid adds up to {sum(bid)}, not to {TOTAL_BID}", pointer)
    return tuple(bid)


def find_best_assignments(bids: Sequence[Sequence[int]]) -> tuple[int, Iterator[tuple[int, ...]]]:
    """Return the greatest sum of bids, and all assignments with it: a seat for each bid."""
    seats = range(len(bids))

    @functools.cache
    def greatest(taken: int) -> int:
        row = taken.bit_count()
        if row == len(bids):
            return 0
        return max(bids[row][seat] + greatest(taken | 1 << seat) for seat in seats if not taken >> seat & 1)

    def walk(taken: int, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(bids):
            yield chosen
            return
        for seat in seats:
            then = taken | 1 << seat
            if then != taken and bids[len(chosen)][seat] + greatest(then) == greatest(taken):
                yield from walk(then, (*chosen, seat))

    return greatest(0), walk(0, ())


def count_handicap(best: int, bid: int, seats: int, rate: int = DEFAULT_RATE) -> int:
    """Return the handicap in ticks for an entrant's bid on its own seat."""
    return rate * (best - seats * bid) // (TOTAL_BID * seats)


def settle_bids(
    key: bytes, pod: Sequence[int], bids: Mapping[int, Sequence[int]], rate: int = DEFAULT_RATE
) -> BidResult:
    """Return the seats and handicaps of a pod: the greatest sum of bids wins, of equal ones the least keyed hash.

    Ten equal bids have 3.6 million assignments: some seconds.
    """
    entrants = sorted(pod)
    n = len(entrants)
    rows = [check_bid(bids[entrant], n) if entrant in bids else fill_bid(n) for entrant in entrants]
    best, assignments = find_best_assignments(rows)
    tie_key = hmac.digest(key, b"bids", "sha256")
    chosen = min(assignments, key=lambda seats: hmac.digest(tie_key, bytes(seats), "sha256"))
    handicaps = [count_handicap(best, row[seat], n, rate) for row, seat in zip(rows, chosen, strict=True)]
    return BidResult(dict(zip(entrants, chosen, strict=True)), dict(zip(entrants, handicaps, strict=True)), best)

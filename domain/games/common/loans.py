"""Loans of a bank against unrest, an amount of gold for each point."""

from __future__ import annotations


def loan(have: int, cost: int, rate: int) -> tuple[int, int]:
    """Return the least loan to pay `cost`, and its points, never more than needed: (gold, points)."""
    points = -(-max(0, cost - have) // rate)
    return rate * points, points

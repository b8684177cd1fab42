"""Loans that a bank gives against unrest, so much gold for each point."""

from __future__ import annotations


def loan(have: int, cost: int, rate: int) -> tuple[int, int]:
    """What must be borrowed to pay `cost`, and the points that it brings, never more than needed: (gold, points)."""
    points = -(-max(0, cost - have) // rate)
    return rate * points, points

"""Draws from a bag."""

from __future__ import annotations

from collections.abc import Sequence

from domain.kernel.rules.draws import Draws


def draw(draws: Draws, label: str, bag: Sequence[str], number: int) -> list[str]:
    """Draw a number of items one by one, without replacement; each is a draw, even of the last one left."""
    left = list(bag)
    drawn: list[str] = []
    for _ in range(number):
        drawn.append(draws.pick(label, left, always=True))
        left.remove(drawn[-1])
    return drawn

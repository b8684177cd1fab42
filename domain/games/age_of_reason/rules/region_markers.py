"""AOR-5: the bag of region markers."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS
from domain.games.age_of_reason.facts.sequence import MarkersDrawn
from domain.games.age_of_reason.state import D


def draw(d: D, number: int) -> list[str]:
    """AOR-17.2: markers drawn one after the other, without replacement; the caller's fact takes them from the bag."""
    bag = list(d.state.bag)
    drawn: list[str] = []
    for _ in range(number):
        drawn.append(d.draws.pick("marker", bag, always=True))
        bag.remove(drawn[-1])
    return drawn


def lay(d: D) -> None:
    """AOR-5.1: ten markers from the bag, face up in their regions."""
    d.add(MarkersDrawn(draw(d, CONSTANTS["markers_drawn_per_turn"])))

"""AOR-5: the bag of region markers."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS
from domain.games.age_of_reason.facts.sequence import MarkersDrawn
from domain.games.age_of_reason.state import D
from domain.games.common import bag


def draw(d: D, number: int) -> list[str]:
    """AOR-17.2: markers drawn one after the other; the caller's fact takes them from the bag."""
    return bag.draw(d.draws, "marker", d.state.bag, number)


def lay(d: D) -> None:
    """AOR-5.1: ten markers from the bag, face up in their regions."""
    d.add(MarkersDrawn(draw(d, CONSTANTS["markers_drawn_per_turn"])))

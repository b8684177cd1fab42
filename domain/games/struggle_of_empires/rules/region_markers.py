"""SOE-5: the bag of region markers."""

from __future__ import annotations

from domain.games.common import bag
from domain.games.struggle_of_empires.data import CONSTANTS
from domain.games.struggle_of_empires.facts.sequence import MarkersDrawn
from domain.games.struggle_of_empires.state import D


def draw(d: D, number: int) -> list[str]:
    """SOE-17.2: markers drawn one after the other; the caller's fact takes them from the bag."""
    return bag.draw(d.draws, "marker", d.state.bag, number)


def lay(d: D) -> None:
    """SOE-3.1, SOE-5.1: ten markers from the bag, face up in their regions."""
    d.add(MarkersDrawn(draw(d, CONSTANTS["markers_drawn_per_war"])))

"""Facts of a game, one class for each kind, by chapter.

Simple on purpose: a fact carries every figure, the formulas are in `rules`. Units go from place to place one by one;
power, levels and crowns carry the reached value.
"""

from __future__ import annotations

from domain.games.seven_empires.facts import influence, movement, pieces, sequence
from domain.games.seven_empires.state import Seven
from domain.kernel.schema.declarations import Fact

FACTS: dict[str, type[Fact[Seven]]] = {
    **sequence.FACTS,
    **influence.FACTS,
    **pieces.FACTS,
    **movement.FACTS,
}

"""Facts of a game, one class for each kind, by chapter.

Simple on purpose: a fact carries every figure, the formulas are in `rules`. Pieces go from place to place one by one;
gold, population and victory points carry the remaining or reached amount; unrest carries only its cause's points,
because the total is withheld (SOE-16.2).
"""

from __future__ import annotations

from domain.games.struggle_of_empires.facts import combat, economy, pieces, sequence, tiles
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.schema.declarations import Fact

FACTS: dict[str, type[Fact[Struggle]]] = {
    **sequence.FACTS,
    **economy.FACTS,
    **pieces.FACTS,
    **tiles.FACTS,
    **combat.FACTS,
}

"""Facts of a game, one class for each kind, by chapter.

Simple on purpose: a fact carries every figure, the formulas are in `rules`. Tokens, markers and cards go from place to
place one by one; gold, unrest and victory points carry the remaining or reached amount.
"""

from __future__ import annotations

from domain.games.age_of_reason.facts import battle, cards, coalitions, economy, pieces, sequence
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.schema.declarations import Fact

FACTS: dict[str, type[Fact[AgeOfReason]]] = {
    **sequence.FACTS,
    **coalitions.FACTS,
    **economy.FACTS,
    **pieces.FACTS,
    **cards.FACTS,
    **battle.FACTS,
}

"""Facts of a game, chapter by chapter: small assignments, no rules. Folding a log runs nothing else."""

from __future__ import annotations

from domain.games.imperunde.facts import cards, combat, diplomacy, events, money, movement, turn
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.schema.declarations import Fact

FACTS: dict[str, type[Fact[ImpeRunde]]] = {
    **turn.FACTS,
    **diplomacy.FACTS,
    **money.FACTS,
    **movement.FACTS,
    **combat.FACTS,
    **cards.FACTS,
    **events.FACTS,
}

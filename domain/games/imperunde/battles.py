"""The combats of a chronicle, for the cards of a page (IMP-8)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.imperunde.data import COUNTRIES
from domain.kernel.rules.battles import Battle, BattleSide, ToldFact
from domain.types import Doc


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the combats in which dice were rolled, each with all its rounds."""
    found: list[Battle] = []
    is_open = False
    for version, fact in facts:
        match fact["t"]:
            case "round_fought":
                sides = fact["sides"]
                if not is_open or (found[-1].attacker.who, found[-1].defender.who) != (*sides.values(),):
                    found.append(Battle(version, fact["region"], *map(BattleSide, sides.values())))
                    is_open = True
                found[-1].version = version
                found[-1].facts.append(fact)
                _add_round(found[-1], fact)
            case "country_conquered" if is_open:
                found[-1].winner = "attacker"
            case "combat_ended" if is_open:
                # At sea the dice may leave both: only a land has a holder.
                outcome = {"won": "attacker", "held": "defender" if fact["region"] in COUNTRIES else ""}
                found[-1].winner = outcome.get(fact["outcome"], "") or found[-1].winner  # type: ignore[assignment]
                is_open = False
    return found


def _add_round(battle: Battle, fact: Doc) -> None:
    """Add the dice of a round, pair by pair, and its losses; natives and insurgents tell only their rest."""
    for name, lost in zip(("attacker", "defender"), fact["lost"], strict=True):
        side = battle.sides[name]
        side.dice.append([value for _, value in fact[name]])
        for each in lost or ():
            side.lose(each["unit"], each["count"])
        if lost is None:
            beaten = "won" if name == "defender" else "lost"
            side.lose("infantry", sum(duel["result"] == beaten for duel in fact["duels"]))

"""The combats of a chronicle, for the cards of a page (IMP-8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from domain.games.imperunde.data import COUNTRIES
from domain.kernel.rules.battles import Battle, BattleEnd, BattleSide, ToldFact
from domain.types import Doc, Json


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the combats, each with all its rounds; without those over before any dice."""
    found: list[Battle] = []
    declared: Doc = {}
    for version, fact in facts:
        last = found[-1] if found and found[-1].is_open else None
        match fact["t"]:
            case "attack_declared":
                declared = fact
            case "combat_started":
                found.append(_begin(version, {**declared, **fact}, fact["attacker"], fact["defender"]))
                declared = {}
            case "round_fought":
                sides = fact["sides"]
                if last is None or (last.attacker.who, last.defender.who) != (*sides.values(),):
                    if last:
                        last.is_open = False
                    found.append(last := _begin(version, fact, *sides.values()))
                _add_round(last, version, fact)
            case "country_conquered" if last:
                last.winner = "attacker"
            case "combat_ended" if last:
                last.winner = _find_winner(last, fact)
                last.is_open = False
    return [each for each in found if each.has_dice or each.is_open]


def _begin(version: int, fact: Doc, attacker: Json, defender: Json) -> Battle:
    battle = Battle(version, fact["region"], BattleSide(attacker), BattleSide(defender))
    battle.attacker.force = _count(each for group in fact.get("force", ()) for each in group["units"])
    parties = [each["units"] for each in fact.get("defence", ()) if each["party"] == defender]
    battle.defender.force = _count(each for units in parties for each in units)
    return battle


def _count(units: Iterable[Doc]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in units:
        found[each["unit"]] += each["count"]
    return found


def _find_winner(battle: Battle, fact: Doc) -> BattleEnd:
    if fact["outcome"] == "won":
        return "attacker"
    # At sea the dice may leave both: only a land has a holder.
    return "defender" if fact["outcome"] == "held" and fact["region"] in COUNTRIES else battle.winner


def _add_round(battle: Battle, version: int, fact: Doc) -> None:
    """Add the dice of a round, pair by pair, and its losses; natives and insurgents tell only their rest."""
    battle.version = version
    battle.facts.append(fact)
    for name, lost in zip(("attacker", "defender"), fact["lost"], strict=True):
        side = battle.sides[name]
        side.dice.append([value for _, value in fact[name]])
        for each in lost or ():
            side.lose(each["unit"], each["count"])
        if lost is None:
            beaten = "won" if name == "defender" else "lost"
            side.lose("infantry", sum(duel["result"] == beaten for duel in fact["duels"]))

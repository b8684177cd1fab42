"""The battles of a chronicle, for the cards of a page (SOE-8)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.kernel.rules.battles import Battle, BattleSide, ToldFact
from domain.types import Doc, Json

BY_WINNER = ("token_removed", "token_freed")
"""Facts in which a beaten seat loses a control token."""


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the battles in the order of their dice; one at sea and one on land are two."""
    found: list[Battle] = []
    region, sides, declared = "", {}, []
    for version, fact in facts:
        match fact["t"]:
            case "attack_declared":
                region, declared = fact["region"], [fact]
            case "battle_rolled":
                attacker, defender = (_side(roll) for roll in fact["rolls"])
                found.append(Battle(version, region, attacker, defender, stage=fact["stage"], facts=[*declared, fact]))
                sides, declared = {}, []
            case "battle_resolved" if found:
                found[-1].winner, found[-1].region, found[-1].version = fact["winner"], fact["region"], version
                found[-1].facts.append(fact)
                sides = {loss.get("seat"): loss["side"] for loss in fact["losses"]}
            case "losses_chosen":
                sides |= dict.fromkeys((each["seat"] for each in fact["choices"]), fact["side"])
            case "combat_ended":
                region, sides = "", {}
            case _ if found and found[-1].winner and (region or sides):
                _note_loss(found[-1], fact, sides)
    return [each for each in found if each.region]


def _side(roll: Doc) -> BattleSide:
    return BattleSide(roll["who"], [roll["dice"]], roll["strength"], list(roll["parts"]))


def _note_loss(battle: Battle, fact: Doc, sides: dict[Json, str]) -> None:
    """Note what a fact after the battle takes from a side."""
    before = battle.count_lost()
    if fact["t"] == "unit_lost":
        side = battle.side_of(fact["seat"]) or battle.sides[sides.get(fact["seat"], "defender")]
        side.lose(fact["unit"], ally=fact["seat"])
        side.lose("unrest", fact["unrest"], ally=fact["seat"])
    elif fact["t"] in BY_WINNER and (beaten := battle.side_of(fact["seat"])):
        beaten.lose("control_token")
    elif fact["t"] == "marker_removed" and battle.defender.who == fact["marker"]:
        battle.defender.lose("marker")
    if battle.count_lost() > before:
        battle.facts.append(fact)

"""The battles of a chronicle, for the cards of a page (AOR-9)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason.state import SIDES
from domain.kernel.rules.battles import Battle, BattleSide, ToldFact
from domain.types import Doc


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the battles in the order of their dice."""
    found: list[Battle] = []
    region, is_open, declared = "", False, []
    for version, fact in facts:
        match fact["t"]:
            case "attack_declared":
                region, declared = fact["region"], [fact]
            case "battle_rolled":
                attacker, defender = (
                    BattleSide(roll["who"], [roll["dice"]], roll["strength"], list(roll["parts"]))
                    for roll in fact["rolls"]
                )
                found.append(Battle(version, region, attacker, defender, facts=[*declared, fact]))
                is_open, declared = True, []
            case "dice_rerolled" if is_open:
                _roll_again(found[-1], fact)
            case "battle_resolved" if is_open:
                found[-1].winner, found[-1].region, found[-1].version = fact["winner"], fact["region"], version
                found[-1].facts.append(fact)
            case "battle_ended":
                region, is_open = "", False
            case _ if is_open:
                _note_loss(found[-1], fact)
    return [each for each in found if each.region]


def _roll_again(battle: Battle, fact: Doc) -> None:
    """Put the dice of the second roll in place of the first."""
    for side, strength in zip(SIDES, fact["strength"], strict=True):
        battle.sides[side].strength = strength
    again = battle.sides[fact["side"]]
    again.dice = [fact["dice"]]
    spread = max(fact["dice"]) - min(fact["dice"])
    others = [each for each in again.reasons if each["part"] != "spread"]
    battle.facts.append(fact)
    again.reasons = [*([{"part": "spread", "value": spread, "who": again.who}] if spread else []), *others]


def _note_loss(battle: Battle, fact: Doc) -> None:
    """Note what a fact after the battle takes from a side."""
    before = battle.count_lost()
    if fact["t"] == "unrest_added" and (side := battle.side_of(fact["seat"])):
        side.lose("unrest", fact["unrest"])
    elif fact["t"] == "token_removed":
        battle.defender.lose("control_token")
    elif fact["t"] == "marker_taken":
        battle.defender.lose("marker")
    if battle.count_lost() > before:
        battle.facts.append(fact)

"""The battles of a chronicle, for the cards of a page (AOR-9)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason.state import SIDES
from domain.kernel.rules.battles import Battle, BattleSide, ToldFact
from domain.types import Doc


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the battles in their order."""
    found: list[Battle] = []
    for version, fact in facts:
        last = found[-1] if found and found[-1].is_open else None
        if fact["t"] == "attack_declared":
            defender = BattleSide(fact["sides"]["defender"])
            found.append(Battle(version, fact["region"], BattleSide(fact["seat"]), defender, facts=[fact]))
        elif fact["t"] == "battle_rolled":
            if last is None:
                found.append(last := Battle(version, "", *(BattleSide(roll["who"]) for roll in fact["rolls"])))
            _roll(last, version, fact)
        elif last:
            _go_on(last, version, fact)
    return [each for each in found if each.region and (each.has_dice or each.is_open)]


def _roll(battle: Battle, version: int, fact: Doc) -> None:
    for side, roll in zip(battle.sides.values(), fact["rolls"], strict=True):
        side.dice, side.strength = [roll["dice"]], roll["strength"]
        side.reasons = list(roll["parts"])
    battle.version = version
    battle.facts.append(fact)


def _go_on(battle: Battle, version: int, fact: Doc) -> None:
    match fact["t"]:
        case "dice_rerolled":
            _roll_again(battle, fact)
        case "battle_resolved":
            battle.winner, battle.region, battle.version = fact["winner"], fact["region"], version
            battle.facts.append(fact)
        case "battle_ended":
            battle.is_open = False
        case _:
            _note_loss(battle, fact)


def _roll_again(battle: Battle, fact: Doc) -> None:
    """Put the dice of the second roll in place of the first."""
    for side, strength in zip(SIDES, fact["strength"], strict=True):
        battle.sides[side].strength = strength
    again = battle.sides[fact["side"]]
    again.dice = [fact["dice"]]
    spread = max(fact["dice"]) - min(fact["dice"])
    others = [each for each in again.reasons if each["part"] != "spread"]
    again.reasons = [*([{"part": "spread", "value": spread, "who": again.who}] if spread else []), *others]
    battle.facts.append(fact)


def _note_loss(battle: Battle, fact: Doc) -> None:
    """Note the losses of a side in a fact after the dice."""
    before = battle.count_lost()
    if fact["t"] == "unrest_added" and (side := battle.side_of(fact["seat"])):
        side.lose("unrest", fact["unrest"])
    elif fact["t"] == "token_removed":
        battle.defender.lose("control_token")
    elif fact["t"] == "marker_taken":
        battle.defender.lose("marker")
    if battle.count_lost() > before:
        battle.facts.append(fact)

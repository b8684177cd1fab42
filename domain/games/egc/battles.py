"""The battles of a resolved turn, for the cards of a page (EGC-9)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.kernel.rules.battles import Battle, BattleEnd, BattleSide, ToldFact
from domain.types import Doc


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the reader's own combats; of those of others nobody knows the figures."""
    found = [_read_combat(version, fact) for version, fact in facts if fact["t"] == "combat_fought"]
    last = {(battle.version, battle.region): battle for battle in found}
    for version, fact in facts:
        if fact["t"] == "battle_fought" and (battle := last.get((version, fact["territory"]))):
            battle.facts.append(fact)  # the card tells it
    return found


def _read_combat(version: int, fact: Doc) -> Battle:
    sides = [BattleSide(fact["attacking"]), BattleSide(fact["defending"])]
    attack, defence, protection, encircled = fact["rounds"][0][:4] if fact["rounds"] else (0, 0, 0, 0)
    figures = (
        {"quality": attack, "encircled": encircled},
        {"quality": defence, "protection": protection, "fortification": fact["fort"]},
    )
    for side, before, lost, named in zip(sides, fact["before"], fact["losses"], figures, strict=True):
        side.force["division"] = before
        side.lose("division", lost)
        side.reasons = [{"part": name, "value": value, "who": side.who} for name, value in named.items() if value]
    winner: BattleEnd = ""
    if fact["winner"]:
        winner = "attacker" if fact["winner"] == fact["attacker"] else "defender"
    return Battle(version, fact["territory"], *sides, winner=winner, is_open=False, facts=[fact])

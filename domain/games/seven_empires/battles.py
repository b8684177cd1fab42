"""The fights of a chronicle, for the cards of a page (SE7-8.4): no dice decide them."""

from __future__ import annotations

from collections.abc import Sequence

from domain.kernel.rules.battles import Battle, BattleSide, ToldFact


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the fights; those of two empires in one region, one after the other, are one."""
    found: list[Battle] = []
    for version, fact in facts:
        if fact["t"] != "fought":
            continue
        last, who = found[-1] if found else None, (fact["region"], fact["empire"], fact["against"])
        if last is None or (last.region, last.attacker.who, last.defender.who) != who:
            last = Battle(version, fact["region"], BattleSide(fact["empire"]), BattleSide(fact["against"]))
            last.is_open = False
            found.append(last)
        stands = fact["outcome"] == "attacker_stands"
        last.version, last.winner = version, "attacker" if stands else "tie"
        last.attacker.force[fact["unit"]] += 1
        last.defender.force[fact["target"]] += 1
        last.defender.lose(fact["target"])
        last.attacker.lose(fact["unit"], 0 if stands else 1)
        last.facts.append(fact)
    return found

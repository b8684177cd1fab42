"""The battles of a chronicle, for the cards of a page (SOE-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.kernel.rules.battles import Battle, BattleSide, ToldFact
from domain.types import Doc, Json


def read_battles(facts: Sequence[ToldFact]) -> list[Battle]:
    """Return the battles; one at sea and one on land are two."""
    reader = _Reader()
    for version, fact in facts:
        reader.note_fact(version, fact)
    return [each for each in reader.found if each.region and (each.has_dice or each.is_open)]


@dataclass
class _Reader:
    found: list[Battle] = field(default_factory=list)
    allies: dict[Json, str] = field(default_factory=dict)
    """Seat with a loss -> its side."""
    is_over: bool = True

    def note_fact(self, version: int, fact: Doc) -> None:
        match fact["t"]:
            case "attack_declared":
                target = next((fact[name] for name in ("target", "marker", "tile") if fact.get(name) is not None), "")
                self._begin(Battle(version, fact["region"], BattleSide(fact["seat"]), BattleSide(target), facts=[fact]))
            case "battle_rolled":
                self._roll(version, fact)
            case "battle_resolved" if not self.is_over:
                last = self.found[-1]
                last.winner, last.region, last.version = fact["winner"], fact["region"], version
                last.facts.append(fact)
                self.allies = {loss.get("seat"): loss["side"] for loss in fact["losses"]}
            case "losses_chosen":
                self.allies |= dict.fromkeys((each["seat"] for each in fact["choices"]), fact["side"])
            case "combat_ended" if self.found:
                self.found[-1].is_open, self.is_over = False, True
            case _ if not self.is_over and self.found[-1].winner:
                self._lose(self.found[-1], fact)

    def _begin(self, battle: Battle) -> None:
        self.found.append(battle)
        self.allies, self.is_over = {}, False

    def _roll(self, version: int, fact: Doc) -> None:
        """Add the dice to the open battle, in place of earlier ones; after a battle at sea, begin another."""
        sides = [
            BattleSide(roll["who"], [roll["dice"]], roll["strength"], list(roll["parts"])) for roll in fact["rolls"]
        ]
        last = None if self.is_over else self.found[-1]
        if last is None or last.stage not in ("", fact["stage"]):
            if last:
                last.is_open = False
            self._begin(Battle(version, last.region if last else "", *sides))
            last = self.found[-1]
        last.attacker, last.defender, last.stage, last.version = *sides, fact["stage"], version
        last.facts.append(fact)

    def _lose(self, battle: Battle, fact: Doc) -> None:
        """Note the losses of a side in a fact after the dice."""
        before = battle.count_lost()
        if fact["t"] == "unit_lost":
            side = battle.side_of(fact["seat"]) or battle.sides[self.allies.get(fact["seat"], "defender")]
            side.lose(fact["unit"], ally=fact["seat"])
            side.lose("unrest", fact["unrest"], ally=fact["seat"])
        elif fact["t"] in ("token_removed", "token_freed") and (beaten := battle.side_of(fact["seat"])):
            beaten.lose("control_token")
        elif fact["t"] == "marker_removed" and battle.defender.who == fact["marker"]:
            battle.defender.lose("marker")
        if battle.count_lost() > before:
            battle.facts.append(fact)

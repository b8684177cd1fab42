"""A second implementation of the rules, from moves alone, written independently after the rules page.

It assumes legal moves and uses nothing of the game but its data file. Tests compare it with the real state during and
at the end of whole games.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import domain.games.seven_empires as game

D: dict[str, Any] = json.loads(Path(game.__file__).with_name("data.json").read_text(encoding="utf-8"))
REGIONS = {r["id"]: r for r in D["regions"]["list"]}
EMPIRES = {e["id"]: e for e in D["empires"]["list"]}
CARDS = {c["id"]: c for c in D["influence_cards"]["cards"]}
LETTERS = "ABC"
ARMIES = ("infantry", "artillery")
Units = Counter[str]


class Oracle:
    """A table: its pieces and the current turn.

    It has one method for each move and each step of the rules, all in one class on purpose: it shares no code with the
    ruleset.
    """

    def __init__(self, seats: int, options: dict[str, Any], first: int, card: str | None, tiles: list[str]) -> None:
        self.seats, self.options, self.first, self.tiles = seats, options, first, tiles
        self.decades: int = options.get("decades", 8)
        self.units: dict[tuple[str, str], Units] = {}
        self.flags: dict[str, str] = {}
        self.level = {r: int(REGIONS[r]["starts_with_city"]) for r in REGIONS if REGIONS[r]["kind"] == "city"}
        self.palace = {e["capital"]: 2 for e in EMPIRES.values()}
        self.power = dict.fromkeys(EMPIRES, 0)
        self.hands: list[list[str]] = [[] for _ in range(seats)]
        self.monarch: dict[str, int | None] = dict.fromkeys(EMPIRES)
        self.pawn, self.decade, self.turn = first, 1, 0
        self.acting, self.tile = "", ""
        self.pending: dict[str, Any] = {}
        self.round = 0
        self.over = False
        if card:
            self.deal(card)
            self.begin()

    # --- set-up

    def deal(self, card: str) -> None:
        found = next(c for c in D["distribution_cards"]["list"] if c["id"] == card)
        for place, listed in found["cards"].items():
            hand = self.hands[(self.first + int(place) - 1) % self.seats]
            hand += [c for x in listed for c, k in CARDS.items() if (k["empire"], k["letter"]) == tuple(x.values())]

    def pile(self, empire: str) -> list[str]:
        held = {card for hand in self.hands for card in hand}
        return [c for c, k in CARDS.items() if k["empire"] == empire and k["pile_order"] and c not in held]

    def begin(self) -> None:
        for empire, e in EMPIRES.items():
            if self.options.get("quick_start"):
                for r, x in REGIONS.items():
                    if x.get("empire") == empire and x["quick_start_unit"]:
                        self.put(empire, x["quick_start_unit"], r)
            cards = sum(CARDS[c]["empire"] == empire for hand in self.hands for c in hand)
            for _ in range(max(0, 3 - cards)):
                if sum(self.at(e["capital"], empire).values()) < 3:
                    self.put(empire, "infantry", e["capital"])
        self.crown()

    def crown(self) -> None:
        """SE7-2.12: the monarchs."""
        for empire in EMPIRES:
            sums = [self.influence(seat, empire) for seat in range(self.seats)]
            tied = [seat for seat in range(self.seats) if sums[seat] == max(sums)]
            letters = {self.letter(seat, empire): seat for seat in reversed(tied)}
            self.monarch[empire] = letters[min(letters)] if max(sums) else None

    def letter(self, seat: int, empire: str) -> str:
        """The highest letter that a seat holds of an empire."""
        return min([CARDS[c]["letter"] or "Z" for c in self.hands[seat] if CARDS[c]["empire"] == empire] + ["Z"])

    def influence(self, seat: int, empire: str) -> int:
        return sum(CARDS[c]["value"] for c in self.hands[seat] if CARDS[c]["empire"] == empire)

    # --- the board

    def at(self, region: str, empire: str) -> Units:
        return self.units.setdefault((region, empire), Counter())

    def put(self, empire: str, unit: str, region: str, by: int = 1) -> None:
        self.at(region, empire)[unit] += by

    def enemy(self, region: str, empire: str) -> str | None:
        return next((e for (r, e), u in self.units.items() if r == region and e != empire and u.total()), None)

    def crowns(self, empire: str) -> int:
        mine = [r for r in self.level if REGIONS[r]["empire"] == empire and not self.enemy(r, empire)]
        return sum((self.level[r] == 2) + self.palace.get(r, 0) for r in mine)

    # --- moves

    def play(self, seat: int, move: dict[str, Any]) -> None:
        getattr(self, move["type"])(seat, move)

    def draft_influence(self, seat: int, move: dict[str, Any]) -> None:
        rounds = D["starting_letters"]["by_players"][str(self.seats)]
        pile, letter = self.pile(move["empire"]), rounds[self.round // self.seats]
        lettered = self.options["setup"] == "draft"
        self.hands[seat].append(next(c for c in pile if not lettered or CARDS[c]["letter"] == letter))
        self.round += 1
        if self.round == self.seats * len(rounds):
            self.begin()

    def delegate(self, seat: int, move: dict[str, Any]) -> None:
        self.settle()
        if given := move.get("deploy"):
            self.put(REGIONS[given["region"]]["empire"], given["unit"], given["region"])

    def choose_action(self, seat: int, move: dict[str, Any]) -> None:
        self.settle()
        self.acting, action = move["empire"], move["action"]
        if action == "empire":
            self.power[self.acting] += list(self.flags.values()).count(self.acting)
        free = [r for r in self.level if REGIONS[r]["empire"] == self.acting and not self.enemy(r, self.acting)]
        grows = any(self.palace.get(r, 0) < 2 + REGIONS[r]["capital"] for r in free)
        if action == "palace" and not grows:
            self.power[self.acting] += self.crowns(self.acting)
        if action == "empire" or (action == "palace" and not grows):
            self.rest()

    def build_city(self, seat: int, move: dict[str, Any]) -> None:
        self.level[move["region"]] += 1

    def deploy(self, seat: int, move: dict[str, Any]) -> None:
        units = move.get("units") or [{"region": move.get("region"), "unit": u} for u in move.get("levy", ())]
        for x in units:
            self.put(self.acting, x["unit"], x["region"])
        self.rest()

    def build_palace(self, seat: int, move: dict[str, Any]) -> None:
        self.palace[move["region"]] = self.palace.get(move["region"], 0) + 1
        self.power[self.acting] += self.crowns(self.acting)
        self.rest()

    def attack_deploy(self, seat: int, move: dict[str, Any]) -> None:
        for x in move["units"]:
            self.put(self.acting, x["unit"], x["region"])

    def move_ship(self, seat: int, move: dict[str, Any]) -> None:
        end = move["path"][-1]
        self.put(self.acting, move["unit"], move["from"], -1)
        if enemy := self.enemy(end, self.acting):
            self.units[end, enemy].clear()
        else:
            self.put(self.acting, move["unit"], end)

    def move_land(self, seat: int, move: dict[str, Any]) -> None:
        if len(move["steps"]) == 2:
            enemy = self.enemy(move["steps"][0]["to"], self.acting)
            armed = enemy and any(self.at(move["steps"][0]["to"], enemy)[unit] for unit in ARMIES)
            if enemy and armed and self.monarch[enemy] not in (None, seat):
                self.pending = move
                return
        self.march(move)

    def answer_passage(self, seat: int, move: dict[str, Any]) -> None:
        if move["grant"]:
            self.march(self.pending)

    def march(self, move: dict[str, Any]) -> None:
        end, unit = move["steps"][-1]["to"], move["unit"]
        self.put(self.acting, unit, move["from"], -1)
        enemy = self.enemy(end, self.acting)
        if enemy is None:
            self.put(self.acting, unit, end)
            return
        there = self.at(end, enemy)
        target = move.get("target") or next(u for u, n in there.items() if n)
        there[target] -= 1
        if (unit, target) != ("artillery", "infantry"):
            return
        left = [u for u, n in there.items() if n]
        if not left:
            self.put(self.acting, unit, end)
        elif len(left) == 1:
            there[left[0]] -= 1
        else:
            self.pending = {"region": end, "empire": enemy}

    def choose_defender(self, seat: int, move: dict[str, Any]) -> None:
        self.put(self.pending["empire"], move["unit"], self.pending["region"], -1)

    def end_movement(self, seat: int, move: dict[str, Any]) -> None:
        for region, x in REGIONS.items():
            used = list(self.flags.values()).count(self.acting)
            if x["kind"] != "city" and self.at(region, self.acting).total() and used < 20:
                self.flags[region] = self.acting
        self.rest()

    # --- between turns

    def crowded(self) -> bool:
        """Whether somebody still has to remove units."""
        return any(n.total() > (3 if REGIONS[r].get("empire") == e else 1) for (r, e), n in self.units.items())

    def rest(self) -> None:
        """The turn is over, unless units must be removed."""
        if self.crowded():
            return
        self.turn += 1
        if self.turn < 7:
            return
        self.pawn = (self.pawn + 7) % self.seats
        self.tile = self.tiles[self.decade - 1] if self.decade < self.decades else "laurel"
        if self.tile == "laurel":
            self.finish()

    def settle(self) -> None:
        """A new decade begins, once everybody is served by the tile."""
        if self.turn == 7 and not self.over:
            self.decade, self.turn = self.decade + 1, 0
            self.crown()

    def reduce_region(self, seat: int, move: dict[str, Any]) -> None:
        crowd = [(r, e) for (r, e), n in self.units.items() if r == move["region"] and n.total()]
        for unit in move["remove"]:
            self.put(crowd[0][1], unit, move["region"], -1)
        if self.turn < 7:
            self.rest()

    def take_influence(self, seat: int, move: dict[str, Any]) -> None:
        self.hands[seat].append(self.pile(move["empire"])[0])

    def take_worker(self, seat: int, move: dict[str, Any]) -> None:
        self.hands[seat].append(f"{move['empire']}.worker")

    def place_event_unit(self, seat: int, move: dict[str, Any]) -> None:
        self.put(move["empire"], self.tile, move["region"])

    # --- the end

    def finish(self) -> None:
        self.over = True
        for empire in EMPIRES:
            self.power[empire] += list(self.flags.values()).count(empire) + self.crowns(empire)

    def ranking(self) -> list[str]:
        return sorted(EMPIRES, key=lambda e: (-self.power[e], EMPIRES[e]["flag_order"]))

    def points(self) -> list[int]:
        order = self.ranking()
        return [sum(self.influence(s, e) * (7 - i) for i, e in enumerate(order)) for s in range(self.seats)]

    def board(self) -> dict[str, Any]:
        """What can be compared with the state."""
        units: dict[str, Any] = {}
        for (region, empire), there in self.units.items():
            if there.total():
                units.setdefault(region, {})[empire] = {u: n for u, n in there.items() if n}
        return {
            "units": units,
            "flags": self.flags,
            "levels": {r: n for r, n in self.level.items() if n},
            "palaces": self.palace,
            "power": self.power,
            "monarchs": self.monarch,
            "hands": [sorted(hand) for hand in self.hands],
        }


def shown(state: Any) -> dict[str, Any]:
    """The same of a real state."""
    return {
        "units": state.units,
        "flags": state.flags,
        "levels": state.levels,
        "palaces": state.palaces,
        "power": {e: state.empires[e].power for e in EMPIRES},
        "monarchs": {e: state.empires[e].monarch for e in EMPIRES},
        "hands": [sorted(hand) for hand in state.hands],
    }

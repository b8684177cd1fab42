"""View of the heuristic player, and its valuations."""

from __future__ import annotations

from domain.games.seven_empires.data import CITIES, EMPIRES, FACTORS, LAND, OWN_CITIES, REGIONS
from domain.types import Doc, Seat

BOARD_PIECE = 0.6
"""Worth of a unit on the map, in flags."""


class BotView:
    """The board with the eyes of one seat."""

    def __init__(self, board: Doc, seat: Seat) -> None:
        self.board = board
        self.seat = seat
        self.units: Doc = board["units"]
        self.flags: Doc = board["flags"]
        self.empires: Doc = board["empires"]
        self.left: int = board["decades"] - board["decade"]
        order = sorted(EMPIRES, key=lambda e: -self.empires[e]["power"])
        self.factor = dict(zip(order, FACTORS, strict=True))

    def influence(self, seat: Seat, empire: str) -> int:
        """Return the influence of a seat in an empire."""
        found: int = self.board["influence"][seat].get(empire, 0)
        return found

    def weight(self, empire: str) -> float:
        """Return the own influence in an empire above the mean of the others'."""
        others = [self.influence(s, empire) for s in range(self.board["players"]) if s != self.seat]
        return self.influence(self.seat, empire) - sum(others) / len(others)

    def own_units(self, region: str, empire: str) -> Doc:
        """Return the units of an empire in a region."""
        found: Doc = self.units.get(region, {}).get(empire, {})
        return found

    def foreign(self, region: str, empire: str) -> str | None:
        """Return another empire with units there, if any."""
        return next((e for e in self.units.get(region, {}) if e != empire), None)

    def free_cities(self, empire: str) -> list[str]:
        """Return the own unoccupied city regions."""
        return [region for region in OWN_CITIES[empire] if self.foreign(region, empire) is None]

    def makers(self, empire: str) -> list[tuple[str, str]]:
        """Return the free cities with a tile, each with its product."""
        levels = self.board["levels"]
        return [(r, CITIES[r].makes[levels[r] - 1]) for r in self.free_cities(empire) if r in levels]

    # --- worth

    def prize(self, region: str, empire: str) -> float:
        """Return the worth of ending a move there: a new flag, perhaps taken from another, or an occupied city."""
        if self.own_units(region, empire):
            return -1.0
        if region in CITIES:
            owner = CITIES[region].empire
            return 0.0 if owner == empire else -0.1 * self.weight(owner) - 0.2
        holder = self.flags.get(region)
        if holder == empire:
            return 0.0
        return 1.0 - (0.1 * self.weight(holder) if holder else 0.0)

    def risk(self, region: str, empire: str) -> float:
        """Return the cost of a fight there: the unit, and the own influence in the enemy's empire."""
        enemy = self.foreign(region, empire)
        return 0.0 if enemy is None else 0.9 + 0.08 * self.weight(enemy)

    def reach(self, region: str, empire: str) -> int:
        """Return the number of new flags near a region."""
        return sum(REGIONS[r] == "land" and self.flags.get(r) != empire for r in LAND[region])

    def worth(self, empire: str, action: str) -> float:
        """Return the gain of an action for an empire, in power."""
        mine = [(r, u, n) for r, there in self.units.items() for u, n in there.get(empire, {}).items()]
        if action == "empire":
            return float(sum(owner == empire for owner in self.flags.values()))
        if action == "palace":
            crowns: int = self.empires[empire]["crowns"]
            return crowns + 1.0 + 0.4 * self.left
        if action == "build_deploy":
            return max(len(self.makers(empire)) + 1, 3) * BOARD_PIECE + 0.3 * self.left
        future = min(self.left, 3) * 0.5 + 1.0
        if action == "move_fight":
            number: int = sum(n for _, _, n in mine)
            return 0.8 * number * future
        return 1.4 * future

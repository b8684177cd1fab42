"""View of a seat, as the heuristic player uses it."""

from __future__ import annotations

from collections.abc import Iterator

from domain.compat import cached_property
from domain.games.imperunde.data import COUNTRIES, DICE, UNITS, VALUE, ZONES, is_army
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Json, Seat

_WILD: Doc = {"owner": None, "units": [], "forts": 0, "posts": 0, "fresh_posts": 0}
_OPEN_SEA: Doc = {"fleets": {}, "pirates": {}, "marker": None}


class BotView:
    """The view of a seat, its open question, and dice of its own.

    It has many small members, one for each question of the bot; all read the same public board.
    """

    def __init__(self, player_view: dict[str, Json], seat: Seat, context: Doc, dice: Dice) -> None:
        self.board: Doc = player_view["public"]
        self.own: Doc = player_view["own"]
        self.seat, self.context, self.dice = seat, context, dice
        self.nations: list[Doc] = self.board["nations"]
        self.me = self.nations[seat]
        self.home: str = self.me["home"]
        self.homes = {n["home"] for n in self.nations}
        self.others = [x for x in range(len(self.nations)) if x != seat]
        self.colonies = self.owned(seat)

    # --- the board

    def country(self, name: str) -> Doc:
        """Return a country."""
        found: Doc = self.board["countries"].get(name, _WILD)
        return found

    def zone(self, name: str) -> Doc:
        """Return a zone."""
        found: Doc = self.board["zones"].get(name, _OPEN_SEA)
        return found

    def owned(self, seat: Seat) -> list[str]:
        """Return the colonies of a seat."""
        return sorted(c for c, x in self.board["countries"].items() if x["owner"] == seat and c not in self.homes)

    def posts(self, seat: Seat) -> int:
        """Return the posts of a seat on the board."""
        return int(self.nations[seat]["posts"])

    def last_turns(self) -> bool:
        """Return whether a turn limit is near."""
        limit = self.board["turn_limit"]
        return limit is not None and self.board["turn"] >= limit - 3

    def fleets(self, kind: str) -> Iterator[tuple[str, Doc]]:
        """Return (zone, lot) of own ships of a kind with moves left."""
        for name, z in self.board["zones"].items():
            for x in z["fleets"].get(str(self.seat), ()):
                if UNITS[x["unit"]].kind == kind and x["moves_left"]:
                    yield name, {"unit": x["unit"], "moves_left": x["moves_left"]}

    def warships(self, zone: str) -> int:
        """Return the number of own warships in a zone."""
        fleet = self.zone(zone)["fleets"].get(str(self.seat), ())
        return sum(x["count"] for x in fleet if UNITS[x["unit"]].kind == "warship")

    def is_empty(self, zone: str) -> bool:
        """Return whether a zone has no warships and no pirates."""
        z = self.zone(zone)
        ships = [x for fleet in z["fleets"].values() for x in fleet if UNITS[x["unit"]].kind == "warship"]
        return not ships and not z["pirates"] and z["marker"] is None

    def foreign_fleets(self) -> Iterator[tuple[str, list[tuple[Seat, str]]]]:
        """Return the zones with ships of others: (seat, unit)."""
        for name, z in self.board["zones"].items():
            ships = [(int(s), x["unit"]) for s, fleet in z["fleets"].items() if s != str(self.seat) for x in fleet]
            if ships:
                yield name, ships

    # --- relations

    def _pair(self, other: Seat) -> Doc:
        found: Doc = self.board["pairs"][f"{min(self.seat, other)}-{max(self.seat, other)}"]
        return found

    def stance(self, other: Seat) -> str:
        """Return the own stance toward a seat."""
        return str(self._pair(other)["stances"][self.seat > other])

    def changes(self, other: Seat) -> int:
        """Return the number of own changes of the stance this turn."""
        return int(self._pair(other)["changes"][self.seat > other])

    def at_war(self, other: Seat) -> bool:
        """Return whether a seat is an enemy."""
        pair = self._pair(other)
        return bool((pair["override"]["relation"] if pair["override"] else pair["base"]) == "war")

    # --- strength

    def power(self, unit: str) -> float:
        """Return the mean of a unit's die."""
        die = DICE[UNITS[unit].die]
        return (die.lo + die.hi) / 2

    def defence(self, name: str) -> float:
        """Return the strength to beat, in means of dice; the defender wins ties."""
        country = self.country(name)
        if country["owner"] is None:
            return 3.5 * VALUE[name]
        dice: list[float] = [self.power("fort")] * country["forts"]
        dice += [self.power(x["unit"]) for x in country["units"] for _ in range(x["count"])]
        return 1.1 * sum(dice)

    def count(self, name: str) -> int:
        """Return the number of armies in a country."""
        return sum(x["count"] for x in self.country(name)["units"])

    def strength(self, name: str) -> float:
        """Return the armies in a country, measured in artillery."""
        total: float = sum(x["count"] * self.power(x["unit"]) for x in self.country(name)["units"])
        return total / self.power("artillery")

    # --- targets

    def _is_target(self, name: str) -> bool:
        owner = self.country(name)["owner"]
        if name in self.homes or owner == self.seat:
            return False
        return owner is None or self.at_war(owner)

    def land_targets(self, name: str) -> list[str]:
        """Return the attackable countries next to a country."""
        return [c for c in sorted(COUNTRIES[name].lands) if self._is_target(c)]

    def shore_targets(self, zone: str) -> list[str]:
        """Return the countries an army can attack by sailing one zone and landing."""
        near = [zone, *sorted(ZONES[zone].seas)]
        return [c for z in near for c in sorted(ZONES[z].shores) if self._is_target(c)]

    def coast_targets(self, name: str) -> bool:
        """Return whether armies of a country would find work at sea."""
        return any(self.shore_targets(z) for z in COUNTRIES[name].coasts)

    def frontiers(self) -> list[str]:
        """Return colonies with a settled post next to a target, or on a coast with targets."""
        able = [c for c in self.colonies if self.country(c)["posts"] > self.country(c)["fresh_posts"]]
        by_land = [c for c in able if self.land_targets(c)]
        return [*by_land, *(c for c in able if c not in by_land and self.coast_targets(c))]

    def targets(self) -> list[str]:
        """Return all targets in possible reach of the own armies."""
        found = {c for name in (self.home, *self.colonies) if self.count(name) for c in self.land_targets(name)}
        found |= {c for zone, _ in self.fleets("army") for c in self.shore_targets(zone)}
        return sorted(found)

    @cached_property
    def victims(self) -> list[Seat]:
        """The enemies with a colony in reach of adjacent own armies."""
        found = set()
        for name in self.colonies:
            for there in COUNTRIES[name].lands:
                owner = self.country(there)["owner"]
                if owner not in (None, self.seat) and there not in self.homes and self.country(there)["posts"] > 1:
                    ready = min(self.strength(name), 3) * self.power("artillery")
                    if ready > 1.5 * self.defence(there):
                        found.add(owner)
        return sorted(found)

    def ways(self, target: str) -> list[Doc]:
        """Return single units with a path to a target."""
        found = []
        if target in ZONES:
            return self._ships(target)
        for name in sorted(COUNTRIES[target].lands):
            if self.country(name)["owner"] == self.seat:
                spare = self.count(name) - (0 if self.country(name)["posts"] or name == self.home else 1)
                found += self._units(self.country(name)["units"], [name, target], spare)
        for zone in COUNTRIES[target].coasts:
            found += self._aboard(zone, [zone, target])
            for far in sorted(ZONES[zone].seas):
                found += self._aboard(far, [far, zone, target])
        return found

    def _ships(self, target: str) -> list[Doc]:
        near = sorted(ZONES[target].seas)
        return [{**lot, "count": 1, "path": [zone, target]} for zone, lot in self.fleets("warship") if zone in near]

    def _units(self, lots: list[Doc], path: list[str], most: int) -> list[Doc]:
        able = [x for x in lots if x["moves_left"] >= 1]
        each = [{"unit": x["unit"], "count": 1, "path": path} for x in able for _ in range(min(3, x["count"]))]
        return sorted(each, key=lambda w: -self.power(w["unit"]))[: max(most, 0)]

    def _aboard(self, zone: str, path: list[str]) -> list[Doc]:
        fleet = self.zone(zone)["fleets"].get(str(self.seat), [])
        able = [x for x in fleet if is_army(x["unit"]) and x["moves_left"] >= len(path) - 1]
        return self._units(able, path, 9)

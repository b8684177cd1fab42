"""Context of sentences besides the members of a fact, and mergers of several facts into one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from domain.games.seven_empires.data import ACTIONS, CITIES, EMPIRES, FIRST_SLOTS, LETTERED, LETTERS, LIMITS
from domain.games.seven_empires.facts.movement import ArmyMoved, Fought
from domain.games.seven_empires.facts.pieces import StartingUnitsPlaced, UnitsDeployed, UnitsReduced
from domain.games.seven_empires.facts.sequence import (
    DecadeStarted,
    GameScored,
    MarkersShifted,
    MonarchsAssigned,
    MovementEnded,
    TileRevealed,
)
from domain.games.seven_empires.state import Seven
from domain.kernel.rules.ruleset import ContextBuilder, SentenceMerger
from domain.types import Doc, Json, Seat


def _monarchs(before: Seven, after: Seven, _: MonarchsAssigned) -> Mapping[str, Json]:
    """Return the first monarchs; later the changes of monarch, with the reasons."""
    if not before.decade:
        held = {seat: [e for e in EMPIRES if after.monarch(e) == seat] for seat in after.everybody}
        return {"reigns": [{"seat": seat, "empires": some} for seat, some in held.items() if some]}
    crowned = [
        {"empire": empire, "seat": seat, "former": before.monarch(empire), **_why(after, empire, seat)}
        for empire in EMPIRES
        if (seat := after.monarch(empire)) is not None and seat != before.monarch(empire)
    ]
    return {"crowned": crowned, "known": True}


def _why(s: Seven, empire: str, seat: Seat) -> Mapping[str, Json]:
    """SE7-2.12: the most influence, or the tie-break."""
    most = s.influence(seat, empire)
    others = {other: s.influence(other, empire) for other in s.everybody if other != seat}
    against = max(others.values())
    if against < most:
        return {"why": "more", "influence": most, "against": against or None}
    tied = [seat, *(other for other, influence in others.items() if influence == most)]
    lettered = any(LETTERED[empire, letter] in s.hands[one] for letter in LETTERS for one in tied)
    return {"why": "letter" if lettered else "position", "influence": most}


def _returning_markers(before: Seven, after: Seven, _: MarkersShifted) -> Mapping[str, Json]:
    """SE7-11.5: return the actions with a marker back on its tray, and their empires."""
    laid, left = ({(e, a) for e in EMPIRES for a in ACTIONS if s.empires[e].markers.get(a)} for s in (before, after))
    back = {action: [empire for empire in EMPIRES if (empire, action) in laid - left] for action in ACTIONS}
    return {
        "back": [
            {"action": a, "empires": some, "every": len(some) == len(EMPIRES), "one": len(some) == 1}
            for a, some in back.items()
            if some
        ]
    }


def _decade(before: Seven, _: Seven, __: DecadeStarted) -> Mapping[str, Json]:
    """SE7-2.13: return the actions without a marker on the trays in the first decade."""
    return {} if before.decade else {"closed": [action for action in ACTIONS if action in FIRST_SLOTS]}


def _stands(_: Seven, __: Seven, fact: StartingUnitsPlaced | UnitsDeployed) -> Mapping[str, Json]:
    """Return the units by region."""
    found: dict[str, list[Json]] = {}
    for x in fact.units:
        found.setdefault(x.region, []).append({"unit": x.unit, "number": x.number, "one": x.number == 1})
    return {"stands": [{"region": region, "units": units} for region, units in found.items()]}


def _removed(_: Seven, __: Seven, fact: UnitsReduced) -> Mapping[str, Json]:
    """Return the removed units."""
    return {"removed": [{"unit": x.unit, "number": x.number, "one": x.number == 1} for x in fact.units]}


def _first_taker(before: Seven, _: Seven, fact: TileRevealed) -> Mapping[str, Json]:
    """SE7-11.2: return the seat that takes a card first by the tile, if seats take cards by it."""
    kind, number = fact.tile.partition("_")[::2]
    if kind == "position":
        return {"first": before.by_position[int(number) - 1]}
    return {"first": before.pawn} if kind in ("pawn", "worker") else {}


# --- movement -------------------------------------------------------------------------------------------------


def _occupant(s: Seven, city: str) -> str | None:
    """SE7-0.7: return the only foreign empire with units in a city; None in a fight between two empires too."""
    there = [*s.units.get(city, {})]
    return there[0] if len(there) == 1 and there[0] != CITIES[city].empire else None


def _army_moved(before: Seven, after: Seven, fact: ArmyMoved) -> Mapping[str, Json]:
    """Return the city occupied by the army, and the one freed by its departure."""
    start, end = ([region] if region in CITIES else [] for region in (fact.from_, fact.to))
    return {
        "freed": [city for city in start if _occupant(before, city) and not after.occupied(city)],
        "occupied": [city for city in end if _occupant(after, city) and not before.occupied(city)],
    }


def _fought(before: Seven, after: Seven, fact: Fought) -> Mapping[str, Json]:
    """Return whether the attacked empire can strike back, and the city occupied or freed by the fight."""
    pending = fact.outcome == "attacker_stands" and bool(after.units_of(fact.region, fact.against))
    if fact.region not in CITIES:
        return {"pending": pending}
    held = fact.against != CITIES[fact.region].empire
    return {
        "pending": pending,
        "freed": [fact.region] if held and not after.occupied(fact.region) else [],
        "occupied": [fact.region] if _occupant(after, fact.region) == fact.empire else [],
    }


def _movement_ended(before: Seven, _: Seven, fact: MovementEnded) -> Mapping[str, Json]:
    """Return whether all units of the empire stayed in place, or `none` are on the map.

    SE7-9.2: in an Attack, `stay` if none of the units just placed has moved.
    """
    if before.current.action == "attack":
        ready = sum(number for units in before.moving.able.values() for number in units.values())
        return {"stay": ready == LIMITS["attack_deploy_units"]}
    if before.current.action != "move_fight" or before.moving.armies:
        return {}
    own = {region: there[fact.empire] for region, there in before.units.items() if fact.empire in there}
    return {"idle": bool(own) and before.moving.able == own, "none": not own}


# --- end ------------------------------------------------------------------------------------------------------


def _ranking(before: Seven, _: Seven, fact: GameScored) -> Mapping[str, Json]:
    """SE7-12.3: return the empires with their power, and whether some have equal powers."""
    power = {empire: before.empires[empire].power for empire in fact.ranking}
    table = [{"empire": empire, "power": power[empire]} for empire in fact.ranking]
    return {"table": table, "equal": len(set(power.values())) < len(power)}


def _flags(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge the flags of each empire."""
    by_empire = [(empire, list(some)) for empire, some in groupby(run, key=lambda fact: fact["empire"])]
    return [{**some[0], "count": len(some), "flags": some} for _, some in by_empire]


def _power(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge an empire's gains, by source; sources without a gain are left out."""
    by_empire = [list(some) for _, some in groupby(run, key=lambda fact: fact["empire"])]
    return [{**some[-1], "gains": [fact for fact in some if fact["points"]]} for some in by_empire]


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather power, flags, influence cards, palaces, and the cities occupied by an empire's movements.

    A city tells its last occupation, or nothing if it is as before.
    """
    net = _net_occupations(facts)
    gathered: dict[str, list[Doc]] = {}
    marches: dict[str, Doc] = {}
    out: list[Doc] = []
    for i, fact in enumerate(facts):
        if fact["t"] in GATHERED:
            if fact["t"] not in gathered:
                out.append(fact)
            gathered.setdefault(fact["t"], []).append(fact)
        elif fact["t"] in ("army_moved", "fought"):
            kept = {way: [city for city in fact.get(way, ()) if net[city] == i] for way in OCCUPATIONS}
            if fact["t"] == "army_moved" and fact["empire"] in marches:
                for way, cities in kept.items():
                    marches[fact["empire"]][way].extend(cities)
                continue
            out.append({**fact, **kept})
            if fact["t"] == "army_moved":
                marches[fact["empire"]] = out[-1]
        else:
            out.append(fact)
    return [GATHERED[fact["t"]](gathered[fact["t"]]) if fact["t"] in gathered else fact for fact in out]


def _net_occupations(facts: Sequence[Doc]) -> Mapping[str, int | None]:
    """Return city -> the fact with its last occupation or liberation; None if it has been occupied and freed."""
    changes: dict[str, list[tuple[str, int]]] = {}
    for i, fact in enumerate(facts):
        for way in OCCUPATIONS:
            for city in fact.get(way, ()):
                changes.setdefault(city, []).append((way, i))
    return {
        city: None if (some[0][0], some[-1][0]) == ("occupied", "freed") else some[-1][1]
        for city, some in changes.items()
    }


def _rises(some: Sequence[Doc]) -> Doc:
    """Return the power gained by each empire, with the new power."""
    points: dict[str, int] = {}
    for fact in some:
        points[fact["empire"]] = points.get(fact["empire"], 0) + sum(gain["points"] for gain in fact["gains"])
    power = {fact["empire"]: fact["power"] for fact in some}
    rises = [{"empire": empire, "points": n, "power": power[empire]} for empire, n in points.items() if n]
    return {"t": "power_scored", "rises": rises}


def _planted(some: Sequence[Doc]) -> Doc:
    """Return the number of flags of each empire."""
    count: dict[str, int] = {}
    for fact in some:
        count[fact["empire"]] = count.get(fact["empire"], 0) + fact["count"]
    return {"t": "flag_placed", "shares": [{"empire": empire, "count": n} for empire, n in count.items()]}


def _takes(some: Sequence[Doc]) -> Doc:
    """Return the influence cards of each seat."""
    cards: dict[Seat, list[str]] = {}
    for fact in some:
        cards.setdefault(fact["seat"], []).append(fact["card"])
    return {"t": "influence_taken", "takes": [{"seat": seat, "cards": held} for seat, held in cards.items()]}


def _enlarged(some: Sequence[Doc]) -> Doc:
    """Return the palaces with their last crowns, of which the first names the unit; or a single one as `single`."""
    if len(some) == 1:
        return {**some[0], "single": some[0]["crowns"]}
    crowns = {fact["region"]: fact["crowns"] for fact in some}
    works = [{"region": region, "crowns": n, "unit": not i} for i, (region, n) in enumerate(crowns.items())]
    return {"t": "palace_built", "works": works}


OCCUPATIONS = ("freed", "occupied")
"""Members of a movement or fight about cities."""

GATHERED: Mapping[str, Callable[[Sequence[Doc]], Doc]] = {
    "power_scored": _rises,
    "flag_placed": _planted,
    "influence_taken": _takes,
    "palace_built": _enlarged,
}
"""Headlines of a turn told at once."""

CONTEXT_BUILDERS: Mapping[str, ContextBuilder[Seven]] = {
    "starting_units_placed": _stands,
    "monarchs_assigned": _monarchs,
    "markers_shifted": _returning_markers,
    "decade_started": _decade,
    "units_deployed": _stands,
    "units_reduced": _removed,
    "tile_revealed": _first_taker,
    "army_moved": _army_moved,
    "fought": _fought,
    "movement_ended": _movement_ended,
    "game_scored": _ranking,
}
"""Public fact -> context of its sentence, besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {"flag_placed": _flags, "power_scored": _power}
"""Fact -> merger of consecutive ones into one sentence."""


def move_context(s: Seven | None, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the units of a list by their types."""
    lists = {"levy": members.get("levy"), "gone": members.get("remove")}
    return {name: _count_units(units) for name, units in lists.items() if isinstance(units, list | tuple)}


def _count_units(units: Sequence[str]) -> list[Doc]:
    """Return each type of the units with its number, in their order."""
    counts = ((unit, units.count(unit)) for unit in dict.fromkeys(units))
    return [{"unit": unit, "number": number, "one": number == 1} for unit, number in counts]

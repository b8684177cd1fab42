"""Context of sentences besides the members of a fact, and mergers of several facts into one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from domain.games.seven_empires.data import ACTIONS, CITIES, EMPIRES, LETTERED, LETTERS
from domain.games.seven_empires.facts.movement import ArmyMoved, Fought
from domain.games.seven_empires.facts.pieces import StartingUnitsPlaced, UnitsDeployed
from domain.games.seven_empires.facts.sequence import (
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
        "back": [{"action": a, "empires": some, "every": len(some) == len(EMPIRES)} for a, some in back.items() if some]
    }


def _stands(_: Seven, __: Seven, fact: StartingUnitsPlaced | UnitsDeployed) -> Mapping[str, Json]:
    """Return the units by region."""
    found: dict[str, list[Json]] = {}
    for x in fact.units:
        found.setdefault(x.region, []).append({"unit": x.unit, "number": x.number})
    return {"stands": [{"region": region, "units": units} for region, units in found.items()]}


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
    """Return whether all units of the empire stayed in place, or `none` are on the map; nothing after an attack."""
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
    return [{**some[0], "empire": empire, "count": len(some), "flags": some} for empire, some in by_empire]


def _power(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge an empire's gains, by source; sources without a gain are left out."""
    by_empire = [list(some) for _, some in groupby(run, key=lambda fact: fact["empire"])]
    return [{**some[-1], "gains": [fact for fact in some if fact["points"]]} for some in by_empire]


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[Seven]] = {
    "starting_units_placed": _stands,
    "monarchs_assigned": _monarchs,
    "markers_shifted": _returning_markers,
    "units_deployed": _stands,
    "tile_revealed": _first_taker,
    "army_moved": _army_moved,
    "fought": _fought,
    "movement_ended": _movement_ended,
    "game_scored": _ranking,
}
"""Public fact -> context of its sentence, besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {"flag_placed": _flags, "power_scored": _power}
"""Fact -> merger of consecutive ones into one sentence."""

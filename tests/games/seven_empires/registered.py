"""What the tests of all games need to know of this one, independently of its code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from typing import Any

from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import DOC
from domain.types import Doc, Json, Seat

__all__ = ["CROWDED", "RARE", "RULESET", "THINGS", "candidates", "conserved"]

UNITS = ("infantry", "artillery", "two_master", "three_master")
EMPIRES = [e["id"] for e in DOC["empires"]["list"]]
PIECES = {e["id"]: e["supply"] for e in DOC["empires"]["list"]}
REGIONS = {r["id"]: r for r in DOC["regions"]["list"]}
ORDER = list(REGIONS)
CITIES = [r for r in ORDER if REGIONS[r]["kind"] == "city"]
SEAS = [r for r in ORDER if REGIONS[r]["kind"] == "sea"]
THINGS = tuple(c["id"] for c in DOC["influence_cards"]["cards"])
S = Any


def _near(pairs: Json, a: str, b: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {r: [] for r in ORDER}
    for pair in pairs:
        found[pair[a]].append(pair[b])
        found[pair[b]].append(pair[a])
    return found


LAND = _near(DOC["adjacency"]["land"], "a", "b")
SEA = _near(DOC["adjacency"]["sea"], "a", "b")
COAST = _near(DOC["adjacency"]["coast"], "land", "sea")


# --- every move of a small world -----------------------------------------------------------------------------


def candidates(s: S, seat: Seat) -> Iterator[Doc]:
    """Every move that answers the open decision, well-formed, in the builder's form, legal or not."""
    if s.frames:
        yield from WORLDS[s.top.kind](s, seat)


def _naming(kind: str, field: str, values: list[Json]) -> Callable[[S, Seat], Iterator[Doc]]:
    return lambda s, seat: ({"type": kind, field: value} for value in values)


def _choices(s: S, seat: Seat) -> Iterator[Doc]:
    for empire, action in product(EMPIRES, ("build_deploy", "move_fight", "attack", "palace", "empire", "sleep")):
        yield {"type": "choose_action", "empire": empire, "action": action}


def _turns(s: S, seat: Seat) -> Iterator[Doc]:
    yield from _choices(s, seat)
    for empire in EMPIRES:
        yield {"type": "delegate", "empire": empire, "deploy": None}
        for region, unit in product((*CITIES, "ireland"), UNITS):
            yield {"type": "delegate", "empire": empire, "deploy": {"region": region, "unit": unit}}


def _own(s: S) -> list[str]:
    return [r for r in CITIES if REGIONS[r]["empire"] == s.turn.empire]


def _deployments(s: S, seat: Seat) -> Iterator[Doc]:
    """In data order, of what each city could make at its level."""
    makes: list[list[Json]] = []
    for region in _own(s):
        level = s.levels.get(region, 0)
        types = [REGIONS[region][f"level{n}_unit"] for n in range(1, level + 1)]
        makes.append([None, *({"region": region, "unit": unit} for unit in types)])
    for picked in product(*makes):
        yield {"type": "deploy", "mode": "each_city", "units": [p for p in picked if p]}
    for region in _own(s):
        level = s.levels.get(region, 0)
        types = [REGIONS[region][f"level{n}_unit"] for n in range(level, 0, -1)]
        for number in range(5):
            for levy in combinations_with_replacement(types, number):
                yield {"type": "deploy", "mode": "palace", "region": region, "levy": list(levy)}


def _attacks(s: S, seat: Seat) -> Iterator[Doc]:
    placings = [{"region": region, "unit": unit} for region, unit in product(_own(s), UNITS)]
    for number in range(4 if len(placings) < 9 else 3):
        for units in product(placings, repeat=number):
            yield {"type": "attack_deploy", "units": list(units)}


def _movements(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "end_movement"}
    empire = s.turn.empire
    for start, there in s.units.items():
        for unit in there.get(empire, {}):
            yield from _voyages(start, unit) if unit in UNITS[2:] else _marches(s, empire, start, unit)


def _voyages(start: str, unit: str) -> Iterator[Doc]:
    def go(path: list[str]) -> Iterator[list[str]]:
        here = path[-1] if path else start
        for sea in SEA[here] if here in SEAS else COAST[here]:
            if sea not in path and sea != start:
                yield [*path, sea]
                if len(path) < 3:
                    yield from go([*path, sea])

    yield from ({"type": "move_ship", "from": start, "unit": unit, "path": path} for path in go([]))


def _marches(s: S, empire: str, start: str, unit: str) -> Iterator[Doc]:
    for first in _steps(s, empire, start):
        yield from _aimed(s, empire, start, unit, [first])
        for second in _steps(s, empire, first["to"]):
            yield from _aimed(s, empire, start, unit, [first, second])


def _steps(s: S, empire: str, here: str) -> Iterator[Doc]:
    yield from ({"to": region} for region in LAND[here])
    ships = [sea for sea in SEAS if empire in s.units.get(sea, {})]

    def go(chain: list[str]) -> Iterator[list[str]]:
        yield chain
        for sea in SEA[chain[-1]]:
            if sea in ships and sea not in chain:
                yield from go([*chain, sea])

    for sea in COAST[here]:
        for chain in go([sea]) if sea in ships else ():
            yield from ({"to": region, "via": chain} for region in COAST[chain[-1]] if region != here)


def _aimed(s: S, empire: str, start: str, unit: str, steps: list[Doc]) -> Iterator[Doc]:
    move = {"type": "move_land", "from": start, "unit": unit, "steps": steps}
    foreign = [u for e, units in s.units.get(steps[-1]["to"], {}).items() if e != empire for u in units]
    yield from ({**move, "target": u} for u in foreign) if foreign else (move,)


def _reductions(s: S, seat: Seat) -> Iterator[Doc]:
    due = s.top.data
    for number, region in product(range(6), (due["region"], "paris")):
        for remove in combinations_with_replacement(UNITS, number):
            yield {"type": "reduce_region", "region": region, "remove": list(remove)}


def _event_units(s: S, seat: Seat) -> Iterator[Doc]:
    for empire, region in product(EMPIRES, (*CITIES, "ireland")):
        yield {"type": "place_event_unit", "empire": empire, "region": region}


WORLDS: dict[str, Callable[[S, Seat], Iterator[Doc]]] = {
    "draft": _naming("draft_influence", "empire", [*EMPIRES, "poland"]),
    "choose_empire": _turns,
    "choose_delegated_action": _choices,
    "build": _naming("build_city", "region", ORDER),
    "deploy": _deployments,
    "palace": _naming("build_palace", "region", ORDER),
    "attack_deploy": _attacks,
    "movement": _movements,
    "passage": _naming("answer_passage", "grant", [False, True]),
    "counterfight": _naming("choose_defender", "unit", [*UNITS]),
    "reduction": _reductions,
    "tile_influence": _naming("take_influence", "empire", [*EMPIRES, "poland"]),
    "tile_worker": _naming("take_worker", "empire", [*EMPIRES, "poland"]),
    "tile_unit": _event_units,
}


# --- conservation --------------------------------------------------------------------------------------------


def conserved(doc: Json) -> Json:
    """The pieces of a state's JSON form, wherever they are: the same at any time of a game, or what is amiss."""
    held = Counter(card for hand in doc["hands"].values() for card in hand)
    return {
        "tiles": sorted([*doc["hourglass"], *([doc["left_out"]] if doc["left_out"] else [])]),
        "doubled": [card for card, n in held.items() if n > 1],
        "too_many": sorted(_surplus(doc)),
        "misplaced": sorted(_misplaced(doc)),
        "flags": [e for e in EMPIRES if list(doc["flags"].values()).count(e) > 20],
        "markers": sorted({len(e["markers"]) for e in doc["empires"].values()} - {2, 3}),
    }


def _surplus(doc: Json) -> Iterator[str]:
    """Units above the limits of SE7-1.1."""
    counts: Counter[tuple[str, str]] = Counter()
    for there in doc["units"].values():
        for empire, units in there.items():
            counts.update({(empire, unit): n for unit, n in units.items()})
    yield from (f"{empire} {unit}" for (empire, unit), n in counts.items() if n > PIECES[empire][unit])


def _misplaced(doc: Json) -> Iterator[str]:
    """Units where SE7-17.1 does not allow them, and counts of 0 that are named."""
    for region, there in doc["units"].items():
        place = REGIONS[region]
        for empire, units in there.items():
            port = place["kind"] == "city" and place["port"] and place["empire"] == empire
            for unit, n in units.items():
                fits = (unit in UNITS[2:] and n == 1) if place["kind"] == "sea" else (unit in UNITS[:2] or port)
                if n < 1 or not fits:
                    yield f"{unit} of {empire} in {region}"


# --- situations that games seldom come to ----------------------------------------------------------------------


def _crowded() -> dict[str, Json]:
    """A board full of armies and ships, so that there are fights, passages and transports everywhere."""
    units: dict[str, dict[str, dict[str, int]]] = {}
    left = {e: Counter(PIECES[e]) for e in EMPIRES}
    spread = [r for r in ORDER if REGIONS[r]["kind"] == "land"]
    for i, region in enumerate([*spread, *SEAS]):
        empire = EMPIRES[(i * 3) % len(EMPIRES)]
        unit = UNITS[2 + i % 2] if region in SEAS else UNITS[i % 2]
        units[region] = {empire: {unit: 1}}
        left[empire][unit] -= 1
    for i, region in enumerate(CITIES):
        empire = REGIONS[region]["empire"]
        types = [u for u in (UNITS if REGIONS[region]["port"] else UNITS[:2]) if left[empire][u] > 0]
        for unit in types[i % 2 : i % 2 + 2]:
            units.setdefault(region, {}).setdefault(empire, {})[unit] = 1
            left[empire][unit] -= 1
    levels = {r: 2 for r in CITIES if not REGIONS[r]["dotted"]}
    return {"units": units, "levels": levels}


CROWDED = _crowded()


def _neutral() -> dict[str, Json]:
    """Seat 0 holds nothing and four empires are neutral: it acts for them in peace, and else delegates."""
    hands = {"0": [], "1": ["spain.nobility", "prussia.nobility"], "2": ["russia.nobility", "spain.worker"]}
    reigns: dict[str, int | None] = {"spain": 1, "prussia": 1, "russia": 2}
    return {"hands": hands, "empires": {e: {"monarch": reigns.get(e)} for e in EMPIRES}}


def _besieged() -> dict[str, Json]:
    """Every empire has one unoccupied city left, with a foreign army at its gates, and may move at once."""
    units: dict[str, dict[str, dict[str, int]]] = {}
    for i, empire in enumerate(EMPIRES):
        others = [e for e in EMPIRES if e != empire]
        last, *lost = (r for r in CITIES if REGIONS[r]["empire"] == empire)
        for j, region in enumerate(lost):
            units[region] = {others[(i + j) % 6]: {UNITS[j % 2]: 1}}
        free = [r for r in LAND[last] if REGIONS[r]["kind"] == "land" and r not in units]
        for j, region in enumerate(free[:2]):
            units[region] = {others[(i + j + 3) % 6]: {"artillery": 1}}
    moving = {"move_fight": None, "palace": "III"}
    return {"units": units, "empires": {e: {"markers": moving} for e in EMPIRES}}


RARE: tuple[dict[str, Json], ...] = (
    {"seats": 4, "options": {}, "patch": CROWDED},
    {"seats": 2, "options": {"decades": 9}, "patch": CROWDED},
    {"seats": 3, "options": {}, "patch": _neutral()},
    {"seats": 4, "options": {}, "patch": _besieged()},
    {"seats": 6, "options": {"setup": "draft", "quick_start": True, "decades": 9}, "patch": {}},
)

"""SE7-17: invariants, true after every fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.games.seven_empires import state_updates
from domain.games.seven_empires.data import (
    ARMIES,
    CITIES,
    EMPIRES,
    REGIONS,
    SHIPS,
    TILE_SETS,
    UNITS,
)
from domain.games.seven_empires.id_checks import find_unknown_ids
from domain.games.seven_empires.rules.monarchs import monarchs
from domain.games.seven_empires.rules.reductions import limit
from domain.games.seven_empires.state import Counts, Seven, total
from domain.kernel.rules import flow


def check(s: Seven) -> list[str]:
    """Return the broken invariants, in words. Unknown ids are reported alone, as no other check works with them."""
    return list(find_unknown_ids(s)) or [*_regions(s), *_empires(s), *_cards(s), *_tiles(s), *_flow(s)]


def fill(s: Seven) -> Seven:
    """Derive the rest of a state from the table: monarchs if none is named, and hourglass tiles in data order."""
    if all(empire.monarch is None for empire in s.empires.values()):
        s = state_updates.monarchs(s, monarchs(s))
    return s if s.hourglass else flow.assign(s, hourglass=_laid(s))


def _set(s: Seven) -> list[str]:
    """SE7-2.7: the tiles of this number of seats, without the laurel."""
    part = TILE_SETS[s.seats]
    return [*part["base"], *(part["extension"] if s.terms.decades > 8 else ())]


def list_aside(s: Seven) -> list[str]:
    """Return the tiles left over after all decades, with the hourglass in data order."""
    return list((Counter(_set(s)) - Counter(_laid(s))).elements())


def _laid(s: Seven) -> tuple[str, ...]:
    """Return the revealed tiles, then the others."""
    left = Counter(_set(s)) - Counter(s.revealed)
    tiles = [*s.revealed, *left.elements()]
    return (*tiles[: s.terms.decades - 1], "laurel")


def _regions(s: Seven) -> Iterator[str]:
    """SE7-17.1, SE7-17.2, SE7-17.7."""
    at_rest = bool(s.frames) and s.top.kind == "choose_empire"
    fighting = bool(s.frames) and s.top.kind == "counterfight"
    for region, there in s.units.items():
        if len(there) != 1 and not fighting:
            yield f"{region}: units of {len(there)} empires"
        for empire, units in there.items():
            yield from (f"{region}: {fault}" for fault in _stand(region, empire, units))
            if at_rest and total(units) > limit(region, empire):
                yield f"{region}: {total(units)} units at the beginning of a turn"
    yield from (f"{region}: a flag on a city region" for region in s.flags if region in CITIES)


def _stand(region: str, empire: str, units: Counts) -> Iterator[str]:
    """SE7-17.1."""
    if not units or min(units.values()) < 1:
        yield f"units {dict(units)}"
    if REGIONS[region] == "sea" and (total(units) != 1 or any(unit in ARMIES for unit in units)):
        yield f"{dict(units)} at sea"
    home = region in CITIES and CITIES[region].anchor is not None and CITIES[region].empire == empire
    if REGIONS[region] != "sea" and not home and any(unit in SHIPS for unit in units):
        yield "a ship that is in no own port"


def _empires(s: Seven) -> Iterator[str]:
    """SE7-17.2 to SE7-17.4."""
    for empire in EMPIRES:
        yield from (f"{empire}: {-n} {u} too many" for u in UNITS if (n := s.supply(empire, u)) < 0)
        if s.flags_left(empire) < 0:
            yield f"{empire}: {-s.flags_left(empire)} flags too many"
        if not s.free_cities(empire):
            yield f"{empire}: every city region is occupied"
        if s.empires[empire].power < 0:
            yield f"{empire}: power {s.empires[empire].power}"
        yield from (f"{empire}: {fault}" for fault in _markers(s.empires[empire].markers))
    yield from (f"{region}: level {n}" for region, n in s.levels.items() if not 1 <= n <= 2)
    crowns = s.palaces.items()
    yield from (f"{region}: {n} crowns" for region, n in crowns if not 1 <= n <= CITIES[region].most_crowns)


def _markers(markers: dict[str, str]) -> Iterator[str]:
    """SE7-17.4: two markers off the tray before the empire acts, one more from then on."""
    slots = sorted(markers.values())
    if slots not in (["I", "II", "III"], ["II", "III"]):
        yield f"markers on {', '.join(slots)}"


def _cards(s: Seven) -> Iterator[str]:
    """SE7-17.5."""
    held = Counter(card for hand in s.hands for card in hand)
    yield from (f"{card}: is held {n} times" for card, n in held.items() if n > 1)


def _tiles(s: Seven) -> Iterator[str]:
    """SE7-2.7: the tiles of this number of seats."""
    if not s.hourglass:
        return
    have = [*s.hourglass[:-1], *([s.left_out] if s.left_out else [])]
    if not Counter(have) <= Counter(_set(s)) or s.hourglass[-1] != "laurel":
        yield "hourglass: some tiles are missing or doubled"


def _flow(s: Seven) -> Iterator[str]:
    """SE7-3.1, SE7-17.8."""
    if not s.over and s.frames and len(s.top.owing) != 1:
        yield f"{len(s.top.owing)} seats decide"
    if s.decade > s.terms.decades or s.turn_in_decade > len(EMPIRES):
        yield f"decade {s.decade}, turn {s.turn_in_decade}"

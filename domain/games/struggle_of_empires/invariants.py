"""SOE-21.2: invariants, true after every fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS, REGIONS, SCORING, TILES, UNITS
from domain.games.struggle_of_empires.id_checks import find_unknown_ids
from domain.games.struggle_of_empires.state import Empire, Struggle
from domain.kernel.rules.flow import assign


def check(s: Struggle) -> list[str]:
    """Return the broken invariants, in words. Unknown ids are reported alone, as no other check works with them."""
    return list(find_unknown_ids(s)) or [*_seats(s), *_tiles(s), *_markers(s), *_flow(s)]


def fill(s: Struggle) -> Struggle:
    """Derive the rest of a state from the table: the stock of tiles, and the bag of markers."""
    copies = _tiles_out(s)
    stock = {t.id: max(0, t.count - copies[t.id]) for t in TILES.values()}
    out = Counter([*s.lying(), *s.gone])
    return assign(s, stock=stock, bag=tuple(marker for marker in MARKERS if not out[marker]))


def _seats(s: Struggle) -> Iterator[str]:
    for seat, empire in enumerate(s.empires):
        yield from (f"seat {seat}: {fault}" for fault in _empire(empire))
        if s.reserve(seat) < 0:
            yield f"seat {seat}: {-s.reserve(seat)} tokens too many"
        if s.unrest[seat] < 0:
            yield f"seat {seat}: unrest {s.unrest[seat]}"


def _empire(empire: Empire) -> Iterator[str]:
    if not 0 <= empire.population <= CONSTANTS["max_population"]:
        yield f"population {empire.population}"
    if empire.gold < 0 or empire.vp < 0:
        yield f"gold {empire.gold}, points {empire.vp}"
    yield from (f"{unit}: {-n} too many" for unit in UNITS if (n := empire.supply(unit)) < 0)
    yield from (f"tokens in {region}: {n}" for region, n in empire.tokens.items() if region not in SCORING or n < 1)
    for region, units in empire.units.items():
        if not units:
            yield f"/units/{region}: nothing stands there"
        yield from (f"{n} {unit} in {region}" for unit, n in units.items() if not _may_stand(empire, unit, region, n))


def _may_stand(empire: Empire, unit: str, region: str, number: int) -> bool:
    there = REGIONS[region]
    if number < 1 or not (there.scores or region == empire.home):
        return False
    return there.accepts_navies if unit == "navy" else unit == "army" or there.scores


def _tiles_out(s: Struggle) -> Counter[str]:
    """Return the copies of tiles out of the stock."""
    copies = Counter(s.boxed) + Counter(t.tile for e in s.empires for t in e.tiles)
    copies.update(tile for tile, _ in s.captives())
    if s.combat and s.combat.attacker.kind in TILES:
        copies[s.combat.attacker.kind] += 1 - (s.captive(s.combat.attacker.kind) is not None)
    return copies


def _tiles(s: Struggle) -> Iterator[str]:
    copies = _tiles_out(s) + Counter(s.stock)
    yield from (f"{t.id}: {copies[t.id]} copies" for t in TILES.values() if copies[t.id] != t.count)
    laid = [seat for seat, e in enumerate(s.empires) if e.owned("blockade") > e.unused("blockade")]
    if laid != ([s.blockade.seat] if s.blockade else []):
        yield "blockade: the tile and its owner differ"


def _markers(s: Struggle) -> Iterator[str]:
    if sorted([*s.bag, *s.lying(), *s.gone]) != sorted(MARKERS):
        yield "markers: some are missing or doubled"


def _flow(s: Struggle) -> Iterator[str]:
    if not s.over and [len(s.top.owing)] != [1]:
        yield f"{len(s.top.owing)} seats decide"

"""Checks for unknown ids in a state; only a patch can bring them."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.common.id_checks import Place, items, keys, unknown_ids
from domain.games.imperunde.data import CANALS, CARDS, COUNTRIES, HOMES, PIRATES, UNITS, ZONES
from domain.games.imperunde.state import HORDES, ImpeRunde
from domain.games.imperunde.unit_stacks import Lot

REGIONS = {**COUNTRIES, **ZONES}
STANCES = ("peace", "war")


def find_unknown_ids(s: ImpeRunde) -> Iterator[str]:
    """Yield one line for each, with its JSON pointer; none in a sound state."""
    yield from _countries(s)
    yield from _zones(s)
    yield from unknown_ids("card", CARDS, _cards(s))
    yield from unknown_ids("seat", s.everybody, _seats(s))
    yield from unknown_ids("nation", HOMES, [(f"/nations/{i}/home", n.home) for i, n in enumerate(s.nations) if n.home])
    yield from (f"/nations/{i}/home: the nation is missing" for i, n in enumerate(s.nations) if not n.home)
    yield from unknown_ids("canal", CANALS, items("/canals", s.canals))
    yield from unknown_ids("region", REGIONS, items("/struck", s.struck))
    yield from _pairs(s)
    if s.combat:
        parties = [("/combat/attacker", s.combat.attacker), ("/combat/defender", s.combat.defender)]
        yield from unknown_ids("region", REGIONS, [("/combat/region", s.combat.region)])
        yield from unknown_ids(
            "party", (*s.everybody, *HORDES), [*parties, *items("/combat/enemies", s.combat.enemies)]
        )
        yield from _lots("/combat/units", s.combat.units)


def _lots(at: str, lots: tuple[Lot, ...]) -> Iterator[str]:
    return unknown_ids("unit", UNITS, ((f"{at}/{i}/unit", lot.unit) for i, lot in enumerate(lots)))


def _countries(s: ImpeRunde) -> Iterator[str]:
    yield from unknown_ids("country", COUNTRIES, keys("/countries", s.countries))
    for name, country in s.countries.items():
        at = f"/countries/{name}"
        owners = [(f"{at}/owner", country.owner), (f"{at}/plundered_by", country.plundered_by)]
        yield from unknown_ids("seat", s.everybody, owners)
        yield from _lots(f"{at}/units", country.units)


def _zones(s: ImpeRunde) -> Iterator[str]:
    seats = [str(seat) for seat in s.everybody]
    yield from unknown_ids("zone", ZONES, keys("/zones", s.zones))
    for name, zone in s.zones.items():
        at = f"/zones/{name}"
        yield from unknown_ids("marker", ("storm", "calm"), [(f"{at}/marker", zone.marker)])
        yield from unknown_ids("black ship", PIRATES, keys(f"{at}/pirates", zone.pirates))
        yield from unknown_ids("seat", seats, keys(f"{at}/fleets", zone.fleets))
        for seat, fleet in zone.fleets.items():
            yield from _lots(f"{at}/fleets/{seat}", fleet)


def _cards(s: ImpeRunde) -> Iterator[Place]:
    yield from [*items("/deck", s.deck), *items("/discard", s.discard), *items("/seen", s.seen)]
    for seat, hand in enumerate(s.hands):
        yield from items(f"/hands/{seat}", hand)


def _seats(s: ImpeRunde) -> Iterator[Place]:
    yield from [("/active", s.active), ("/winner", s.winner), *items("/order", s.order)]


def _pairs(s: ImpeRunde) -> Iterator[str]:
    known = {f"{a}-{b}" for b in s.everybody for a in range(b)}
    yield from unknown_ids("pair of seats", known, keys("/pairs", s.pairs))
    yield from (f"/pairs/{pair}: the pair is missing" for pair in sorted(known - set(s.pairs)))
    for name, pair in s.pairs.items():
        yield from unknown_ids("relation", STANCES, [(f"/pairs/{name}/base", pair.base)])
        yield from unknown_ids("relation", STANCES, items(f"/pairs/{name}/stances", pair.stances))

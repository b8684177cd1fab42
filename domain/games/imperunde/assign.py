"""The small assignments that facts are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from domain.games.common.seats import put
from domain.games.imperunde import lots
from domain.games.imperunde.data import ZONES
from domain.games.imperunde.lots import Lot, Lots
from domain.games.imperunde.state import Country, ImpeRunde, Zone
from domain.ids import Seat
from domain.kernel.flow import assign

S = ImpeRunde


def nation(s: S, seat: Seat, **change: Any) -> S:
    """Change fields of one seat's nation."""
    return assign(s, nations=put(s.nations, seat, assign(s.nations[seat], **change)))


def country(s: S, region: str, **change: Any) -> S:
    """Change fields of a country; one that is as before the game is not named."""
    new = assign(s.country(region), **change)
    rest = {k: v for k, v in s.countries.items() if k != region}
    return assign(s, countries=rest if new == Country() else {**rest, region: new})


def zone(s: S, region: str, **change: Any) -> S:
    """Change fields of a zone; one that is as before the game is not named."""
    new = assign(s.zone(region), **change)
    rest = {k: v for k, v in s.zones.items() if k != region}
    return assign(s, zones=rest if new == Zone() else {**rest, region: new})


def fleet(s: S, region: str, seat: Any, ships: Lots) -> S:
    """All that a seat has in a zone from now on."""
    rest = {k: v for k, v in s.zone(region).fleets.items() if k != str(seat)}
    return zone(s, region, fleets={**rest, str(seat): ships} if ships else rest)


def pair(s: S, name: str, **change: Any) -> S:
    """Change fields of what holds between two seats."""
    return assign(s, pairs={**s.pairs, name: assign(s.pairs[name], **change)})


def combat(s: S, **change: Any) -> S:
    """Change fields of the combat."""
    return assign(s, combat=assign(s.fight, **change))


def units(s: S, seat: Seat, region: str, by: Iterable[Lot], sign: int = 1) -> S:
    """More (or fewer) units of a seat in a region; `fort` counts among them."""
    by = tuple(by)
    forts = lots.total(by, "fort")
    if forts:
        s = country(s, region, forts=s.country(region).forts + sign * forts)
    mobile = tuple(x for x in by if x.unit != "fort")
    if not mobile:
        return s
    if region in ZONES:
        return fleet(s, region, seat, lots.change(s.zone(region).fleet(seat), mobile, sign))
    if s.combat and s.combat.region == region and s.combat.attacker == seat:
        return combat(s, units=lots.change(s.combat.units, mobile, sign))
    return country(s, region, units=lots.change(s.country(region).units, mobile, sign))


def pirates(s: S, region: str, by: dict[str, int], sign: int = 1) -> S:
    """More (or fewer) black ships in a zone."""
    have = s.zone(region).pirates
    counts = {u: have.get(u, 0) + sign * by.get(u, 0) for u in sorted({*have, *by})}
    return zone(s, region, pirates={u: n for u, n in counts.items() if n})


def without(cards: tuple[str, ...], card: str) -> tuple[str, ...]:
    """The cards without one of that kind; as they are where it is not known to be among them."""
    if card not in cards:
        return cards
    at = cards.index(card)
    return (*cards[:at], *cards[at + 1 :])


def expire(s: S, *untils: str) -> S:
    """Standing passes that last so long are over."""
    kept = tuple({w: u for w, u in auto.items() if u not in untils} for auto in s.auto)
    return s if kept == s.auto else assign(s, auto=kept)


def regive(s: S, seat: Seat, moves: Callable[[Lot, bool], Lot]) -> S:
    """All lots of a seat, each with what `moves` makes of it (told whether it is afloat)."""
    countries, zones = dict(s.countries), dict(s.zones)
    for k, c in s.countries.items():
        if c.owner == seat and c.units:
            countries[k] = assign(c, units=lots.change((), (moves(x, False) for x in c.units)))
    for k, z in s.zones.items():
        if fleet := z.fleet(seat):
            again = lots.change((), (moves(x, True) for x in fleet))
            zones[k] = assign(z, fleets={**z.fleets, str(seat): again})
    return assign(s, countries=countries, zones=zones)

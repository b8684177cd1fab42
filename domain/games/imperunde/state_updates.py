"""Small assignments to the state, shared by facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from domain.games.common.seats import replace_at
from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import ZONES
from domain.games.imperunde.state import OPEN_SEA, WILD, ImpeRunde
from domain.games.imperunde.unit_stacks import Lot, Lots
from domain.kernel.rules.flow import assign
from domain.types import Seat

S = ImpeRunde
T = TypeVar("T")


def _replace_item(values: dict[str, T], name: str, value: T | None) -> dict[str, T]:
    """Return the values with this one under the name, last in order, or without the name."""
    new = values.copy()
    new.pop(name, None)
    if value is not None:
        new[name] = value
    return new


def nation(s: S, seat: Seat, **change: object) -> S:
    """Change fields of one seat's nation."""
    return assign(s, nations=replace_at(s.nations, seat, assign(s.nations[seat], **change)))


def pay(s: S, seat: Seat, cost: int, available: int) -> S:
    """Pay for an investment; `available` is the money left for others."""
    return nation(s, seat, available=available, paid=s.nations[seat].paid + cost)


def country(s: S, region: str, **change: object) -> S:
    """Change fields of a country; one back in its state before the game is omitted."""
    new = assign(s.country(region), **change)
    return assign(s, countries=_replace_item(s.countries, region, None if new == WILD else new))


def posts(s: S, region: str, by: int) -> S:
    """Add posts to a country; they are fresh."""
    c = s.country(region)
    return country(s, region, posts=c.posts + by, fresh_posts=c.fresh_posts + by)


def zone(s: S, region: str, **change: object) -> S:
    """Change fields of a zone; one back in its state before the game is omitted."""
    new = assign(s.zone(region), **change)
    return assign(s, zones=_replace_item(s.zones, region, None if new == OPEN_SEA else new))


def fleet(s: S, region: str, seat: Seat, ships: Lots) -> S:
    """Replace all ships of a seat in a zone."""
    return zone(s, region, fleets=_replace_item(s.zone(region).fleets, str(seat), ships or None))


def pair(s: S, name: str, **change: object) -> S:
    """Change fields of the relations between two seats."""
    return assign(s, pairs={**s.pairs, name: assign(s.pairs[name], **change)})


def combat(s: S, **change: object) -> S:
    """Change fields of the combat."""
    return assign(s, combat=assign(s.fight, **change))


def units(s: S, seat: Seat, region: str, by: Iterable[Lot], sign: int = 1) -> S:
    """Add (or take away) units of a seat in a region; `fort` counts among them."""
    by = tuple(by)
    mobile = [x for x in by if x.unit != "fort"]
    if len(mobile) < len(by):
        s = country(s, region, forts=s.country(region).forts + sign * unit_stacks.total(by, "fort"))
    if not mobile:
        return s
    if region in ZONES:
        return fleet(s, region, seat, unit_stacks.change(s.zone(region).fleet(seat), mobile, sign))
    if s.combat and s.combat.region == region and s.combat.attacker == seat:
        return combat(s, units=unit_stacks.change(s.combat.units, mobile, sign))
    return country(s, region, units=unit_stacks.change(s.country(region).units, mobile, sign))


def pirates(s: S, region: str, by: Mapping[str, int], sign: int = 1) -> S:
    """Add (or take away) black ships in a zone."""
    have = s.zone(region).pirates
    counts = {u: have.get(u, 0) + sign * by.get(u, 0) for u in sorted({*have, *by})}
    return zone(s, region, pirates={u: n for u, n in counts.items() if n})


def without(cards: tuple[str, ...], card: str) -> tuple[str, ...]:
    """Return the cards without one of this kind; unchanged if it is not known to be among them."""
    if card not in cards:
        return cards
    at = cards.index(card)
    return (*cards[:at], *cards[at + 1 :])


def expire(s: S, *untils: str) -> S:
    """End the standing passes with one of these durations."""
    if not any(u in untils for auto in s.auto for u in auto.values()):
        return s
    return assign(s, auto=tuple({w: u for w, u in auto.items() if u not in untils} for auto in s.auto))


def replace_lots(s: S, seat: Seat, ashore: Callable[[Lot], Lot], afloat: Callable[[Lot], Lot]) -> S:
    """Replace all lots of a seat by the results of the functions."""
    countries, zones, name = s.countries.copy(), s.zones.copy(), str(seat)
    for k, c in s.countries.items():
        if c.owner == seat and c.units and (armies := unit_stacks.replace_each(c.units, ashore)) is not c.units:
            countries[k] = assign(c, units=armies)
    for k, z in s.zones.items():
        if (ships := z.fleets.get(name)) and (fleet := unit_stacks.replace_each(ships, afloat)) is not ships:
            zones[k] = assign(z, fleets={**z.fleets, name: fleet})
    return assign(s, countries=countries, zones=zones)

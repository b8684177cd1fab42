"""The small assignments that facts are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from domain.games.common.counts import plus
from domain.games.common.seats import put
from domain.games.struggle_of_empires.state import Empire, Struggle, Tile
from domain.ids import Seat

S = Struggle


def empire(s: S, seat: Seat, **change: Any) -> S:
    """Change fields of one seat's empire."""
    return replace(s, empires=put(s.empires, seat, replace(s.empires[seat], **change)))


def all_empires(s: S, **change: Any) -> S:
    """Change fields of every empire."""
    return replace(s, empires=tuple(replace(e, **change) for e in s.empires))


def turn(s: S, **change: Any) -> S:
    """Change fields of the turn record."""
    return replace(s, turn=replace(s.acting, **change))


def combat(s: S, **change: Any) -> S:
    """Change fields of the combat."""
    return replace(s, combat=replace(s.battle, **change))


def party(s: S, side: str, **change: Any) -> S:
    """Change fields of one side of the combat."""
    return combat(s, **{side: replace(s.battle.party(side), **change)})


def unit(s: S, seat: Seat, kind: str, region: str, by: int) -> S:
    """A unit more or less in a region."""
    before = s.empires[seat].units
    there = plus(before.get(region, {}), kind, by)
    units = {**before, region: there}
    if not there:
        del units[region]
    return empire(s, seat, units=units)


def token(s: S, seat: Seat, region: str, by: int) -> S:
    """A token more or less in a region."""
    return empire(s, seat, tokens=plus(s.empires[seat].tokens, region, by))


def unrest(s: S, seat: Seat, by: int) -> S:
    """Unrest more or less."""
    return replace(s, unrest=put(s.unrest, seat, s.unrest[seat] + by))


def ban(s: S, seat: Seat, tile: str) -> S:
    """The seat may not buy the tile again in this round."""
    banned = s.empires[seat].banned_tiles
    return s if tile in banned else empire(s, seat, banned_tiles=(*banned, tile))


def without_tile(owner: Empire, tile: str) -> tuple[Tile, ...]:
    """The tiles without one copy."""
    at = next(i for i, t in enumerate(owner.tiles) if t.tile == tile)
    return (*owner.tiles[:at], *owner.tiles[at + 1 :])


def turned(owner: Empire, tile: str) -> tuple[Tile, ...]:
    """The tiles with one unused copy turned."""
    at = next(i for i, t in enumerate(owner.tiles) if t.tile == tile and not t.used)
    return (*owner.tiles[:at], Tile(tile, True), *owner.tiles[at + 1 :])

"""Small assignments to the state, shared by facts."""

from __future__ import annotations

from domain.games.common.counts import add_count
from domain.games.common.seats import replace_at
from domain.games.struggle_of_empires.state import Empire, Struggle, Tile
from domain.kernel.rules.flow import assign
from domain.types import Seat

S = Struggle


def empire(s: S, seat: Seat, **change: object) -> S:
    """Change fields of one seat's empire."""
    return assign(s, empires=replace_at(s.empires, seat, assign(s.empires[seat], **change)))


def all_empires(s: S, **change: object) -> S:
    """Change fields of every empire."""
    return assign(s, empires=tuple(assign(e, **change) for e in s.empires))


def turn(s: S, **change: object) -> S:
    """Change fields of the turn record."""
    return assign(s, turn=assign(s.acting, **change))


def combat(s: S, **change: object) -> S:
    """Change fields of the combat."""
    return assign(s, combat=assign(s.battle, **change))


def party(s: S, side: str, **change: object) -> S:
    """Change fields of one side of the combat."""
    return combat(s, **{side: assign(s.battle.party(side), **change)})


def unit(s: S, seat: Seat, kind: str, region: str, by: int) -> S:
    """Add (or take away) a unit in a region."""
    before = s.empires[seat].units
    there = add_count(before.get(region, {}), kind, by)
    units = {**before, region: there}
    if not there:
        del units[region]
    return empire(s, seat, units=units)


def token(s: S, seat: Seat, region: str, by: int) -> S:
    """Add (or take away) a token in a region."""
    return empire(s, seat, tokens=add_count(s.empires[seat].tokens, region, by))


def unrest(s: S, seat: Seat, by: int) -> S:
    """Add (or take away) unrest."""
    return assign(s, unrest=replace_at(s.unrest, seat, s.unrest[seat] + by))


def turn_tile(s: S, seat: Seat, tile: str) -> S:
    """Turn one unused copy of a tile."""
    return empire(s, seat, tiles=_turned(s.empires[seat], tile))


def remove_tile(s: S, seat: Seat, tile: str) -> S:
    """Take one copy of a tile from the seat."""
    return empire(s, seat, tiles=_without_tile(s.empires[seat], tile))


def change_stock(s: S, tile: str, by: int) -> S:
    """Add (or take away) a copy of a tile in the stock."""
    return assign(s, stock=add_count(s.stock, tile, by))


def return_tile(s: S, seat: Seat, tile: str, banned: bool) -> S:
    """Return a copy of a tile from the seat to the stock; if banned, the seat may not rebuy it this round."""
    back = change_stock(remove_tile(s, seat, tile), tile, 1)
    return ban(back, seat, tile) if banned else back


def ban(s: S, seat: Seat, tile: str) -> S:
    """Bar the seat from buying the tile again in this round."""
    banned = s.empires[seat].banned_tiles
    return s if tile in banned else empire(s, seat, banned_tiles=(*banned, tile))


def _without_tile(owner: Empire, tile: str) -> tuple[Tile, ...]:
    """Return the tiles without one copy."""
    at = next(i for i, t in enumerate(owner.tiles) if t.tile == tile)
    return (*owner.tiles[:at], *owner.tiles[at + 1 :])


def _turned(owner: Empire, tile: str) -> tuple[Tile, ...]:
    """Return the tiles with one unused copy turned."""
    at = next(i for i, t in enumerate(owner.tiles) if t.tile == tile and not t.used)
    return (*owner.tiles[:at], Tile(tile, True), *owner.tiles[at + 1 :])

"""SOE-16, SOE-21.1: what a viewer sees. Everything is public but the unrest totals."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import REGIONS, UNITS
from domain.games.struggle_of_empires.scoring import unrest_shown
from domain.games.struggle_of_empires.state import Auction, Combat, Empire, Struggle
from domain.ids import DIRECTOR, PUBLIC, Json, Seat, Viewer
from domain.kernel.jsonform import to_json


def sight(s: Struggle, viewer: Viewer) -> Json:
    """`public`: the board; a seat: its unrest besides; the director: the board with all unrest."""
    if viewer == PUBLIC:
        return public(s)
    if viewer == DIRECTOR:
        return {**public(s), "unrest": list(s.unrest)}
    return {"unrest": s.unrest[int(viewer)]}


def public(s: Struggle) -> dict[str, Json]:
    """The common board, in the names of SOE-21.1."""
    board: dict[str, Json] = {
        "game": "struggle_of_empires",
        "players": s.seats,
        "war": s.war,
        "round": s.round,
        "phase": s.phase,
        "first_player": s.first_player,
        "opener": s.opener,
        "turn_order": list(s.turn_order),
        "alliances": {name: list(seats) for name, seats in s.alliances.items()},
        "auction": _auction(s, s.auction) if s.auction else None,
        "empires": [_empire(s, seat, e) for seat, e in enumerate(s.empires)],
        "markers": {region: list(markers) for region, markers in s.markers.items() if markers},
        "bag_size": len(s.bag),
        "stock": s.stock,
        "boxed": s.boxed,
        "pirates": _form(s.pirates),
        "slave_revolt": _form(s.slave_revolt),
        "blockade": _form(s.blockade),
        "turn": _form(s.turn),
        "combat": _combat(s.combat) if s.combat else None,
    }
    return {**board, "unrest": list(s.unrest)} if unrest_shown(s) else board


def _form(part: object) -> Json:
    return None if part is None else to_json(part)


def _auction(s: Struggle, auction: Auction) -> Json:
    return {**to_json(auction), "unaligned": s.unaligned()}


def _empire(s: Struggle, seat: Seat, empire: Empire) -> Json:
    return {
        "seat": seat,
        "power": empire.power,
        "gold": empire.gold,
        "population": empire.population,
        "vp": empire.vp,
        "tokens": empire.tokens,
        "units": empire.units,
        "supply": {unit: empire.supply(unit) for unit in UNITS},
        "reserve": s.reserve(seat),
        "tiles": [{"tile": t.tile, "used": t.used} for t in empire.tiles],
        "banned_tiles": list(empire.banned_tiles),
    }


def _combat(combat: Combat) -> Json:
    return {**to_json(combat), "zone": REGIONS[combat.region].zone}

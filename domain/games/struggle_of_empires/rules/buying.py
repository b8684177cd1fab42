"""SOE-7.4, SOE-9.4: buying a tile, and the tiles with an immediate effect."""

from __future__ import annotations

from domain.errors import RuleError
from domain.games.struggle_of_empires.data import COLONIES, CONSTANTS, RAIDERS, SLAVE_REVOLT_REGIONS, TILES
from domain.games.struggle_of_empires.facts.economy import UnrestAdded, UnrestRemoved
from domain.games.struggle_of_empires.facts.tiles import TileBoxed, TileTaken
from domain.games.struggle_of_empires.moves import BuyTile
from domain.games.struggle_of_empires.rules import actions, money, raids
from domain.games.struggle_of_empires.rules.checks import need_action, need_population, require
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RAID_REGIONS = {"pirates": frozenset(COLONIES), "slave_revolt": SLAVE_REVOLT_REGIONS}
"""SOE-9.6.2, SOE-9.7.1: where Pirates and Slave Revolt can be sent."""


def check_buyable(s: Struggle, seat: Seat, tile: str) -> None:
    """SOE-7.4.4: the errors of `buy_tile` common to all tiles, in this order."""
    need_action(s, "SOE-7.4.4")
    require(tile in TILES, "unknown_tile", "SOE-7.4.4", tile=tile)
    require(not s.acting.tile_bought, "tile_already_bought", "SOE-7.4.4")
    require(s.stock.get(tile, 0) > 0, "tile_not_in_stock", "SOE-7.4.4", tile=tile)
    require(tile not in s.empires[seat].banned_tiles, "tile_banned_this_round", "SOE-9.2.4", tile=tile)
    need_population(s, seat, TILES[tile].population, "SOE-7.4.4")


def check_buy_tile(s: Struggle, seat: Seat, move: BuyTile) -> None:
    """SOE-7.4.4: the errors of `buy_tile`, in this order."""
    check_buyable(s, seat, move.tile)
    if move.tile in RAIDERS:
        check_raid(s, seat, move.tile, *_aim(move))


def _aim(move: BuyTile) -> tuple[str, Seat]:
    """SOE-9.6.1: the region and the seat to be attacked by Pirates or Slave Revolt."""
    if move.region is UNSET or move.target_seat is UNSET:
        raise RuleError("missing_target", "SOE-7.4.4")
    return move.region, move.target_seat


def check_raid(s: Struggle, seat: Seat, tile: str, region: str, target: Seat) -> None:
    """SOE-9.6.2, SOE-9.7.1: another seat with a token in a region where the tile can go."""
    rule = "SOE-9.6.2" if tile == "pirates" else "SOE-9.7.1"
    require(region in RAID_REGIONS[tile], "invalid_region", rule, cause="raid", region=region, tile=tile)
    there = target in s.everybody and region in s.empires[target].tokens
    require(there and target != seat, "invalid_target", rule, cause="raid", target_seat=target, region=region)


def do_buy_tile(d: D, frame: Frame, seat: Seat, move: BuyTile) -> None:
    """SOE-7.4.2, SOE-7.4.3: pay the printed cost and take the tile; some work at once."""
    check_buy_tile(d.state, seat, move)
    actions.take_action(d, "buy_tile")
    pay_cost(d, seat, move.tile)
    if move.tile in RAIDERS:
        raids.send(d, seat, move.tile, *_aim(move))
        return
    d.add(TileTaken(seat, move.tile))
    if move.tile == "government_reform":
        _reform(d, seat)
    if move.tile == "industry":
        money.gain_vp(d, seat, CONSTANTS["industry_vp"], "industry")


def pay_cost(d: D, seat: Seat, tile: str) -> None:
    """SOE-7.4.2: gold, population and unrest."""
    cost = TILES[tile]
    money.pay(d, seat, cost.gold, tile)
    money.pay_population(d, seat, cost.population)
    if cost.unrest:
        d.add(UnrestAdded(seat, cost.unrest, tile))


def _reform(d: D, seat: Seat) -> None:
    """SOE-9.4.1, SOE-17.4: unrest falls by 2, not below 0, thus revealing a total below 2; the tile goes to the box."""
    d.barrier()
    removed = min(d.state.unrest[seat], CONSTANTS["government_reform_unrest_removed"])
    d.add(UnrestRemoved(seat, removed))
    d.add(TileBoxed(seat, "government_reform"))

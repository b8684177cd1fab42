"""SOE-9.3, SOE-9.5: the free action `use_tile`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.games.struggle_of_empires.data import CONSTANTS, TILES, Unit
from domain.games.struggle_of_empires.facts.pieces import UnitPlaced
from domain.games.struggle_of_empires.facts.tiles import BlockadeLaid, TileTaken, TileUsed
from domain.games.struggle_of_empires.moves import UseTile
from domain.games.struggle_of_empires.rules import building, buying, money, moving
from domain.games.struggle_of_empires.rules.checks import need_colony, need_region, need_supply, require
from domain.games.struggle_of_empires.rules.combat import declare
from domain.games.struggle_of_empires.rules.movement import check_destination
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, unwrap
from domain.types import Seat


@dataclass(frozen=True)
class Use:
    """A tile's use in its owner's turn: its own checks, and its effect."""

    check: Callable[[Struggle, Seat, UseTile], None]
    apply: Callable[[D, Seat, UseTile], None]


def check_usable(s: Struggle, seat: Seat, tile: str) -> None:
    """SOE-9.3.1: the general errors of `use_tile`, in this order."""
    require(tile in TILES, "unknown_tile", "SOE-9.3.1", tile=tile)
    require(s.empires[seat].owned(tile) > 0, "tile_not_owned", "SOE-9.3.1", tile=tile)
    require(TILES[tile].free_action, "tile_not_usable", "SOE-9.3.1", tile=tile)
    require(s.empires[seat].unused(tile) > 0, "tile_already_used", "SOE-9.3.1", tile=tile)


def check_use_tile(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.3.1: the general errors, then those of the tile."""
    check_usable(s, seat, move.tile)
    use_of(move.tile).check(s, seat, move)


def do_use_tile(d: D, frame: Frame, seat: Seat, move: UseTile) -> None:
    """SOE-9.2.2: the tile is turned; a refused use leaves it unused."""
    check_use_tile(d.state, seat, move)
    if move.tile != "blockade":
        d.add(TileUsed(seat, move.tile))
    use_of(move.tile).apply(d, seat, move)


def use_of(tile: str) -> Use:
    """Return the use of a tile with a free action."""
    return USES.get(tile, TRADE)


# --- building tiles -----------------------------------------------------------------------------------------

_BUILDS: dict[str, Unit] = {"mercenaries": "army", "pressgangs": "navy"}


def _check_builder(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.3: as a build, without the action and the population."""
    building.check_unpaid_build(s, seat, _BUILDS[move.tile], unwrap(move.to))


def _apply_builder(d: D, seat: Seat, move: UseTile) -> None:
    building.raise_unit(d, seat, _BUILDS[move.tile], unwrap(move.to))


def _check_natives(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.5: the errors of Trained Natives, in this order."""
    region, then_to = unwrap(move.region), move.then_to or None
    need_colony(region, "SOE-9.5.5")
    present = region in s.empires[seat].tokens or region in s.empires[seat].units
    require(present, "not_present_in_region", "SOE-9.5.5", region=region)
    need_supply(s, seat, "army", "SOE-9.5.5")
    if then_to is not None:
        need_region(then_to, "SOE-9.5.5")
        require(then_to != region, "same_region", "SOE-9.5.5", region=region)
        check_destination(s, seat, "army", then_to)


def _apply_natives(d: D, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.5: an army in the colony; it may move on at once outside any move action."""
    region = unwrap(move.region)
    d.add(UnitPlaced(seat, "army", region))
    if move.then_to:
        moving.carry(d, seat, "army", region, move.then_to)


# --- tiles to attack, help, pay -----------------------------------------------------------------------------


def _check_war_office(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.4: an attack without an action."""
    declare.check_free_attack(s, seat, unwrap(move.attack))


def _apply_war_office(d: D, seat: Seat, move: UseTile) -> None:
    declare.declare(d, seat, unwrap(move.attack))


def check_alliance_tile(s: Struggle, seat: Seat, tile: str) -> None:
    """SOE-9.5.10: the errors of Diplomatic Service, in this order."""
    require(tile in TILES, "unknown_tile", "SOE-9.5.10", tile=tile)
    require(TILES[tile].group == "alliance", "not_an_alliance_tile", "SOE-9.5.10", tile=tile)
    require(s.stock.get(tile, 0) > 0, "tile_not_in_stock", "SOE-9.5.10", tile=tile)


def _check_diplomacy(s: Struggle, seat: Seat, move: UseTile) -> None:
    check_alliance_tile(s, seat, unwrap(move.alliance_tile))


def _apply_diplomacy(d: D, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.10: the tile and its cost."""
    tile = unwrap(move.alliance_tile)
    buying.pay_cost(d, seat, tile)
    d.add(TileTaken(seat, tile))


def _check_agriculture(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.11: not at 9."""
    below = s.empires[seat].population < CONSTANTS["max_population"]
    require(below, "population_at_max", "SOE-9.5.11", population=s.empires[seat].population)


def _apply_agriculture(d: D, seat: Seat, move: UseTile) -> None:
    money.grow(d, seat, 1)


def _check_blockade(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.13: a colony with an own navy."""
    region = unwrap(move.region)
    need_colony(region, "SOE-9.5.13")
    require(s.empires[seat].units_in(region, "navy") > 0, "no_navy_in_region", "SOE-9.5.13", region=region)


def _apply_blockade(d: D, seat: Seat, move: UseTile) -> None:
    d.add(BlockadeLaid(seat, "blockade", unwrap(move.region)))


def _trade_region(move: UseTile) -> str | None:
    """SOE-9.5.14: the region named, or the only one shown."""
    shown = TILES[move.tile].regions
    if move.region is UNSET:
        return shown[0] if len(shown) == 1 else None
    return move.region


def _check_trade(s: Struggle, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.14: the errors of a trade tile, in this order."""
    region = _trade_region(move)
    fits = region in TILES[move.tile].regions
    require(fits, "invalid_region", "SOE-9.5.14", cause="trade", region=region, tile=move.tile)
    require(region in s.empires[seat].tokens, "no_control_token_in_region", "SOE-9.5.14", region=region)


def _apply_trade(d: D, seat: Seat, move: UseTile) -> None:
    """SOE-9.5.14: one gold for each own token there."""
    money.receive(d, seat, d.state.empires[seat].tokens[_trade_region(move) or ""], move.tile)


TRADE = Use(_check_trade, _apply_trade)

USES: dict[str, Use] = {
    "war_office": Use(_check_war_office, _apply_war_office),
    "mercenaries": Use(_check_builder, _apply_builder),
    "pressgangs": Use(_check_builder, _apply_builder),
    "trained_natives": Use(_check_natives, _apply_natives),
    "diplomatic_service": Use(_check_diplomacy, _apply_diplomacy),
    "improved_agriculture": Use(_check_agriculture, _apply_agriculture),
    "blockade": Use(_check_blockade, _apply_blockade),
}

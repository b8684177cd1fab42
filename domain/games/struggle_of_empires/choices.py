"""Move builder: exactly the moves accepted by `decide`, asked for one field at a time.

Every offer has passed the checks of a move. Two choices are templates, as SOE-21.3 allows: a bid's amount is a range,
and so are the figures of an offer (at least 1 gold, no minimum above the ally's units).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized

from domain.games.common import auction
from domain.games.struggle_of_empires import choices_combat
from domain.games.struggle_of_empires.data import (
    COLONIES,
    POWERS,
    RAIDERS,
    REGIONS,
    SCORING,
    TILES,
    UNITS,
    Unit,
)
from domain.games.struggle_of_empires.moves import (
    Attack,
    Bid,
    Build,
    BuildMilitia,
    BuyTile,
    ChoosePower,
    Colonize,
    Enslave,
    MoveUnit,
    Pass,
    PassBid,
    PlaceUnit,
    UseTile,
)
from domain.games.struggle_of_empires.rules import alliances, building, buying, moving, settling, setup, tiles
from domain.games.struggle_of_empires.rules.checks import is_legal, need_supply
from domain.games.struggle_of_empires.rules.combat import declare
from domain.games.struggle_of_empires.rules.money import price
from domain.games.struggle_of_empires.rules.movement import check_destination, needs_sea_roll
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.rules.choices import Builder, Choice, Option, one
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET
from domain.types import Json, Seat


def build(s: Struggle, seat: Seat) -> Builder:
    """Return the builder of the open decision."""
    return BUILDERS[s.top.kind](s, seat)


# --- set-up and auctions --------------------------------------------------------------------------------------


def _choose_power(s: Struggle, seat: Seat) -> Builder:
    free = [p for p in POWERS if is_legal(setup.check_choose_power, s, seat, ChoosePower(p))]
    return ChoosePower((yield one("power", free)))


def _place_units(s: Struggle, seat: Seat) -> Builder:
    unit = yield one("unit", [u for u in UNITS if is_legal(need_supply, s, seat, u, "")])
    fits = [r for r in SCORING if is_legal(setup.check_place_unit, s, seat, PlaceUnit(unit, r))]
    return PlaceUnit(unit, (yield one("region", fits)))


def _auction_bid(s: Struggle, seat: Seat) -> Builder:
    bid = yield from auction.ask_bid(s.unaligned(), s.bidding.standing, alliances.MAX_BID)
    return Bid(*bid) if bid else PassBid()


# --- the turn ------------------------------------------------------------------------------------------------


def _turn(s: Struggle, seat: Seat) -> Builder:
    kinds = [Option(kind, _cost(s, seat, kind)) for kind, (offers, _) in TURN.items() if offers(s, seat)]
    kind = yield one("type", [Option("pass", ends=True), *kinds])
    if kind == "pass":
        return Pass()
    return (yield from TURN[kind][1](s, seat))


def _cost(s: Struggle, seat: Seat, kind: str) -> dict[str, Json]:
    """Return the cost common to every move of a type: an action, and gold or population."""
    free = kind in ("use_tile", "build_militia") or (kind == "move_unit" and s.acting.moves_left > 0)
    gold = declare.COST if kind == "attack" else 0
    population = {"build": building.COST, "build_militia": building.COST, "colonize": settling.COST}.get(kind, 0)
    return ({} if free else {"actions": 1}) | price(s.empires[seat], gold, population)


def reach(s: Struggle, seat: Seat, unit: str) -> list[str]:
    """Return the regions a unit of the seat may enter now, in the order of the data."""

    def find() -> list[str]:
        return [r for r in REGIONS if is_legal(check_destination, s, seat, unit, r)]

    return memo(s, f"reach {seat} {unit}", find)


def _voyages(start: str, regions: Iterable[str]) -> list[Option]:
    """Return destinations; `sea_roll` marks those with a risk of loss or return."""
    return [Option(r, {"sea_roll": True} if needs_sea_roll(start, r) else {}) for r in regions]


def _destination(s: Struggle, seat: Seat, unit: str) -> Choice:
    return one("to", _voyages(s.empires[seat].home, reach(s, seat, unit)))


# buy a tile


def _tiles_to_buy(s: Struggle, seat: Seat) -> list[str]:
    def find() -> list[str]:
        fit = [t for t in TILES if is_legal(buying.check_buyable, s, seat, t)]
        return [t for t in fit if t not in RAIDERS or _raids(s, seat, t)]

    return memo(s, f"buy {seat}", find)


def _raids(s: Struggle, seat: Seat, tile: str) -> dict[str, list[Seat]]:
    """Return region -> possible victims of the tile there."""
    aims = {r: [x for x in s.everybody if is_legal(buying.check_raid, s, seat, tile, r, x)] for r in COLONIES}
    return {region: seats for region, seats in aims.items() if seats}


def _buy_tile(s: Struggle, seat: Seat) -> Builder:
    tile = yield one("tile", [_priced(s, seat, t) for t in _tiles_to_buy(s, seat)])
    if tile not in RAIDERS:
        return BuyTile(tile)
    aims = _raids(s, seat, tile)
    region = yield one("region", aims)
    return BuyTile(tile, region, (yield one("target_seat", aims[region])))


def _priced(s: Struggle, seat: Seat, tile: str) -> Option:
    t = TILES[tile]
    return Option(tile, price(s.empires[seat], t.gold, t.population, t.unrest))


# build


def _units_to_build(s: Struggle, seat: Seat) -> list[Unit]:
    units = [u for u in UNITS if is_legal(need_supply, s, seat, u, "")]
    can = s.acting.actions_left and s.empires[seat].population >= building.COST
    return [u for u in units if reach(s, seat, u)] if can else []


def _build(s: Struggle, seat: Seat) -> Builder:
    unit = yield one("unit", _units_to_build(s, seat))
    return Build(unit, (yield _destination(s, seat, unit)))


def _can_build_militia(s: Struggle, seat: Seat) -> bool:
    return is_legal(building.check_build_militia, s, seat, BuildMilitia(s.empires[seat].home))


def _build_militia(s: Struggle, seat: Seat) -> Builder:
    return BuildMilitia((yield _destination(s, seat, "army")))


# move


def _departures(s: Struggle, seat: Seat, opening: bool) -> dict[str, dict[str, list[str]]]:
    """Return unit -> region of departure -> possible destinations."""

    def from_there(unit: str) -> Iterator[tuple[str, list[str]]]:
        for start in s.empires[seat].units:
            goals = [r for r in reach(s, seat, unit) if r != start]
            if goals and is_legal(moving.check_leaving, s, seat, unit, start, opening):
                yield start, goals

    def find() -> dict[str, dict[str, list[str]]]:
        found = {unit: dict(from_there(unit)) for unit in ("army", "navy")}
        return {unit: starts for unit, starts in found.items() if starts}

    return memo(s, f"departures {seat} {opening}", find)


def _openings(s: Struggle, seat: Seat) -> list[bool]:
    """Return the ways to pay for a move: the open move action (False), a new one (True), or both."""
    going_on = s.acting.moves_left > 0 and bool(_departures(s, seat, opening=False))
    afresh = s.acting.actions_left > 0 and bool(_departures(s, seat, opening=True))
    return [False] * going_on + [True] * afresh


def _move_unit(s: Struggle, seat: Seat) -> Builder:
    openings = _openings(s, seat)
    opening = openings[0]
    if s.acting.moves_left and s.acting.actions_left:
        costs = {False: {}, True: {"actions": 1}}
        opening = yield one("new_action", [Option(o, costs[o]) for o in openings])
    starts = _departures(s, seat, opening)
    unit = yield one("unit", starts)
    start = yield one("from", starts[unit])
    to = yield one("to", _voyages(start, starts[unit][start]))
    again = opening and s.acting.moves_left > 0
    return MoveUnit(unit, start, to, again or UNSET)


# colonize, enslave


def _to_colonize(s: Struggle, seat: Seat) -> list[str]:
    return [m for m in s.lying() if is_legal(settling.check_colonize, s, seat, Colonize(m))]


def _colonize(s: Struggle, seat: Seat) -> Builder:
    return Colonize((yield one("marker", _to_colonize(s, seat))))


def _to_enslave(s: Struggle, seat: Seat) -> list[str]:
    return [m for m in s.lying() if is_legal(settling.check_enslave, s, seat, Enslave(m))]


def _enslave(s: Struggle, seat: Seat) -> Builder:
    return Enslave((yield one("marker", _to_enslave(s, seat))))


# attack


def _can_attack(s: Struggle, seat: Seat) -> bool:
    return s.acting.actions_left > 0 and bool(choices_combat.targets(s, seat))


def _attack(s: Struggle, seat: Seat) -> Builder:
    said = yield from choices_combat.declaration(s, seat)
    return Attack(said.region, said.target, said.surprise, said.ask, said.offers)


# use a tile


def _usable(s: Struggle, seat: Seat) -> list[str]:
    def find() -> list[str]:
        owned = dict.fromkeys(t.tile for t in s.empires[seat].tiles)
        return [t for t in owned if is_legal(tiles.check_usable, s, seat, t) and _uses(s, seat, t)]

    return memo(s, f"usable {seat}", find)


def _uses(s: Struggle, seat: Seat, tile: str) -> list[Json]:
    """Return the values of the tile's first field; [None] for a tile without fields."""
    if tile == "war_office":
        return list(choices_combat.targets(s, seat))
    if tile == "diplomatic_service":
        return [t for t in TILES if is_legal(tiles.check_alliance_tile, s, seat, t)]
    check = tiles.use_of(tile).check
    if tile == "improved_agriculture":
        return [None] if is_legal(check, s, seat, UseTile(tile)) else []
    return [r for r in REGIONS if is_legal(check, s, seat, _use_in(tile, r))]


_BUILDERS = ("mercenaries", "pressgangs")
"""Tiles with their region as the unit's `to`."""


def _use_in(tile: str, region: str) -> UseTile:
    return UseTile(tile, to=region) if tile in _BUILDERS else UseTile(tile, region=region)


def _use_tile(s: Struggle, seat: Seat) -> Builder:
    costs = {"war_office": price(s.empires[seat], declare.COST)}
    tile = yield one("tile", [Option(t, costs.get(t, {})) for t in _usable(s, seat)])
    return (yield from _USING.get(tile, _use_region)(s, seat, tile))


def _use_alone(s: Struggle, seat: Seat, tile: str) -> Builder:
    yield from ()
    return UseTile(tile)


def _use_war_office(s: Struggle, seat: Seat, tile: str) -> Builder:
    return UseTile(tile, attack=(yield from choices_combat.declaration(s, seat)))


def _use_diplomacy(s: Struggle, seat: Seat, tile: str) -> Builder:
    values = [_priced(s, seat, t) for t in _uses(s, seat, tile)]
    return UseTile(tile, alliance_tile=(yield one("alliance_tile", values)))


def _use_builder(s: Struggle, seat: Seat, tile: str) -> Builder:
    return UseTile(tile, to=(yield one("to", _voyages(s.empires[seat].home, _uses(s, seat, tile)))))


def _use_natives(s: Struggle, seat: Seat, tile: str) -> Builder:
    region = yield one("region", _uses(s, seat, tile))
    onward = [r for r in reach(s, seat, "army") if r != region]
    return UseTile(tile, region=region, then_to=(yield one("then_to", [None, *_voyages(region, onward)])))


def _use_region(s: Struggle, seat: Seat, tile: str) -> Builder:
    return UseTile(tile, region=(yield one("region", _uses(s, seat, tile))))


_USING: dict[str, Callable[[Struggle, Seat, str], Builder]] = {
    "war_office": _use_war_office,
    "improved_agriculture": _use_alone,
    "diplomatic_service": _use_diplomacy,
    "mercenaries": _use_builder,
    "pressgangs": _use_builder,
    "trained_natives": _use_natives,
}
"""Tile -> its builder, unless it asks for a region alone."""


TURN: dict[str, tuple[Callable[[Struggle, Seat], Sized | bool], Callable[[Struggle, Seat], Builder]]] = {
    "buy_tile": (_tiles_to_buy, _buy_tile),
    "build": (_units_to_build, _build),
    "build_militia": (_can_build_militia, _build_militia),
    "move_unit": (_openings, _move_unit),
    "attack": (_can_attack, _attack),
    "colonize": (_to_colonize, _colonize),
    "enslave": (_to_enslave, _enslave),
    "use_tile": (_usable, _use_tile),
}
"""Move type -> whether it is possible at all, and its builder."""


BUILDERS: dict[str, Callable[[Struggle, Seat], Builder]] = {
    "choose_power": _choose_power,
    "place_units": _place_units,
    "auction_bid": _auction_bid,
    "turn": _turn,
    **choices_combat.BUILDERS,
}

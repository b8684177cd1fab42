"""The move builder: exactly the moves that `decide` accepts, asked for one field at a time.

What is offered passed the same checks as a move does. Two things are templates, as SOE-21.3 allows: a bid's amount is
a range, and so are the figures of an offer (at least 1 gold, no minimum above what the ally has).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from domain.games.struggle_of_empires.data import (
    COLONIES,
    CONSTANTS,
    POWERS,
    RAIDERS,
    REGIONS,
    SCORING,
    TILES,
    UNITS,
)
from domain.games.struggle_of_empires.rules import (
    alliances,
    building,
    buying,
    combat_declare,
    combat_losses,
    combat_support,
    moving,
    settling,
    setup,
    tiles,
)
from domain.games.struggle_of_empires.rules.checks import need_supply, passes
from domain.games.struggle_of_empires.rules.combat_steps import side_of
from domain.games.struggle_of_empires.rules.money import after_paying, price
from domain.games.struggle_of_empires.rules.movement import check_destination, needs_sea_roll
from domain.games.struggle_of_empires.state import Struggle
from domain.ids import Json, Seat
from domain.kernel.choices import Builder, Choice, Option, one, some, span
from domain.kernel.ruleset import memo

Fields = Generator[Choice, Any, dict[str, Json]]
"""Asks for some fields of a move and returns them."""


def build(s: Struggle, seat: Seat) -> Builder:
    """The builder of the decision that is open."""
    return BUILDERS[s.top.kind](s, seat)


# --- set-up and auctions --------------------------------------------------------------------------------------


def _choose_power(s: Struggle, seat: Seat) -> Builder:
    free = [p for p in POWERS if passes(setup.check_choose_power, s, seat, {"power": p})]
    return {"type": "choose_power", "power": (yield one("power", free))}


def _place_units(s: Struggle, seat: Seat) -> Builder:
    unit = yield one("unit", [u for u in UNITS if passes(need_supply, s, seat, u, "")])
    fits = [r for r in SCORING if passes(setup.check_place_unit, s, seat, {"unit": unit, "region": r})]
    return {"type": "place_unit", "unit": unit, "region": (yield one("region", fits))}


def _auction_bid(s: Struggle, seat: Seat) -> Builder:
    least, most = alliances.least_bid(s), CONSTANTS["max_bid"]
    kinds = ["pass_bid"] * passes(alliances.check_pass_bid, s, seat, {}) + ["bid"] * (least <= most)
    if (yield one("type", kinds, ends=["pass_bid"])) == "pass_bid":
        return {"type": "pass_bid"}
    amount = yield span("amount", least, most)
    free: list[Seat | None] = [*s.unaligned()]
    a = yield one("a", free if len(free) > 1 else [*free, None])
    rest = [x for x in free if x != a] or [None]
    return {"type": "bid", "amount": amount, "a": a, "b": (yield one("b", rest))}


# --- the turn ------------------------------------------------------------------------------------------------


def _turn(s: Struggle, seat: Seat) -> Builder:
    kinds = [Option(kind, _cost(s, seat, kind)) for kind, (offers, _) in TURN.items() if offers(s, seat)]
    kind = yield one("type", [Option("pass", ends=True), *kinds])
    if kind == "pass":
        return {"type": "pass"}
    return {"type": kind, **(yield from TURN[kind][1](s, seat))}


def _cost(s: Struggle, seat: Seat, kind: str) -> dict[str, Json]:
    """What every move of a type costs: an action, and gold or population."""
    free = kind in ("use_tile", "build_militia") or (kind == "move_unit" and s.acting.moves_left > 0)
    gold = combat_declare.COST if kind == "attack" else 0
    population = {"build": building.COST, "build_militia": building.COST, "colonize": settling.COST}.get(kind, 0)
    return ({} if free else {"actions": 1}) | price(s.empires[seat], gold, population)


def reach(s: Struggle, seat: Seat, unit: str) -> list[str]:
    """Regions that a unit of the seat may enter now, in the order of the data."""

    def find() -> list[str]:
        return [r for r in REGIONS if passes(check_destination, s, seat, unit, r)]

    found: list[str] = memo(s, f"reach {seat} {unit}", find)
    return found


def _voyages(start: str, regions: Iterable[str]) -> list[Option]:
    """Destinations; `sea_roll` marks those where the unit may be lost or turned back."""
    return [Option(r, {"sea_roll": True} if needs_sea_roll(start, r) else {}) for r in regions]


def _pick_destination(s: Struggle, seat: Seat, unit: str) -> Fields:
    return {"to": (yield one("to", _voyages(s.empires[seat].home, reach(s, seat, unit))))}


# buy a tile


def _tiles_to_buy(s: Struggle, seat: Seat) -> list[str]:
    def find() -> list[str]:
        fit = [t for t in TILES if passes(buying.check_buyable, s, seat, t)]
        return [t for t in fit if t not in RAIDERS or _raids(s, seat, t)]

    found: list[str] = memo(s, f"buy {seat}", find)
    return found


def _raids(s: Struggle, seat: Seat, tile: str) -> dict[str, list[Seat]]:
    """Region -> seats that the tile can be sent against."""
    aims = {r: [x for x in s.everybody if passes(buying.check_raid, s, seat, tile, r, x)] for r in COLONIES}
    return {region: seats for region, seats in aims.items() if seats}


def _buy_tile(s: Struggle, seat: Seat) -> Fields:
    tile = yield one("tile", [_priced(s, seat, t) for t in _tiles_to_buy(s, seat)])
    if tile not in RAIDERS:
        return {"tile": tile}
    aims = _raids(s, seat, tile)
    region = yield one("region", aims)
    return {"tile": tile, "region": region, "target_seat": (yield one("target_seat", aims[region]))}


def _priced(s: Struggle, seat: Seat, tile: str) -> Option:
    t = TILES[tile]
    return Option(tile, price(s.empires[seat], t.gold, t.population, t.unrest))


# build


def _units_to_build(s: Struggle, seat: Seat) -> list[str]:
    units = [u for u in UNITS if passes(need_supply, s, seat, u, "")]
    can = s.acting.actions_left and s.empires[seat].population >= building.COST
    return [u for u in units if reach(s, seat, u)] if can else []


def _build(s: Struggle, seat: Seat) -> Fields:
    unit = yield one("unit", _units_to_build(s, seat))
    return {"unit": unit, **(yield from _pick_destination(s, seat, unit))}


def _can_build_militia(s: Struggle, seat: Seat) -> bool:
    return passes(building.check_build_militia, s, seat, {"to": s.empires[seat].home})


def _build_militia(s: Struggle, seat: Seat) -> Fields:
    return (yield from _pick_destination(s, seat, "army"))


# move


def _departures(s: Struggle, seat: Seat, opening: bool) -> dict[str, dict[str, list[str]]]:
    """Unit -> region that one can leave -> regions it can go to."""

    def from_there(unit: str) -> Iterator[tuple[str, list[str]]]:
        for start in s.empires[seat].units:
            goals = [r for r in reach(s, seat, unit) if r != start]
            if goals and passes(moving.check_leaving, s, seat, unit, start, opening):
                yield start, goals

    def find() -> dict[str, dict[str, list[str]]]:
        found = {unit: dict(from_there(unit)) for unit in ("army", "navy")}
        return {unit: starts for unit, starts in found.items() if starts}

    known: dict[str, dict[str, list[str]]] = memo(s, f"departures {seat} {opening}", find)
    return known


def _openings(s: Struggle, seat: Seat) -> list[bool]:
    """Whether a move can go on with the open move action (False), open a new one (True), or both."""
    going_on = s.acting.moves_left > 0 and bool(_departures(s, seat, opening=False))
    afresh = s.acting.actions_left > 0 and bool(_departures(s, seat, opening=True))
    return [False] * going_on + [True] * afresh


def _move_unit(s: Struggle, seat: Seat) -> Fields:
    openings = _openings(s, seat)
    opening = openings[0]
    if s.acting.moves_left and s.acting.actions_left:
        costs = {False: {}, True: {"actions": 1}}
        opening = yield one("new_action", [Option(o, costs[o]) for o in openings])
    starts = _departures(s, seat, opening)
    unit = yield one("unit", starts)
    start = yield one("from", starts[unit])
    to = yield one("to", _voyages(start, starts[unit][start]))
    again = {"new_action": True} if opening and s.acting.moves_left else {}
    return {"unit": unit, "from": start, "to": to, **again}


# colonize, enslave


def _settle(check: Callable[..., None]) -> tuple[Callable[[Struggle, Seat], list[str]], Callable[..., Fields]]:
    def markers(s: Struggle, seat: Seat) -> list[str]:
        return [m for m in s.lying() if passes(check, s, seat, {"marker": m})]

    def fields(s: Struggle, seat: Seat) -> Fields:
        return {"marker": (yield one("marker", markers(s, seat)))}

    return markers, fields


# attack


def _targets(s: Struggle, seat: Seat) -> dict[str, list[dict[str, Json]]]:
    """Region -> what the seat can attack there."""

    def fit(region: str) -> Iterator[dict[str, Json]]:
        players: list[dict[str, Json]] = [{"kind": "player", "seat": x} for x in s.everybody]
        neutral = [{"kind": "neutral", "marker": m} for m in s.markers.get(region, ())]
        tiles_there = [{"kind": tile} for tile, held in s.captives() if held.region == region]
        for target in (*players, *neutral, *tiles_there):
            if passes(combat_declare.check_target, s, seat, region, target):
                yield target

    def find() -> dict[str, list[dict[str, Json]]]:
        found = {r: list(fit(r)) for r in s.empires[seat].units if r in SCORING}
        return {region: targets for region, targets in found.items() if targets}

    known: dict[str, list[dict[str, Json]]] = memo(s, f"targets {seat}", find)
    return known


def _can_attack(s: Struggle, seat: Seat) -> bool:
    return s.acting.actions_left > 0 and bool(_targets(s, seat))


def _attack(s: Struggle, seat: Seat) -> Fields:
    targets = _targets(s, seat)
    region = yield one("region", targets)
    target = yield one("target", targets[region])
    move = {"region": region, "target": target}
    if target["kind"] == "player" and s.empires[seat].owned("surprise_attack"):
        move |= {"surprise": (yield one("surprise", [False, True]))}
    eligible = combat_support.eligible_allies(s, seat, region, target["kind"])
    gold = after_paying(s.empires[seat], combat_declare.COST)
    return {**move, **(yield from _request(s, eligible, gold, region, target["kind"]))}


def _request(s: Struggle, eligible: list[Seat], gold: int, region: str, kind: str) -> Fields:
    """SOE-8.3: who is asked, and offers item by item until null."""
    if not eligible:
        return {}
    asked = yield some("ask", eligible, 0, len(eligible))
    offers: list[dict[str, Json]] = []
    left = [x for x in eligible if x in asked]
    while left and gold:
        ally = yield one("offers", [None, *left])
        if ally is None:
            break
        offer = yield from _offer(s, ally, gold, region, kind)
        offers.append(offer)
        gold -= offer["gold"]
        left.remove(ally)
    return {"ask": asked, **({"offers": offers} if offers else {})}


def _offer(s: Struggle, ally: Seat, gold: int, region: str, kind: str) -> Fields:
    armies, navies = combat_support.can_commit(s, ally, region, kind)
    return {
        "seat": ally,
        "gold": (yield span("gold", 1, gold)),
        "min_armies": (yield span("min_armies", 0, armies)),
        "min_navies": (yield span("min_navies", 0, navies)),
    }


# use a tile


def _usable(s: Struggle, seat: Seat) -> list[str]:
    def find() -> list[str]:
        owned = dict.fromkeys(t.tile for t in s.empires[seat].tiles)
        return [t for t in owned if passes(tiles.check_usable, s, seat, t) and _uses(s, seat, t)]

    found: list[str] = memo(s, f"usable {seat}", find)
    return found


def _uses(s: Struggle, seat: Seat, tile: str) -> list[Json]:
    """Values of the tile's first field; [None] for a tile without fields."""
    if tile == "war_office":
        return list(_targets(s, seat))
    if tile == "diplomatic_service":
        return [t for t in TILES if passes(tiles.check_alliance_tile, s, seat, t)]
    name = _FIELD.get(tile, "region")
    values: Iterable[Json] = [None] if tile == "improved_agriculture" else REGIONS
    check = tiles.use_of(tile).check
    return [v for v in values if passes(check, s, seat, {"tile": tile, name: v})]


_FIELD = {"mercenaries": "to", "pressgangs": "to", "diplomatic_service": "alliance_tile"}
"""Name of a tile's first field where it is not `region`."""


def _use_tile(s: Struggle, seat: Seat) -> Fields:
    costs = {"war_office": price(s.empires[seat], combat_declare.COST)}
    tile = yield one("tile", [Option(t, costs.get(t, {})) for t in _usable(s, seat)])
    if tile == "war_office":
        return {"tile": tile, "attack": (yield from _attack(s, seat))}
    if tile == "improved_agriculture":
        return {"tile": tile}
    name, values = _FIELD.get(tile, "region"), _uses(s, seat, tile)
    if tile == "diplomatic_service":
        return {"tile": tile, name: (yield one(name, [_priced(s, seat, t) for t in values]))}
    if name == "to":
        values = _voyages(s.empires[seat].home, values)
    picked = yield one(name, values)
    if tile != "trained_natives":
        return {"tile": tile, name: picked}
    onward = [r for r in reach(s, seat, "army") if r != picked]
    return {"tile": tile, name: picked, "then_to": (yield one("then_to", [None, *_voyages(picked, onward)]))}


TURN: dict[str, tuple[Callable[[Struggle, Seat], Any], Callable[[Struggle, Seat], Fields]]] = {
    "buy_tile": (_tiles_to_buy, _buy_tile),
    "build": (_units_to_build, _build),
    "build_militia": (_can_build_militia, _build_militia),
    "move_unit": (_openings, _move_unit),
    "attack": (_can_attack, _attack),
    "colonize": _settle(settling.check_colonize),
    "enslave": _settle(settling.check_enslave),
    "use_tile": (_usable, _use_tile),
}
"""Move type -> whether it is possible at all, and its fields."""


# --- answers in combat --------------------------------------------------------------------------------------


def _support(s: Struggle, seat: Seat) -> Builder:
    most = s.top.data
    armies = yield span("armies", 0, most["armies"])
    return {"type": "support", "armies": armies, "navies": (yield span("navies", 0, most["navies"]))}


def _request_support(s: Struggle, seat: Seat) -> Builder:
    eligible, gold = s.top.data["eligible"], s.empires[seat].gold
    return {"type": "request_support", **(yield from _request(s, eligible, gold, s.battle.region, "player"))}


def _naval_choice(s: Struggle, seat: Seat) -> Builder:
    return {"type": "naval_choice", "fight": (yield one("fight", [False, True]))}


def _assign(s: Struggle, seat: Seat) -> Builder:
    shown = s.top.data["tiles"]
    return {"type": "assign_alliance_tiles", "naval": (yield some("naval", shown, 0, len(shown)))}


def _yes_or_no(s: Struggle, seat: Seat) -> Builder:
    return {"type": s.top.kind, "use": (yield one("use", [False, True]))}


def _choose_loss(s: Struggle, seat: Seat) -> Builder:
    choices: combat_losses.Options = []
    for loss in combat_losses.open_items(s, side_of(s, seat)):
        choices.append((yield one("choices", combat_losses.options(s, loss, choices))))
    return {"type": "choose_loss", "choices": choices}


def _fighting_withdrawal(s: Struggle, seat: Seat) -> Builder:
    if not (yield one("use", [False, True])):
        return {"type": "fighting_withdrawal", "use": False}
    return {"type": "fighting_withdrawal", "use": True, "save": (yield one("save", s.top.data["saves"]))}


BUILDERS: dict[str, Callable[[Struggle, Seat], Builder]] = {
    "choose_power": _choose_power,
    "place_units": _place_units,
    "auction_bid": _auction_bid,
    "turn": _turn,
    "support": _support,
    "request_support": _request_support,
    "naval_choice": _naval_choice,
    "assign_alliance_tiles": _assign,
    "use_blockade": _yes_or_no,
    "reserve": _yes_or_no,
    "choose_loss": _choose_loss,
    "fighting_withdrawal": _fighting_withdrawal,
}

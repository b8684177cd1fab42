"""Heuristic player, for demos and simulations: it raises the empires in which it has more influence than the others.

It works on its seat's view alone. A proposal may be illegal (a refused passage, a short supply): the first legal one is
played, so the checks of the rules need not be repeated here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from domain.games.seven_empires.bot_view import BotView
from domain.games.seven_empires.data import (
    ACTIONS,
    ARMIES,
    BORDERS,
    CARDS,
    CITIES,
    COAST,
    EMPIRES,
    LAND,
    LETTERED,
    SEA,
    SHIPS,
    UNITS,
)
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Seat

Valued = tuple[float, Doc]


def propose(player_view: Doc, decision: Doc, seat: Seat, dice: Dice) -> Iterator[Doc]:
    """Yield moves for the open decision, best first."""
    yield from ANSWERS[decision["kind"]](BotView(player_view["public"], seat), decision["context"])


def best(moves: Iterator[Valued]) -> Iterator[Doc]:
    """Return the moves, the most valuable first."""
    yield from (move for _, move in sorted(moves, key=lambda valued: -valued[0]))


# --- the turn ------------------------------------------------------------------------------------------------


def _draft(table: BotView, about: Doc) -> Iterator[Doc]:
    def value(empire: str) -> float:
        pile: Sequence[str] = table.empires[empire]["pile"]
        card = LETTERED[empire, about["letter"]] if about["letter"] else next(iter(pile), "")
        return CARDS[card].value + 0.1 * len(pile) if card in pile else -1.0

    yield from best((value(e), {"type": "draft_influence", "empire": e}) for e in EMPIRES)


def _choices(table: BotView, empires: Sequence[str]) -> Iterator[Valued]:
    for empire in empires:
        for action in ACTIONS:
            if table.empires[empire]["markers"][action] == "tray":
                move = {"type": "choose_action", "empire": empire, "action": action}
                yield table.weight(empire) * table.worth(empire, action), move


def _choose_empire(table: BotView, about: Doc) -> Iterator[Doc]:
    if about["mode"] != "delegation":
        return best(_choices(table, about["empires"]))
    return best(_delegations(table, about["empires"]))


def _delegations(table: BotView, empires: Sequence[str]) -> Iterator[Valued]:
    friends = sorted(EMPIRES, key=table.weight, reverse=True)
    gifts: list[Doc | None] = [
        {"region": r, "unit": u} for e in friends for r, u in table.makers(e) if not table.own_units(r, e)
    ]
    for empire in empires:
        yield table.weight(empire) - 50, {"type": "delegate", "empire": empire, "deploy": None}
        yield table.weight(empire) - 9, {"type": "delegate", "empire": empire, "deploy": (gifts or [None])[0]}


def _delegated(table: BotView, about: Doc) -> Iterator[Doc]:
    return best(_choices(table, [about["empire"]]))


def _build(table: BotView, about: Doc) -> Iterator[Doc]:
    levels = table.board["levels"]
    regions = sorted(table.free_cities(about["empire"]), key=lambda r: levels.get(r, 0))
    yield from ({"type": "build_city", "region": region} for region in regions)


def _deploy(table: BotView, about: Doc) -> Iterator[Doc]:
    supply = dict(table.empires[about["empire"]]["supply"])
    units = []
    for region, unit in table.makers(about["empire"]):
        if supply[unit]:
            supply[unit] -= 1
            units.append({"region": region, "unit": unit})
    each = {"type": "deploy", "mode": "each_city", "units": units}
    levies = sorted(_levies(table, about["empire"]), key=lambda levy: -table.reach(levy["region"], about["empire"]))
    yield from (each, *levies) if len(units) >= 2 or not levies else (*levies, each)


def _levies(table: BotView, empire: str) -> Iterator[Doc]:
    supply = table.empires[empire]["supply"]
    for region, unit in table.makers(empire):
        if region in table.board["palaces"] and supply[unit] >= 3 and not table.own_units(region, empire):
            yield {"type": "deploy", "mode": "palace", "region": region, "levy": [unit] * 3}


def _palace(table: BotView, about: Doc) -> Iterator[Doc]:
    regions = table.free_cities(about["empire"])
    yield from ({"type": "build_palace", "region": region} for region in regions)


def _attack(table: BotView, about: Doc) -> Iterator[Doc]:
    empire = about["empire"]
    cities = sorted(table.free_cities(empire), key=lambda r: -table.reach(r, empire))
    places = [{"region": r, "unit": u} for r in cities for u in (*ARMIES, *SHIPS)]
    ships = [p for p in places if p["unit"] in SHIPS and CITIES[p["region"]].anchor]
    armies = [p for p in places if p["unit"] in ARMIES]
    for pair in (armies[:1] * 2, [*ships[:1], *armies[:1]], armies[1:2] * 2, armies[:2], ships[:2]):
        yield {"type": "attack_deploy", "units": pair}


# --- movement ------------------------------------------------------------------------------------------------


def _movement(table: BotView, about: Doc) -> Iterator[Doc]:
    empire = about["empire"]
    if table.weight(empire) > -2:
        moves = (valued for valued in _moves(table, empire) if valued[0] > 0.3)
        yield from best(moves)
    yield {"type": "end_movement"}


def _moves(table: BotView, empire: str) -> Iterator[Valued]:
    movement = table.board["movement"]
    for region, units in movement["able"].items():
        for unit in units:
            if unit in ARMIES:
                yield from _marches(table, empire, region, unit, movement)
            elif not movement["armies"]:
                yield from _voyages(table, empire, region, unit)


def _voyages(table: BotView, empire: str, start: str, unit: str) -> Iterator[Valued]:
    """Yield moves of a ship, valued higher than those of armies, as ships may carry them."""
    paths: list[list[str]] = [[]]
    for _ in range(BORDERS[unit]):
        paths = [[*p, s] for p in paths for s in _seas(p[-1] if p else start) if s not in p and s != start]
        for path in paths:
            value = table.prize(path[-1], empire) - table.risk(path[-1], empire)
            yield value + 0.5 - 0.01 * len(path), {"type": "move_ship", "from": start, "unit": unit, "path": path}


def _seas(here: str) -> Sequence[str]:
    anchor = CITIES[here].anchor if here in CITIES else None
    return (anchor,) if anchor else SEA[here]


def _marches(table: BotView, empire: str, start: str, unit: str, movement: Doc) -> Iterator[Valued]:
    here = 0.4 if start not in CITIES and table.flags.get(start) != empire else 0.0
    for first in _steps(table, empire, start, movement["used"]):
        yield _march(table, empire, start, unit, [first], here)
        if table.foreign(first["to"], empire) is None:
            for to in LAND[first["to"]]:
                if to != start:
                    yield _march(table, empire, start, unit, [first, {"to": to}], here + 0.02)


def _steps(table: BotView, empire: str, here: str, used: Sequence[str]) -> Iterator[Doc]:
    yield from ({"to": region} for region in LAND[here])
    for sea in COAST[here]:
        if sea not in used and table.own_units(sea, empire):
            yield from ({"to": region, "via": [sea]} for region in COAST[sea] if region != here)


def _march(table: BotView, empire: str, start: str, unit: str, steps: list[Doc], cost: float) -> Valued:
    end = steps[-1]["to"]
    move = {"type": "move_land", "from": start, "unit": unit, "steps": steps}
    enemy = table.foreign(end, empire)
    if enemy is None:
        return table.prize(end, empire) - cost, move
    there = table.own_units(end, enemy)
    wins = unit == "artillery" and sum(there.values()) == 1 and "infantry" in there
    aim = next(u for u in ("infantry", *UNITS) if u in there)
    gain = table.prize(end, empire) - (0.1 * table.weight(enemy)) if wins else -table.risk(end, empire)
    return gain - cost, {**move, "target": aim}


# --- answers -------------------------------------------------------------------------------------------------


def _passage(table: BotView, about: Doc) -> Iterator[Doc]:
    yield {"type": "answer_passage", "grant": table.weight(about["empire"]) > 0}


def _defender(table: BotView, about: Doc) -> Iterator[Doc]:
    yield {"type": "choose_defender", "unit": about["units"][0]}


def _reduction(table: BotView, about: Doc) -> Iterator[Doc]:
    there = table.own_units(about["region"], about["empire"])
    units = [unit for unit in UNITS for _ in range(there.get(unit, 0))]
    yield {"type": "reduce_region", "region": about["region"], "remove": units[: about["excess"]]}


def _influence(table: BotView, about: Doc) -> Iterator[Doc]:
    """Take the most valuable card by the present ranks; becoming monarch counts as well."""

    def value(empire: str) -> float:
        card = CARDS[table.empires[empire]["pile"][0]].value
        after = table.influence(table.seat, empire) + card
        rules = all(after > table.influence(s, empire) for s in range(table.board["players"]) if s != table.seat)
        return card * (table.factor[empire] + 0.4 * table.left * rules)

    piles = (empire for empire in EMPIRES if table.empires[empire]["pile"])
    yield from best((value(e), {"type": "take_influence", "empire": e}) for e in piles)


def _worker(table: BotView, about: Doc) -> Iterator[Doc]:
    stock = table.board["workers"]
    yield from best((float(table.factor[e]), {"type": "take_worker", "empire": e}) for e in stock)


def _event_unit(table: BotView, about: Doc) -> Iterator[Doc]:
    empire = about["queue"][0]
    cities = sorted(table.free_cities(empire), key=lambda r: (len(table.own_units(r, empire)), -table.reach(r, empire)))
    yield from ({"type": "place_event_unit", "empire": empire, "region": region} for region in cities)


ANSWERS: dict[str, Callable[[BotView, Doc], Iterator[Doc]]] = {
    "draft": _draft,
    "choose_empire": _choose_empire,
    "choose_delegated_action": _delegated,
    "build": _build,
    "deploy": _deploy,
    "palace": _palace,
    "attack_deploy": _attack,
    "movement": _movement,
    "passage": _passage,
    "counterfight": _defender,
    "reduction": _reduction,
    "tile_influence": _influence,
    "tile_worker": _worker,
    "tile_unit": _event_unit,
}

"""Readers of the dice that stand in no fact: who rolled them, for what, and in which order (IMP-0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import ENGLAND, EVENTS, HOMES, STORM_ORDER, ZONES, is_warship
from domain.games.imperunde.facts.combat import RoundFought
from domain.games.imperunde.facts.events import LandEvent, SeaEvent
from domain.games.imperunde.facts.money import PurchaseMade
from domain.games.imperunde.facts.movement import ArmiesEmbarked, UnitsMoved
from domain.games.imperunde.facts.turn import NationAssigned, OrderFixed, PiecesPlaced
from domain.games.imperunde.rules.sides import black_ships
from domain.games.imperunde.state import ImpeRunde, Party
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.ruleset import RollReader
from domain.types import Doc, Json, Seat

S = ImpeRunde
Dice = Iterator[int]
RollContext = Mapping[str, Json]


# --- first places and nations ------------------------------------------------------------------------------------


def _order(before: S, _: S, __: OrderFixed, dice: Dice) -> RollContext:
    """IMP-5.1, IMP-6.1.1: return the dice of each throw; after a tie only the highest roll again."""
    throws: list[Json] = []
    seats: Sequence[Seat] = list(before.everybody)
    while len(seats) > 1 and (rolled := list(islice(dice, len(seats)))):
        pairs = list(zip(seats, rolled, strict=False))
        throws.append({"again": bool(throws), "dice": [{"seat": seat, "value": value} for seat, value in pairs]})
        seats = [seat for seat, value in pairs if value == max(rolled)]
    return {"throws": throws}


def _nation(_: S, __: S, fact: NationAssigned, dice: Dice) -> RollContext:
    """IMP-5.1: return the dice up to the one of the nation; one nation is always in play."""
    if fact.nation == ENGLAND:
        return {}
    rolled: list[int] = []
    for value in dice:
        rolled.append(value)
        if value == HOMES[fact.nation]:
            break
    return {"dice": rolled}


# --- storms and epidemics ----------------------------------------------------------------------------------------


def _dice_by_unit(units: Iterable[Lot], dice: Dice) -> list[Json]:
    """Read a die for each unit, in the order of the lots; equal units stand together."""
    found = [
        {"unit": unit, "count": count, "values": list(islice(dice, count))}
        for unit, count in unit_stacks.count_by_unit(units).items()
    ]
    return [x for x in found if x["values"]]


def _storm(after: S, seat: Party, zone: str, units: Iterable[Lot], dice: Dice) -> RollContext:
    """IMP-7.7: return the dice of ships that come into a zone, none without a storm there."""
    if zone not in ZONES or after.zone(zone).marker != "storm":
        return {}
    return _tell("storm_dice", [(seat, zone, units)], dice)


def _tell(member: str, rollers: Iterable[tuple[Party, str, Iterable[Lot]]], dice: Dice) -> RollContext:
    told = [{"seat": who, "region": region, "dice": _dice_by_unit(units, dice)} for who, region, units in rollers]
    return {member: [x for x in told if x["dice"]]}


def _moved(before: S, after: S, fact: UnitsMoved, dice: Dice) -> RollContext:
    """IMP-7.7: not on the way back from a cancelled attack."""
    if before.combat is not None and before.combat.called_off:
        return {}
    return _storm(after, fact.seat, fact.to, unit_stacks.change((), unit_stacks.from_facts(fact.units)), dice)


def _embarked(_: S, after: S, fact: ArmiesEmbarked, dice: Dice) -> RollContext:
    """IMP-6.7.2."""
    return _storm(after, fact.seat, fact.to, unit_stacks.from_facts(fact.units), dice)


def _bought(_: S, after: S, fact: PurchaseMade, dice: Dice) -> RollContext:
    """IMP-6.4.2."""
    return _storm(after, fact.seat, fact.zone or "", [Lot(fact.item, fact.quantity)], dice)


def _placed(_: S, after: S, fact: PiecesPlaced, dice: Dice) -> RollContext:
    """IMP-9.4.11: smuggled ships."""
    ships = [x for x in unit_stacks.from_facts(fact.units) if is_warship(x.unit)]
    return _storm(after, fact.seat, fact.region, ships, dice)


def _struck_at_sea(_: S, after: S, fact: SeaEvent, dice: Dice) -> RollContext:
    """IMP-10.5: of a storm, the dice of each fleet in turn order, then of the pirates."""
    if fact.event != "storm":
        return {}
    zone = after.zone(fact.region)
    fleets: list[tuple[Party, str, Iterable[Lot]]] = [(x, fact.region, zone.fleet(x)) for x in after.order]
    return _tell("storm_dice", [*fleets, ("pirates", fact.region, black_ships(zone.pirates))], dice)


def _struck_on_land(_: S, after: S, fact: LandEvent, dice: Dice) -> RollContext:
    """IMP-10.4: of an epidemic, the dice of the infantry, then cavalry, then artillery."""
    country = after.country(fact.region)
    if fact.event != "epidemic" or country.owner is None:
        return {}
    units = [x for kind in EVENTS["land"]["epidemic"]["units"] for x in country.units if x.unit == kind]
    return _tell("epidemic_dice", [(country.owner, fact.region, units)], dice)


def gather_dice(some: Iterable[Doc]) -> list[Json]:
    """Return several throws of a seat in a region as one, equal units together."""
    found: dict[tuple[Party, str], dict[str, Doc]] = {}
    for throw in some:
        by_unit = found.setdefault((throw["seat"], throw["region"]), {})
        for x in throw["dice"]:
            old = by_unit.get(x["unit"], {"count": 0, "values": []})
            values = [*old["values"], *x["values"]]
            by_unit[x["unit"]] = {"unit": x["unit"], "count": old["count"] + x["count"], "values": values}
    return [{"seat": who, "region": region, "dice": [*dice.values()]} for (who, region), dice in found.items()]


def join_dice(some: Iterable[Doc]) -> list[Json]:
    """Return the dice of units that come together, by several steps, as the one throw that they are: kind by kind."""
    steps = list(some)
    values = iter([value for step in steps for x in step["dice"] for value in x["values"]])
    units = [Lot(x["unit"], x["count"]) for step in steps for x in step["dice"]]
    units.sort(key=lambda lot: STORM_ORDER.index(lot.unit))
    return [{**steps[0], "dice": _dice_by_unit(units, values)}] if steps else []


# --- boarding ----------------------------------------------------------------------------------------------------


def _boarded(before: S, _: S, fact: RoundFought, dice: Dice) -> RollContext:
    """IMP-8.2.3, IMP-8.4.1: pass over the dice of the round; return those of each tied pair, until they differ."""
    pairs = list(zip(fact.attacker, fact.defender, strict=False))
    rolled = list(islice(dice, len(fact.attacker) + len(fact.defender)))
    tied = sum(mine[1] == other[1] for mine, other in pairs) if before.fight.sea and rolled else 0
    return {"boardings": [_boarding(dice) for _ in range(tied)]} if tied else {}


def _boarding(dice: Dice) -> list[Json]:
    throws: list[Json] = []
    while len(throw := list(islice(dice, 2))) == 2:
        throws.append(throw)
        if throw[0] != throw[1]:
            break
    return throws


ROLL_READERS: Mapping[str, RollReader[ImpeRunde]] = {
    "order_fixed": _order,
    "nation_assigned": _nation,
    "units_moved": _moved,
    "armies_embarked": _embarked,
    "purchase_made": _bought,
    "pieces_placed": _placed,
    "sea_event": _struck_at_sea,
    "land_event": _struck_on_land,
    "round_fought": _boarded,
}
"""Public fact -> reader of the dice that were rolled for it."""

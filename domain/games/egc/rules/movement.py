"""EGC-8.4 to EGC-8.9, P4: armies move round by round, and fight where they meet."""

from __future__ import annotations

from domain.games.egc.data import COASTS, EMPIRES, SEATS, by_rank, number_of
from domain.games.egc.facts.armies import ArmiesMarched, ArmyTurnedBack, BattleFought
from domain.games.egc.facts.base import Force, Troops
from domain.games.egc.moves import OrderArmy
from domain.games.egc.rules.battle import battle
from domain.games.egc.rules.orders_army import round_of
from domain.games.egc.rules.work import NOBODY, Resolution, Unit
from domain.games.egc.state import NEUTRAL, Army, Garrison, empire_of, numbered
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


def muster(w: Resolution) -> None:
    """Set up all armies with their orders, neutral ones first; one without gets an automatic order (EGC-7.10.6)."""
    for territory in sorted(w.s.garrisons):
        g = w.s.garrisons[territory]
        _station(w, Unit(f"N-{territory}", NOBODY, 0, g.divisions, g.morale, g.training, territory, "", territory))
    for seat in SEATS:
        orders = w.copies[seat].orders if seat in w.copies else {}
        for army, a in numbered(w.s.armies[seat]):
            _station(w, _unit(w, seat, army, a, orders.get(army)))


def _unit(w: Resolution, seat: Seat, army: str, a: Army, order: OrderArmy | None) -> Unit:
    kind = order.order if order else automatic(w, seat, a)
    unit = Unit(army, seat, number_of(army), a.divisions, a.morale, a.training, a.territory, kind, a.territory)
    if order and order.path is not UNSET:
        unit.path = tuple(order.path)
        unit.round = round_of(order)
    elif order and order.territory is not UNSET:
        unit.target = order.territory
        w.supports.setdefault(unit.target, []).append(unit)
    return unit


def _station(w: Resolution, unit: Unit) -> None:
    w.units[unit.id] = unit
    w.standing.setdefault(unit.territory, []).append(unit)


def automatic(w: Resolution, seat: Seat, a: Army) -> str:
    """EGC-7.10.6: the order of an army without one."""
    can_rest = a.morale < by_rank("morale_cap", w.s.rank(seat, "officer_training"))
    can_train = a.training < by_rank("training_cap", w.s.rank(seat, "land_warfare"))
    if not can_rest and not can_train:
        return "prepare_defence"
    if a.morale < a.training:
        return "rest" if can_rest else "train"
    return "train" if can_train else "rest"


def march(w: Resolution) -> None:
    """EGC-8.5: rounds until no army moves any more."""
    column = sorted(
        (u for u in w.units.values() if u.moving), key=lambda u: (w.s.rank(u.seat, "logistics"), u.number, u.seat)
    )
    now = 1
    while any(u.moving for u in column):
        for unit in column:
            if unit.round <= now and unit.moving:
                _step(w, unit)
        now += 1


def _step(w: Resolution, unit: Unit) -> None:
    """EGC-8.6, EGC-8.7."""
    came_by_sea = unit.path[unit.at] in COASTS
    unit.at += 1
    node = unit.path[unit.at]
    if node in COASTS:
        w.place_unit(unit, "")
        unit.crossed.append(node)
        return
    there = w.foreign(unit.seat, node)
    if there and not w.may_fight(unit.seat, there[0].seat, node):
        turn_back(w, unit)
        return
    if w.s.lands[node].owner != unit.seat or there:
        _attacks(w, unit.seat, node)
    if there:
        unit.stop()
        w.place_unit(unit, "")
        battle(w, unit, there, node, came_by_sea)
    else:
        w.place_unit(unit, node)


def _attacks(w: Resolution, seat: Seat, territory: str) -> None:
    attackers = w.attackers.setdefault(territory, [])
    if seat not in attackers:
        attackers.append(seat)


def turn_back(w: Resolution, unit: Unit) -> None:
    """EGC-8.7.3: back to where it began; destroyed if a foreign army is there."""
    unit.stop()
    unit.retreated = True
    lost = bool(w.foreign(unit.seat, unit.home))
    if lost:
        unit.divisions = 0
    node = unit.path[unit.at]
    w.place_unit(unit, "" if lost else unit.home)
    w.tell_seat(ArmyTurnedBack(w.step, unit.seat, unit.id, node, None if lost else unit.home))


def report(w: Resolution) -> None:
    """EGC-6.2, EGC-6.7: the fate of the armies, the battles, and the holders of their places."""
    for seat in SEATS:
        changed = _changed(w, seat)
        if changed:
            w.tell_seat(ArmiesMarched(w.step, seat, changed))
    _neutrals(w)
    for territory in sorted(w.battles):
        fought = [NEUTRAL if seat == NOBODY else EMPIRES[seat] for seat in sorted(w.battles[territory])]
        there = w.standing.get(territory)
        held = None if not there else empire_of(None if there[0].seat == NOBODY else there[0].seat)
        w.tell(BattleFought(w.step, territory, fought, held))


def _changed(w: Resolution, seat: Seat) -> dict[str, Force | None]:
    changed: dict[str, Force | None] = {}
    for army, old in numbered(w.s.armies[seat]):
        u = w.units[army]
        new = Army(u.territory, u.divisions, u.morale, u.training)
        if not u.divisions:
            changed[army] = None
        elif new != old:
            changed[army] = (u.territory, u.divisions, u.morale, u.training)
    return changed


def _neutrals(w: Resolution) -> None:
    changed: dict[str, Troops | None] = {}
    for territory in sorted(w.battles):
        old, u = w.s.garrisons.get(territory), w.units.get(f"N-{territory}")
        if u and old != Garrison(u.divisions, u.morale, u.training):
            changed[territory] = (u.divisions, u.morale, u.training) if u.divisions else None
    if changed:
        w.set_neutrals(changed)

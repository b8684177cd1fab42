"""EGC-5: the resolution of a turn, step by step, in one record."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.egc import frames
from domain.games.egc.data import RESEARCH
from domain.games.egc.facts.armies import PortsChanged, ResolutionStarted, SheetCarriedOut
from domain.games.egc.facts.base import Force, Invested, Step
from domain.games.egc.moves import ChooseLinks, Resolving, SetResearch
from domain.games.egc.order import Order
from domain.games.egc.rules import (
    conquest,
    drill,
    finance,
    movement,
    presence,
    relations,
    supply,
    technology,
    territories,
    upkeep,
    victory,
)
from domain.games.egc.rules.projection import Copy
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.turn_zero import start_turn
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import Army, D, numbered
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


def go_orders(d: D, frame: Frame) -> None:
    """EGC-4.1: all sheets are in; the engine resolves the turn."""
    d.end()
    d.ask(frames.Resolving(d.state.turn), engine=True)


def resolve(d: D, frame: Frame, seat: None, move: Resolving) -> None:
    """EGC-0.6, EGC-5: a function of the state, the sheets and the draws; asks nobody."""
    w = Resolution(d, d.state)
    w.tell(ResolutionStarted(w.step, w.turn))
    for step, work in STEPS:
        w.step = step
        work(w)
        if d.state.over:
            return
    d.end()
    start_turn(d, w.turn + 1)


# --- P2 ------------------------------------------------------------------------------------------------------


def manage(w: Resolution) -> None:
    """Carry out each empire's sheet in sequence (P2)."""
    for seat in w.s.in_play():
        sheet = w.s.sheets[seat]
        w.copies[seat] = c = copy_of(w.begun, seat)
        legal = [o.move for o in sheet.orders if o.n not in c.faults]
        w.orders += [(seat, order) for order in legal]
        if sheet.orders or sheet.spent:
            _carried_out(w, seat, c, legal)
    built = sorted(t for c in w.copies.values() for t in c.built)
    demolished = sorted(t for c in w.copies.values() for t in c.demolished)
    if built or demolished:
        w.tell(PortsChanged(w.step, built, demolished))


def _carried_out(w: Resolution, seat: Seat, c: Copy, orders: list[Order]) -> None:
    links = next((order.links for order in orders if isinstance(order, ChooseLinks)), UNSET)
    research = next((order for order in orders if isinstance(order, SetResearch)), None)
    w.tell_seat(
        SheetCarriedOut(
            w.step,
            seat,
            orders=len(orders),
            spies=w.s.sheets[seat].spent,
            treasury=c.funds,
            diplomacy=c.points,
            armies=_changed(w, seat, c) or UNSET,
            levels={t: c.levels[t] for t in sorted(c.levels)} or UNSET,
            links=links,
            investments=_invested(w, seat, research) if research else UNSET,
        )
    )


def _changed(w: Resolution, seat: Seat, c: Copy) -> dict[str, Force | None]:
    old = w.s.armies[seat]
    changed: dict[str, Force | None] = {army: None for army, _ in numbered(old) if army not in c.armies}
    return changed | {army: _form(a) for army, a in numbered(c.armies) if old.get(army) != a}


def _form(a: Army) -> Force:
    return a.territory, a.divisions, a.morale, a.training


def _invested(w: Resolution, seat: Seat, order: SetResearch) -> list[Invested]:
    """EGC-13.1: all research under way, with the new one."""
    e = w.s.empires[seat]
    points = technology.research_points(order.amount, e.ranks["research"], e.revenue)
    new = order.technology, points, w.turn + RESEARCH["delay_turns"]
    return [*((i.technology, i.points, i.due) for i in e.investments), new]


STEPS: tuple[tuple[Step, Callable[[Resolution], None]], ...] = (
    ("P2", manage),
    ("P4", movement.muster),
    ("P4", movement.march),
    ("P4", movement.report),
    ("P5", drill.drill),
    ("P6", conquest.conquer),
    ("P7", supply.attrition),
    ("P8", victory.count_if_due),
    ("P9", finance.settle),
    ("P10", territories.drops),
    ("P10", territories.gifts),
    ("P10", territories.annexations),
    ("P10", territories.installations),
    ("P10", territories.protections),
    ("P11", territories.eliminate),
    ("P12", relations.relations),
    ("P13", technology.settle),
    ("P14", upkeep.settle),
    ("P15", presence.show_armies),
)
"""EGC-5: every step is complete before the next begins."""

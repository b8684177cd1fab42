"""EGC-7.0: the order sheet: filing, replacing and cancelling, always with the whole sheet legal."""

from __future__ import annotations

from collections.abc import Sequence

from domain.errors import RuleError
from domain.games.egc.data import army_id
from domain.games.egc.facts.sheets import OrderCancelled, OrderFiled
from domain.games.egc.moves import (
    Annex,
    AnswerProposal,
    Build,
    CancelOrder,
    ChooseLinks,
    Demolish,
    Drop,
    FundExpeditions,
    GiveMoney,
    GiveTerritory,
    InstallProtectorate,
    OrderArmy,
    Protect,
    Recruit,
    RelationAction,
    SetPorts,
    SetResearch,
    SetStraits,
    SplitArmy,
)
from domain.games.egc.order import Order
from domain.games.egc.rules import orders_army, orders_diplomacy, orders_money
from domain.games.egc.rules.orders_management import MANAGEMENT
from domain.games.egc.rules.projection import Check, Copy, on
from domain.games.egc.state import D, Egc, Filed
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET, Maybe, doc
from domain.types import Seat

OTHERS: dict[type[Order], Check] = dict(
    (
        on(SetResearch, orders_money.set_research),
        on(FundExpeditions, orders_money.fund_expeditions),
        on(OrderArmy, orders_army.order_army),
        on(RelationAction, orders_diplomacy.relation_action),
        on(AnswerProposal, orders_diplomacy.answer_proposal),
        on(SetStraits, orders_diplomacy.set_straits),
        on(SetPorts, orders_diplomacy.set_ports),
        on(GiveTerritory, orders_diplomacy.give_territory),
        on(GiveMoney, orders_money.give_money),
        on(Protect, orders_diplomacy.protect),
        on(InstallProtectorate, orders_diplomacy.install_protectorate),
        on(Annex, orders_diplomacy.annex),
        on(Drop, orders_diplomacy.drop),
        on(ChooseLinks, orders_money.choose_links),
    )
)
"""Orders checked against the copy after all management orders (EGC-7.0.2)."""

RAISING = (Recruit, SplitArmy)
"""Orders allotting the number of a new army (EGC-7.0.8)."""


def carry_out(s: Egc, seat: Seat, orders: Sequence[Filed], controls: tuple[str, ...] | None = None) -> Copy:
    """EGC-7.0.2: the copy after the sheet; faults by order number, each at its own place."""
    c = Copy(s, seat, controls)
    moves = [(filed, filed.move) for filed in orders]
    for filed, move in moves:
        if isinstance(move, OrderArmy):
            c.ordered[move.army] = filed.n
        elif isinstance(move, FundExpeditions):
            c.expeditions = move.count
    for table in (MANAGEMENT, OTHERS):
        for filed, move in moves:
            if check := table.get(type(move)):
                _try(c, check, filed, move)
    return c


def _try(c: Copy, check: Check, filed: Filed, move: Order) -> None:
    try:
        check(c, move, filed)
    except RuleError as fault:
        c.faults[filed.n] = fault


def copy_of(s: Egc, seat: Seat) -> Copy:
    """Return the copy after the seat's present sheet; made once per sheet."""
    sheet = s.sheets[seat]
    of = (sheet, *s.unsheeted)
    return memo(s, f"copy {seat}", lambda: carry_out(s, seat, sheet.orders, sheet.controls), of)


def with_order(s: Egc, seat: Seat, move: Order) -> tuple[Filed, list[Filed], int | None]:
    """EGC-7.0.1: the new order, the sheet with it, and the number of the replaced order."""
    sheet = s.sheets[seat]
    army = army_id(seat, sheet.next_army) if isinstance(move, RAISING) else None
    filed = Filed(sheet.next_order, doc(move), army)
    old = next((o.n for o in sheet.orders if move.key is not None and o.move.key == move.key), None)
    return filed, [*(o for o in sheet.orders if o.n != old), filed], old


def file_order(d: D, frame: Frame, seat: Seat, move: Order) -> None:
    """EGC-7.0.3 to EGC-7.0.6: the order's own faults, then funds, points, and its dependants."""
    filed, orders, old = with_order(d.state, seat, move)
    c = after(d.state, seat, orders)
    check_sheet(c, filed.n)
    replaces = UNSET if old is None else old
    controls = _controls(d.state, seat, c)
    d.add(OrderFiled(seat, filed.n, filed.order, filed.army or UNSET, replaces, controls), (seat,))


def cancel_order(d: D, frame: Frame, seat: Seat, move: CancelOrder) -> None:
    """EGC-7.0.4."""
    sheet = d.state.sheets[seat]
    kept = [o for o in sheet.orders if o.n != move.order]
    if len(kept) == len(sheet.orders):
        raise RuleError("unknown_order", "EGC-7.0.4", {"order": move.order})
    c = after(d.state, seat, kept)
    check_sheet(c, 0)
    d.add(OrderCancelled(seat, move.order, _controls(d.state, seat, c)), (seat,))


def after(s: Egc, seat: Seat, orders: Sequence[Filed]) -> Copy:
    """Return the copy after another sheet; sea control is recomputed if ports are touched (EGC-6.3)."""
    sheet = s.sheets[seat]
    touched = any(_touches_ports(o) for o in (*orders, *sheet.orders))
    return carry_out(s, seat, orders, None if touched else sheet.controls)


def _touches_ports(filed: Filed) -> bool:
    return isinstance(filed.move, Build | Demolish) and filed.move.infrastructure == "port"


def _controls(s: Egc, seat: Seat, c: Copy) -> Maybe[Sequence[str]]:
    return UNSET if c.controls == s.sheets[seat].controls else c.controls


def check_sheet(c: Copy, new: int) -> None:
    """EGC-7.0.6: `new` is the number of the filed order, 0 after a cancellation."""
    if new in c.faults:
        raise c.faults[new]
    check_funds(c)
    if c.points < 0:
        raise RuleError("insufficient_diplomacy_points", "EGC-7.0.5", {"missing": -c.points})
    if c.faults:
        raise RuleError("order_has_dependents", "EGC-7.0.3", {"orders": sorted(c.faults)})


def check_funds(c: Copy) -> None:
    """EGC-7.0.5."""
    if c.funds < 0:
        raise RuleError("insufficient_funds", "EGC-7.0.5", {"missing": -c.funds})
